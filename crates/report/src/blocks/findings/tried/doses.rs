//! A cause that was scaled: its doses in order, each with a bar as long as what was measured.

use super::{Group, INDENT, Row, Widths, line, problem};
use crate::bar::{LEAST_BAR, bar};
use crate::style::Style;

/// The first row: what was measured without any.
const WITHOUT: &str = "without";

/// Doses in their order, each with a bar as long as what was measured, the sham's first.
pub(super) fn doses(group: &Group, style: Style) -> String {
    let widths = Widths::of(&group.rows);
    let scale = Scale::of(&group.rows, &widths, style);
    let sham = group.rows.iter().find(|row| row.has_result() && !row.before.is_empty());
    let mut text = sham.map(|row| scale.line(WITHOUT, &row.before, "", row.tried.before)).unwrap_or_default();
    let Widths { ratio, interval, .. } = widths;
    for row in &group.rows {
        let figures = format!("{:>ratio$} {:<interval$}  {}", row.ratio, row.interval, row.word);
        let drawn = scale.line(&row.name, &row.after, &figures, row.tried.after);
        let fits = drawn.trim_end().chars().count() <= style.columns() + scale.paint;
        if row.has_result() && fits {
            text += &drawn;
            text += &problem(row, style);
        } else {
            text += &line(row, &widths, style);
        }
    }
    text
}

/// How doses are drawn.
struct Scale {
    name: usize,
    figure: usize,
    gap: usize,
    room: usize,
    most: f64,
    style: Style,
    /// Letters of a line that are not seen: those that colour its bar.
    paint: usize,
}

impl Scale {
    fn of(rows: &[Row], widths: &Widths, style: Style) -> Scale {
        let (name, figure) = (widths.name.max(WITHOUT.len()), widths.before.max(widths.after));
        let word = rows.iter().map(|row| row.word.len()).max().unwrap_or(0);
        let gap = widths.ratio + 1 + widths.interval + 2 + word;
        let room = style.columns().saturating_sub(INDENT.len() + name + 2 + figure + 2 + gap + 2);
        let room = if room < LEAST_BAR { 0 } else { room };
        let applied = rows.iter().filter(|row| row.has_result());
        let most = applied.flat_map(|row| [row.tried.before, row.tried.after]).fold(0.0, f64::max);
        let paint = style.warm("#").chars().count() - 1;
        Scale { name, figure, gap, room, most, style, paint }
    }

    fn line(&self, name: &str, figure: &str, ratio: &str, value: f64) -> String {
        let Scale { name: names, figure: figures, gap, .. } = *self;
        let share = if self.most > 0.0 { value / self.most } else { 0.0 };
        let bar = bar("#", share, self.room, self.style);
        let text = format!("{INDENT}{name:<names$}  {figure:>figures$}  {ratio:gap$}  {bar}");
        format!("{}\n", text.trim_end())
    }
}
