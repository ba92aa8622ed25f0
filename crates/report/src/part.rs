//! What most blocks are made of: headings, sentences, lists, commands and tables, described once and rendered as text,
//! as HTML and as Markdown. Strings in a description are as they came: each renderer makes them harmless in its own way.

pub(crate) mod html;
pub(crate) mod markdown;
pub(crate) mod text;

use crate::grid::{Align, Row};

/// One part of a block.
pub(crate) enum Part {
    /// A heading over what follows.
    Heading(String),
    /// Sentences.
    Paragraph(String),
    /// Sentences after a label: `Trials: 12 runs`.
    Labelled(&'static str, String),
    /// Sentences, one below the other.
    List(Vec<String>),
    /// A command to copy, or a few lines of a file that belong together.
    Command(String),
    /// Rows under column heads.
    Table(Table),
}

/// A table. The first column names the rows.
pub(crate) struct Table {
    /// The column heads, the first column's included.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Row>,
    /// Rows after this many are folded away on the page and counted elsewhere.
    pub most: usize,
    /// What the names of the rows are set in.
    pub names: Names,
}

/// The head of a column.
pub(crate) struct Column {
    /// What stands over it.
    pub title: String,
    /// Where its cells stand.
    pub align: Align,
}

/// What rows are named by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    /// Words.
    Words,
    /// Functions, libraries, calls.
    Code,
}

impl Table {
    /// A table whose first column is headed `first` and holds words, the others figures.
    pub(crate) fn of<'a>(first: &str, columns: impl IntoIterator<Item = &'a str>, rows: Vec<Row>) -> Table {
        let figures = columns.into_iter().map(|title| Column { title: title.into(), align: Align::Right });
        let columns = [Column { title: first.into(), align: Align::Left }].into_iter().chain(figures).collect();
        Table { columns, rows, most: usize::MAX, names: Names::Words }
    }

    /// The same with a column of words in place of one of figures, counted from 0, the first column's included.
    pub(crate) fn words(mut self, column: usize) -> Table {
        if let Some(column) = self.columns.get_mut(column) {
            column.align = Align::Left;
        }
        self
    }

    /// The same with rows that are named by code.
    pub(crate) fn code(self) -> Table {
        Table { names: Names::Code, ..self }
    }

    /// The same with rows after `most` folded away.
    pub(crate) fn most(self, most: usize) -> Table {
        Table { most, ..self }
    }
}

/// A heading with what stands under it; nothing where that is empty.
pub(crate) fn under(heading: impl Into<String>, parts: impl IntoIterator<Item = Part>) -> Vec<Part> {
    let parts = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
    if parts.is_empty() {
        return parts;
    }
    [Part::Heading(heading.into())].into_iter().chain(parts).collect()
}

impl Part {
    /// Whether there is nothing in it to show.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Part::Heading(text) | Part::Paragraph(text) | Part::Labelled(_, text) | Part::Command(text) => {
                text.is_empty()
            }
            Part::List(items) => items.is_empty(),
            Part::Table(table) => table.rows.is_empty(),
        }
    }
}
