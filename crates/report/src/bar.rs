//! A bar of letters, as long as its share of the room. Every bar of the text is drawn here.

use crate::style::Style;

/// A shorter room shows no difference, and is left empty.
pub(crate) const LEAST_BAR: usize = 6;

/// A bar of `letter` that fills `share` (0 to 1) of `columns`.
pub(crate) fn bar(letter: &str, share: f64, columns: usize, style: Style) -> String {
    let filled = (share * columns as f64).round() as usize;
    style.warm(&letter.repeat(filled.min(columns)))
}
