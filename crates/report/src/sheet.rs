//! A sheet: a table with named columns. Without JavaScript its first rows are there and the rest can be unfolded; with
//! it, any column sorts, and a long sheet has a box to search in (`assets/sheets.js`).

use crate::figure::three;
use crate::text::{clean, count};
use askama::Template;
use case::{Bytes, Nanos};

/// Rows that are there at once; more can be unfolded.
const FIRST_ROWS: usize = 20;

/// A table.
#[derive(Template)]
#[template(path = "sheet.html")]
pub(super) struct Sheet {
    /// What the rows are, in the plural: `connections`; ours.
    pub of: &'static str,
    /// The columns, the first of which names the row.
    pub columns: Vec<Column>,
    /// The rows, each with a cell a column.
    pub rows: Vec<Vec<Cell>>,
}

/// A column.
pub(super) struct Column {
    /// Its heading.
    pub title: &'static str,
    /// What it means, where the heading does not say all; empty otherwise.
    pub meaning: &'static str,
    /// Whether its cells are figures, aligned at their ends.
    pub kind: Kind,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Words.
    Words,
    /// Figures.
    Figures,
}

/// A cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cell {
    /// What is written in it, harmless to those who read it.
    pub text: String,
    /// What it is sorted by, where that is not its text.
    pub value: Option<String>,
}

impl Column {
    /// A column of words.
    pub(super) fn words(title: &'static str) -> Column {
        Column { title, meaning: "", kind: Kind::Words }
    }

    /// A column of figures.
    pub(super) fn figures(title: &'static str) -> Column {
        Column { title, meaning: "", kind: Kind::Figures }
    }

    /// The column with its meaning.
    pub(super) fn meaning(self, meaning: &'static str) -> Column {
        Column { meaning, ..self }
    }

    /// Its cells' class.
    fn class(&self) -> &'static str {
        if self.kind == Kind::Figures { "figure" } else { "words" }
    }
}

impl Cell {
    /// Words from wherever.
    pub(super) fn words(text: &str) -> Cell {
        Cell { text: clean(text), value: None }
    }

    /// A count; none is left empty, so that what is there is seen.
    pub(super) fn count(number: u64) -> Cell {
        Cell { text: if number == 0 { String::new() } else { count(number) }, value: Some(number.to_string()) }
    }

    /// A number that need not be whole; empty where it is none.
    pub(super) fn number(number: f64) -> Cell {
        if !number.is_finite() {
            return Cell { text: String::new(), value: Some("-1".into()) };
        }
        let text = three(number);
        let is_bare = text.contains('.') && !text.contains('e');
        let text = if is_bare { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text };
        Cell { text, value: Some(number.to_string()) }
    }

    /// A length of time; none is left empty.
    pub(super) fn time(ns: u64) -> Cell {
        Cell { text: if ns == 0 { String::new() } else { Nanos(ns).to_string() }, value: Some(ns.to_string()) }
    }

    /// A number of bytes; none is left empty.
    pub(super) fn bytes(bytes: u64) -> Cell {
        Cell { text: if bytes == 0 { String::new() } else { Bytes(bytes).to_string() }, value: Some(bytes.to_string()) }
    }
}

impl Sheet {
    /// The sheet without columns that are empty in all rows; the first stays.
    pub(super) fn without_empty_columns(mut self) -> Sheet {
        let is_empty = |cell: &Cell| cell.text.is_empty();
        for column in (1..self.columns.len()).rev() {
            if self.rows.iter().all(|row| row.get(column).is_none_or(is_empty)) {
                self.columns.remove(column);
                self.rows.iter_mut().filter(|row| row.len() > column).for_each(|row| {
                    row.remove(column);
                });
            }
        }
        self
    }

    /// The sheet as HTML.
    pub(super) fn html(&self) -> String {
        self.render().unwrap_or_default()
    }

    /// Rows that are there at once. A few more are no reason to hide them.
    fn first(&self) -> &[Vec<Cell>] {
        let few = self.rows.len() <= FIRST_ROWS + 3;
        &self.rows[..if few { self.rows.len() } else { FIRST_ROWS }]
    }

    /// Rows that can be unfolded.
    fn rest(&self) -> &[Vec<Cell>] {
        &self.rows[self.first().len()..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(rows: usize) -> Sheet {
        let row = |index: usize| vec![Cell::words(&format!("<b>row{index}</b>")), Cell::words(""), Cell::time(1_500)];
        let columns = vec![Column::words("Name"), Column::words("Empty"), Column::figures("Time")];
        Sheet { of: "rows", columns, rows: (0..rows).map(row).collect() }
    }

    #[test]
    fn every_row_is_there_and_those_after_the_first_are_folded() {
        let html = sheet(50).html();
        let (before, folded) = html.split_once("<details").expect("details");
        assert!(before.contains("row19&") && !before.contains("row20&"), "{html}");
        assert!(folded.contains("row20&") && folded.contains("row49&") && folded.contains("30 more rows"), "{html}");
        assert!(!sheet(23).html().contains("<details"));
    }

    #[test]
    fn cells_are_escaped_and_carry_what_they_are_sorted_by() {
        let html = sheet(1).html();
        assert!(html.contains("row0") && !html.contains("<b>"), "{html}");
        assert!(html.contains(r#"data-value="1500""#) && html.contains("1.50 us"), "{html}");
    }

    #[test]
    fn a_column_without_anything_in_it_is_left_out() {
        let html = sheet(2).without_empty_columns().html();
        assert!(!html.contains("Empty") && html.contains("Name") && html.contains("Time"), "{html}");
    }

    #[test]
    fn what_is_no_number_leaves_its_cell_empty() {
        assert_eq!(Cell::number(f64::NAN).text, "");
        assert_eq!(Cell::number(9.2).text, "9.2");
        assert_eq!(Cell::number(100.0).text, "100");
    }
}
