//! Parts as Markdown. Everything is escaped here.

use super::{Part, Table};
use crate::escape::{cell, code, escape};
use crate::grid::{Align, Row};
use crate::text::count;

/// Parts below one another, a blank line between them.
pub(crate) fn of(parts: &[Part]) -> String {
    let parts = parts.iter().filter(|part| !part.is_empty()).map(one);
    parts.collect::<Vec<_>>().join("\n")
}

fn one(part: &Part) -> String {
    match part {
        Part::Heading(heading) => format!("### {}\n", escape(heading)),
        Part::Paragraph(sentences) => format!("{}\n", escape(sentences)),
        Part::Labelled(label, sentences) => format!("**{label}:** {}\n", cell(sentences)),
        Part::List(items) => items.iter().map(|item| format!("- {}\n", escape(item))).collect(),
        Part::Command(command) => code::block(command),
        Part::Table(table) => self::table(table),
    }
}

/// A table; what else is said of a row stands in a last column, where any row has it.
pub(crate) fn table(table: &Table) -> String {
    let has_notes = table.rows.iter().any(|row| !row.note.is_empty());
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let note = |text: &str| has_notes.then(|| text.to_string());
    let titles = table.columns.iter().map(|column| cell(&column.title)).chain(note("Note")).collect();
    let rules = table.columns.iter().map(|column| if column.align == Align::Left { "---" } else { "---:" });
    let rules = rules.map(ToString::to_string).chain(note("---")).collect();
    let width = table.columns.len().saturating_sub(1);
    let row = |row: &Row| {
        let cells = (0..width).map(|place| row.cells.get(place).map_or("", String::as_str));
        let cells = [row.name.trim()].into_iter().chain(cells).map(cell);
        line(cells.chain(note("").map(|_| cell(&row.note))).collect())
    };
    let text = line(titles) + &line(rules) + &table.rows.iter().take(table.most).map(row).collect::<String>();
    match table.rows.len().saturating_sub(table.most) {
        0 => text,
        more => text + &format!("\nand {} more\n", count(more as u64)),
    }
}
