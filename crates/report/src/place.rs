//! The axis from bad to good: where on it a probe lies, as letters and as a figure of the metric.

use crate::figure::single;
use case::{Bisection, Probe};

/// Letters between both ends.
const COLUMNS: usize = 25;

/// The figure of the metric that decides at a place from bad (0) to good (1); none where that is unknown.
pub(crate) fn figure_at(bisection: &Bisection, place: Option<f64>) -> Option<String> {
    let first = bisection.baseline.first()?;
    let value = first.b * (first.a / first.b).powf(place?);
    (value.is_finite() && value > 0.0).then(|| single(&first.metric, value))
}

/// A probe's place with its interval: `0.97 (0.93 to 1.01)`; empty where there is none.
pub(crate) fn place(probe: &Probe) -> String {
    let Some(place) = finite(probe.place) else { return String::new() };
    match (finite(probe.low), finite(probe.high)) {
        (Some(low), Some(high)) => format!("{} ({} to {})", two(place), two(low), two(high)),
        _ => two(place),
    }
}

/// Two decimals: more would tell the runs' noise.
pub(crate) fn two(place: f64) -> String {
    let text = format!("{place:.2}");
    if text == "-0.00" { "0.00".into() } else { text }
}

/// A place that is a number.
pub(crate) fn finite(place: Option<f64>) -> Option<f64> {
    place.filter(|place| place.is_finite())
}

/// A probe between bad, left, and good, right: `|          --o--     |`. What lies beyond an end is drawn at it, as an
/// arrow; without a place the axis is dotted.
pub(crate) fn drawn(probe: &Probe) -> String {
    let Some(place) = finite(probe.place) else { return format!("|{}|", ".".repeat(COLUMNS)) };
    let column = |place: f64| (place.clamp(0.0, 1.0) * (COLUMNS - 1) as f64).round() as usize;
    let mut letters = vec![' '; COLUMNS];
    let (low, high) = (finite(probe.low).unwrap_or(place), finite(probe.high).unwrap_or(place));
    for letter in &mut letters[column(low)..=column(high).max(column(low))] {
        *letter = '-';
    }
    letters[column(place)] = if place > 1.1 {
        '>'
    } else if place < -0.1 {
        '<'
    } else {
        'o'
    };
    format!("|{}|", letters.into_iter().collect::<String>())
}
