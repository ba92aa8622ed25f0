//! Rows of figures under one another: a name, columns of figures, perhaps a bar, and what else is to be said below a
//! row. No line is wider than the text: a name that leaves no room for its figures has a line of its own.

use crate::bar::{LEAST_BAR, bar};
use crate::style::Style;
use crate::text::{clean, shorten, wrap};

/// Blanks between columns.
const GAP: &str = "  ";
/// Bars get this much room, where names can be given a line of their own instead.
const BAR_COLUMNS: usize = 12;
/// Names get this much room before bars get any.
const NAME_COLUMNS: usize = 24;

/// Where a column's text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// At its left edge: words.
    Left,
    /// At its right edge: figures.
    Right,
}

/// One row. All of it is on one line, but for the note, which is wrapped; [`grid`] takes rows that are clean.
#[derive(Default)]
pub(crate) struct Row {
    /// What it is about.
    pub name: String,
    /// Its figures, one a column; fewer leave the rest empty.
    pub cells: Vec<String>,
    /// Its bar: the letter it is made of, and its share of the longest.
    pub bar: Option<(&'static str, f64)>,
    /// What else there is to say, below it.
    pub note: String,
    /// Its look on the page; empty for none.
    pub class: &'static str,
}

impl Row {
    /// A row of a name and figures.
    pub(crate) fn new(name: impl Into<String>, cells: impl IntoIterator<Item = impl Into<String>>) -> Row {
        Row { name: name.into(), cells: cells.into_iter().map(Into::into).collect(), ..Row::default() }
    }

    /// The row with a bar of `letter` that fills `share` of the room.
    pub(crate) fn with_bar(self, letter: &'static str, share: f64) -> Row {
        Row { bar: Some((letter, share)), ..self }
    }

    /// The row with what else there is to say.
    pub(crate) fn with_note(self, note: impl Into<String>) -> Row {
        Row { note: note.into(), ..self }
    }

    /// The same row, safe for a terminal.
    pub(crate) fn cleaned(&self) -> Row {
        Row {
            name: clean(&self.name),
            cells: self.cells.iter().map(|cell| clean(cell)).collect(),
            note: clean(&self.note),
            ..*self
        }
    }
}

/// The rows as text, each after `indent`, the columns behind the name aligned as said.
pub(crate) fn grid(rows: &[Row], aligns: &[Align], indent: &str, style: Style) -> String {
    let widths = widths(rows, aligns);
    let figures = widths.iter().filter(|width| **width > 0).map(|width| width + GAP.len()).sum::<usize>();
    let taken = indent.len() + figures;
    let has_bars = rows.iter().any(|row| row.bar.is_some());
    let free = style.columns().saturating_sub(taken);
    let most = if has_bars { free.saturating_sub(BAR_COLUMNS + GAP.len()).max(free.min(NAME_COLUMNS)) } else { free };
    let fitting = rows.iter().map(|row| row.name.chars().count()).filter(|name| *name <= most);
    let name = fitting.max().unwrap_or(0);
    let bars = free.saturating_sub(name + GAP.len());
    let bars = if bars < LEAST_BAR { 0 } else { bars };
    rows.iter().map(|row| line(row, name, &figures_of(row, aligns, &widths), bars, indent, style)).collect()
}

fn widths(rows: &[Row], aligns: &[Align]) -> Vec<usize> {
    let cell = |row: &Row, column: usize| row.cells.get(column).map_or(0, |cell| cell.chars().count());
    (0..aligns.len()).map(|column| rows.iter().map(|row| cell(row, column)).max().unwrap_or(0)).collect()
}

/// The cells of a row, padded; a column that is empty in all rows takes no room.
fn figures_of(row: &Row, aligns: &[Align], widths: &[usize]) -> String {
    let mut text = String::new();
    for (column, (align, width)) in aligns.iter().zip(widths).enumerate().filter(|(_, (_, width))| **width > 0) {
        let cell = row.cells.get(column).map_or("", String::as_str);
        text += GAP;
        let blanks = " ".repeat(width - cell.chars().count().min(*width));
        let (before, after) = if *align == Align::Right { (blanks.as_str(), "") } else { ("", blanks.as_str()) };
        text.extend([before, cell, after]);
    }
    text
}

fn line(row: &Row, names: usize, figures: &str, bars: usize, indent: &str, style: Style) -> String {
    let drawn = row.bar.filter(|_| bars > 0).map(|(letter, share)| bar(letter, share, bars, style));
    let drawn = drawn.filter(|drawn| !drawn.is_empty()).map(|drawn| GAP.to_string() + &drawn).unwrap_or_default();
    let deeper = format!("{indent}  ");
    let has_room = row.name.chars().count() <= names;
    let mut text = String::new();
    if !has_room {
        text.extend([indent, &shorten(&row.name, style.columns().saturating_sub(indent.len())), "\n"]);
    }
    let name = if has_room { row.name.as_str() } else { "" };
    let is_heading = !has_room && figures.trim().is_empty() && drawn.is_empty();
    text += &if is_heading {
        String::new()
    } else if indent.len() + names + figures.chars().count() <= style.columns() {
        format!("{indent}{name:<names$}{figures}{drawn}").trim_end().to_string() + "\n"
    } else {
        // Figures that no column has room for are read one after another.
        wrap(figures, style.columns(), &deeper, &deeper)
    };
    if row.note.is_empty() { text } else { text + &wrap(&row.note, style.columns(), &deeper, &deeper) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Align::{Left, Right};

    #[test]
    fn figures_stand_under_one_another_and_long_names_above_them() {
        let rows = [
            Row::new("", ["A", "B"]),
            Row::new("short", ["1.00 ms", "x"]),
            Row { note: "but: it ended early".into(), ..Row::new("l".repeat(70), ["12.0 ms", "y"]) },
        ];
        let expected = format!(
            "         A        B\n  short  1.00 ms  x\n  {}\n         12.0 ms  y\n    but: it ended early\n",
            "l".repeat(70)
        );
        assert_eq!(grid(&rows, &[Left, Left], "  ", Style::default()), expected);
    }

    #[test]
    fn a_bar_has_its_letter_and_never_leaves_the_text() {
        let rows = [Row::new("more", ["2 ms"]).with_bar("+", 1.0), Row::new("less", ["1 ms"]).with_bar("-", 0.5)];
        let text = grid(&rows, &[Right], "  ", Style::default());
        let signs = |sign: &str| text.matches(sign).count();
        assert!(signs("+") > 40 && signs("-") > 20 && text.lines().all(|line| line.len() <= 80), "{text}");
    }

    #[test]
    fn a_heading_on_a_line_of_its_own_leaves_no_empty_line() {
        let rows = [Row::new("n".repeat(79), [""]), Row::new("a", ["1"])];
        assert_eq!(grid(&rows, &[Right], "", Style::default()), format!("{}\na  1\n", "n".repeat(79)));
    }

    #[test]
    fn a_column_that_is_empty_takes_no_room() {
        let rows = [Row::new("name", ["", "1"])];
        assert_eq!(grid(&rows, &[Left, Right], "", Style::default()), "name  1\n");
    }
}
