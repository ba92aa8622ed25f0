//! What every drawn chart has in common: its size, its marks, and numbers as an attribute can hold them.

mod plot;

pub(super) use plot::{Figure, Plot, Shape};

use crate::figure::single;
use crate::scale::Scale;
use case::Metric;
use std::fmt;

/// A coordinate or a length in a drawing: one decimal, and never what an attribute cannot hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Px(pub f64);

impl fmt::Display for Px {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = if self.0.is_finite() { self.0.clamp(-1e5, 1e5) } else { 0.0 };
        write!(out, "{value:.1}")
    }
}

/// A chart is drawn twice, since its text cannot shrink with the window: style shows the one that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    /// For a screen of a desk.
    Wide,
    /// For a telephone.
    Narrow,
}

impl Size {
    /// Both, the wide one first.
    pub(super) const BOTH: [Size; 2] = [Size::Wide, Size::Narrow];

    /// Its class.
    pub(super) fn class(self) -> &'static str {
        match self {
            Size::Wide => "wide",
            Size::Narrow => "narrow",
        }
    }

    /// How wide it is drawn.
    pub(super) fn width(self) -> f64 {
        match self {
            Size::Wide => 960.0,
            Size::Narrow => 360.0,
        }
    }

    /// How wide a letter is, nearly, at the size of text that charts have.
    pub(super) const LETTER: f64 = 7.2;
}

/// A mark of an axis.
pub(super) struct Mark {
    /// Where it is.
    pub at: Px,
    /// What is written at it.
    pub label: String,
}

/// The marks of a scale of a metric.
pub(super) fn marks(scale: &Scale, metric: &Metric, apart: f64) -> Vec<Mark> {
    let one = |value: f64| Mark { at: Px(scale.place(value)), label: tick(metric, value) };
    scale.marks(apart).into_iter().map(one).collect()
}

/// A level beside an axis, without digits that say nothing: `10 ms`.
pub(super) fn tick(metric: &Metric, level: f64) -> String {
    if level == 0.0 {
        return "0".into();
    }
    let text = single(metric, level);
    let (number, unit) = text.split_once(' ').map_or((text.as_str(), ""), |(number, unit)| (number, unit));
    let is_bare = number.contains('.') && !number.contains('e');
    let number = if is_bare { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    format!("{number} {unit}").trim_end().to_string()
}

/// Labels on rows above one another, so that none covers another: the row of each, in the order given. Each is its middle
/// and its width; what finds no place goes to the last row.
pub(super) fn rows(labels: &[(f64, f64)], most: usize) -> Vec<usize> {
    let mut taken: Vec<Vec<(f64, f64)>> = vec![Vec::new(); most.max(1)];
    let mut chosen = Vec::new();
    for (middle, width) in labels {
        let (start, end) = (middle - width / 2.0, middle + width / 2.0);
        let free = taken.iter().position(|row| row.iter().all(|(from, to)| end < *from || start > *to));
        let row = free.unwrap_or(taken.len() - 1);
        taken[row].push((start, end));
        chosen.push(row);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coordinate_is_always_a_number() {
        let shown = [1.25, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300].map(|value| Px(value).to_string());
        assert_eq!(shown, ["1.2", "0.0", "0.0", "0.0", "100000.0"]);
    }

    #[test]
    fn a_mark_has_no_digits_that_say_nothing() {
        assert_eq!(["10 ms", "2.5 s", "0"], [1e7, 2.5e9, 0.0].map(|level| tick(&Metric::Wall, level)));
    }

    #[test]
    fn labels_that_would_cover_each_other_stand_on_rows_of_their_own() {
        assert_eq!(rows(&[(100.0, 60.0), (120.0, 60.0), (300.0, 60.0), (110.0, 60.0)], 3), [0, 1, 0, 2]);
    }
}
