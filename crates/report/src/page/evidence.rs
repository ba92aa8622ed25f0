//! Section: the rows behind each finding, as they lie in the case, and how to ask for them oneself.

use super::{Material, Told};
use crate::finding::head_word;
use crate::text::{clean, count, counted};
use askama::Template;
use case::exhibits::EvidenceExhibit;
use case::{Answer, Finding};

/// More rows than this are better looked at with the query.
const MOST_ROWS: usize = 40;

#[derive(Template)]
#[template(path = "page/evidence.html")]
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
pub(super) fn section(material: &Material) -> String {
    let Told::Answer(answer) = material.told else { return String::new() };
    let exhibits = material.sides.iter().flat_map(|side| &side.exhibits.evidence);
    let with_rows = exhibits.filter(|one| !one.rows.is_empty());
    let tables = with_rows.filter_map(|one| Some(rows(one, answer.findings.get(one.finding)?, answer)));
    let tables = tables.collect::<Vec<_>>();
    if tables.is_empty() {
        return String::new();
    }
    Evidence { tables }.render().unwrap_or_default()
}

fn rows(exhibit: &EvidenceExhibit, finding: &Finding, answer: &Answer) -> Rows {
    let shown = exhibit.rows.iter().take(MOST_ROWS);
    let shown = shown.map(|row| (count(row.row), row.cells.iter().map(|cell| clean(cell)).collect()));
    let left_out = exhibit.rows.len().saturating_sub(MOST_ROWS);
    Rows {
        number: exhibit.finding + 1,
        heading: format!("{}: {}", head_word(finding.status), clean(&finding.name)),
        title: clean(&finding.title),
        table: clean(&exhibit.table),
        columns: exhibit.columns.iter().map(|column| clean(column)).collect(),
        numbered: shown.collect(),
        left_out: if left_out == 0 { String::new() } else { format!("and {}", counted(left_out as u64, "more row")) },
        query: query(exhibit, answer),
    }
}

/// The same rows by duckdb, which reads the case's files in place and numbers rows from 0 as the case does.
fn query(exhibit: &EvidenceExhibit, answer: &Answer) -> String {
    let (folder, table) = match exhibit.table.rsplit_once('/') {
        Some((within, table)) => (format!("{}/{within}", answer.case), table),
        None => (answer.case.clone(), exhibit.table.as_str()),
    };
    // A quote within a string of SQL is written twice.
    let file = clean(&format!("{folder}/tables/{table}.parquet")).replace('\'', "''");
    let numbers = exhibit.rows.iter().take(MOST_ROWS).map(|row| row.row.to_string()).collect::<Vec<_>>().join(", ");
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
