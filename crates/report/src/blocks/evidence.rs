//! the rows behind each finding, as they lie in the case, and how to ask for them oneself.

use crate::block::{Block, Section};
use crate::blocks::findings::head_word;
use crate::command::typed;
use crate::document::{Body, Document};
use crate::text::{clean, count, counted};
use askama::Template;
use case::views::{EvidenceRow, EvidenceView};
use case::{Answer, Finding};

pub(crate) const BLOCK: Block = Block::drawn(Section::Evidence, html);

/// More rows than this are better looked at with the query.
const MOST_ROWS: usize = 40;

#[derive(Template)]
#[template(path = "blocks/evidence.html")]
struct Evidence {
    tables: Vec<Rows>,
}

/// The rows behind one finding.
struct Rows {
    /// The finding's place in the answer, counted from 1.
    number: usize,
    /// The status and the name.
    heading: String,
    /// What is wrong.
    title: String,
    /// Where the rows were recorded, where that is another recording; empty otherwise.
    elsewhere: String,
    /// The table's name.
    table: String,
    /// The columns' names.
    columns: Vec<String>,
    /// The rows: number and cells.
    numbered: Vec<(String, Vec<String>)>,
    /// How many rows are left out; empty for none.
    left_out: String,
    /// A command that shows the same rows.
    query: String,
}

/// The section's HTML; empty where no finding has rows.
fn html(document: &Document) -> String {
    let Body::Answer(answer) = document.body else { return String::new() };
    let views = document.sides.iter().flat_map(|side| &side.views.evidence);
    let with_rows = views.filter(|one| !one.rows.is_empty()).collect::<Vec<_>>();
    let tables = answer.findings.iter().enumerate().filter_map(|(index, finding)| {
        let own = with_rows.iter().find(|one| one.finding == index);
        let view = own.map(|one| (*one).clone()).or_else(|| elsewhere(index, finding))?;
        Some(rows(&view, finding, answer))
    });
    let tables = tables.collect::<Vec<_>>();
    if tables.is_empty() {
        return String::new();
    }
    Evidence { tables }.render().unwrap_or_default()
}

/// The rows of a finding that a second look made, in a recording of its own: their numbers only.
fn elsewhere(index: usize, finding: &Finding) -> Option<EvidenceView> {
    let evidence = &finding.evidence;
    let rows = evidence.rows.iter().map(|row| EvidenceRow { row: *row, cells: Vec::new() }).collect::<Vec<_>>();
    let is_elsewhere = evidence.table.contains('/') && !rows.is_empty();
    is_elsewhere.then(|| EvidenceView { finding: index, table: evidence.table.clone(), columns: Vec::new(), rows })
}

fn rows(view: &EvidenceView, finding: &Finding, answer: &Answer) -> Rows {
    let shown = view.rows.iter().take(MOST_ROWS);
    let shown = shown.map(|row| (count(row.row), row.cells.iter().map(|cell| clean(cell)).collect()));
    let left_out = view.rows.len().saturating_sub(MOST_ROWS);
    Rows {
        number: view.finding + 1,
        heading: format!("{}: {}", head_word(finding), clean(&finding.name)),
        title: clean(&finding.title),
        elsewhere: elsewhere_in_words(view, answer),
        table: clean(&view.table),
        columns: view.columns.iter().map(|column| clean(column)).collect(),
        numbered: shown.collect(),
        left_out: if left_out == 0 { String::new() } else { format!("and {}", counted(left_out as u64, "more row")) },
        query: query(view, answer),
    }
}

/// Where rows lie whose cells are not with this recording, and how to see that one.
fn elsewhere_in_words(view: &EvidenceView, answer: &Answer) -> String {
    let Some((within, table)) = view.table.rsplit_once('/').filter(|_| view.columns.is_empty()) else {
        return String::new();
    };
    let numbers = view.rows.iter().take(MOST_ROWS).map(|row| count(row.row)).collect::<Vec<_>>().join("; ");
    let folder = typed(&[format!("{}/{within}", answer.case)]);
    format!(
        "Seen when the program was recorded a second time, with an earlier cause switched off ({}): table {}, rows \
         {numbers}. That recording by itself: whyslow report {folder}",
        clean(within),
        clean(table)
    )
}

/// The same rows by duckdb, which reads the case's files in place and numbers rows from 0 as the case does.
fn query(view: &EvidenceView, answer: &Answer) -> String {
    let (folder, table) = match view.table.rsplit_once('/') {
        Some((within, table)) => (format!("{}/{within}", answer.case), table),
        None => (answer.case.clone(), view.table.as_str()),
    };
    // A quote within a string of SQL is written twice.
    let file = clean(&format!("{folder}/tables/{table}.parquet")).replace('\'', "''");
    let numbers = view.rows.iter().take(MOST_ROWS).map(|row| row.row.to_string()).collect::<Vec<_>>().join(", ");
    let select =
        format!("select * from read_parquet('{file}', file_row_number = true) where file_row_number in ({numbers})");
    format!("duckdb -c {}", quoted(&select))
}

/// As one word of a shell: in double quotes, since SQL has single ones within, unless something in it acts there.
fn quoted(text: &str) -> String {
    if text.contains(['"', '\\', '$', '`', '!']) {
        return format!("'{}'", text.replace('\'', r"'\''"));
    }
    format!("\"{text}\"")
}

#[cfg(test)]
mod tests;
