//! Parts as text for a terminal.

use super::{Part, Table};
use crate::grid::{Row, grid};
use crate::style::Style;
use crate::text::{clean, count, wrap};

/// Parts below one another; a blank line stands before a heading that is not the first part.
pub(crate) fn of(parts: &[Part], style: Style) -> String {
    let mut text = String::new();
    for part in parts.iter().filter(|part| !part.is_empty()) {
        if matches!(part, Part::Heading(_)) && !text.is_empty() {
            text.push('\n');
        }
        text += &one(part, style);
    }
    text
}

fn one(part: &Part, style: Style) -> String {
    let columns = style.columns();
    match part {
        Part::Heading(heading) => wrap(&format!("{}:", clean(heading)), columns, "", "  "),
        Part::Paragraph(sentences) => wrap(&clean(sentences), columns, "", ""),
        Part::Labelled(label, sentences) => wrap(&clean(sentences), columns, &format!("{label}: "), "  "),
        Part::List(items) => items.iter().map(|item| wrap(&clean(item), columns, "  - ", "    ")).collect(),
        Part::Command(command) => command.lines().map(|line| format!("  {}\n", clean(line))).collect(),
        Part::Table(table) => self::table(table, style),
    }
}

/// A table as a grid; rows that find no place are counted.
pub(crate) fn table(table: &Table, style: Style) -> String {
    let mut titles = table.columns.iter().map(|column| clean(&column.title));
    let first = titles.next().unwrap_or_default();
    let titles = titles.collect::<Vec<_>>();
    let is_headed = !first.is_empty() || titles.iter().any(|title| !title.is_empty());
    let mut rows = if is_headed { vec![Row::new(first, titles)] } else { Vec::new() };
    rows.extend(table.rows.iter().take(table.most).map(Row::cleaned));
    let aligns = table.columns.iter().skip(1).map(|column| column.align).collect::<Vec<_>>();
    let text = grid(&rows, &aligns, "  ", style);
    match table.rows.len().saturating_sub(table.most) {
        0 => text,
        more => text + &format!("  and {} more\n", count(more as u64)),
    }
}
