//! What a question in SQL selected: rows under the names of their columns.

use crate::grid::{Align, Row, grid};
use crate::style::Style;
use case::{Selected, SelectedCell};

/// Longer values would leave no room for others; `--json` has them whole.
const LONGEST: usize = 60;

/// The rows, a line each.
pub fn selected(selected: &Selected, style: Style) -> String {
    let head = row(selected.columns.iter().cloned());
    let rows = selected.rows.iter().map(|cells| row(cells.iter().map(words)));
    let rows: Vec<Row> = std::iter::once(head).chain(rows).map(|row| row.cleaned()).collect();
    let is_number = |column: usize| {
        let cells = || selected.rows.iter().filter_map(|cells| cells.get(column));
        !cells().any(|cell| matches!(cell, SelectedCell::Text(_)))
    };
    let align = |column| if is_number(column) { Align::Right } else { Align::Left };
    let aligns: Vec<Align> = (1..selected.columns.len()).map(align).collect();
    let count = selected.rows.len();
    let said = match (count, selected.cut) {
        (_, true) => format!("The first {count} rows; there are more.\n"),
        (1, _) => "1 row.\n".to_string(),
        _ => format!("{count} rows.\n"),
    };
    grid(&rows, &aligns, "", style) + "\n" + &said
}

fn row(mut cells: impl Iterator<Item = String>) -> Row {
    let name = cells.next().unwrap_or_default();
    Row::new(name, cells)
}

fn words(cell: &SelectedCell) -> String {
    match cell {
        SelectedCell::Nothing(()) => "-".to_string(),
        SelectedCell::Integer(number) => number.to_string(),
        SelectedCell::Real(number) => number.to_string(),
        SelectedCell::Text(text) => crate::text::shorten(text, LONGEST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_at_the_right_under_their_names_and_nothing_steers_a_terminal() {
        let text = |text: &str| SelectedCell::Text(text.into());
        let rows = vec![
            vec![text("Bot\u{1b}[31m"), SelectedCell::Integer(12), SelectedCell::Real(0.5)],
            vec![text("a"), SelectedCell::Integer(1_234), SelectedCell::Nothing(())],
        ];
        let columns = ["agent", "requests", "seconds"].map(String::from).to_vec();
        let all = Selected { schema: 1, columns, rows, cut: true };
        let shown = selected(&all, Style::default());
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[0].starts_with("agent") && lines[0].ends_with("  requests  seconds"), "{shown}");
        assert!(lines[1].ends_with("        12      0.5") && lines[2].ends_with("      1234        -"), "{shown}");
        assert_eq!(lines.last(), Some(&"The first 2 rows; there are more."));
    }
}
