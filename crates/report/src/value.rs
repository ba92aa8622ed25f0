//! How the values of a sweep are named, and which of its points count.

use crate::figure::three;
use crate::text::{clean, shorten};
use case::{Finding, Point, Regime, Status, Sweep, ValueKind};

/// A longer name of a value or of what was varied is cut.
const NAME_COLUMNS: usize = 40;

/// What was varied, as it is called.
pub(crate) fn heading(sweep: &Sweep) -> String {
    let name = shorten(&clean(&sweep.parameter), NAME_COLUMNS);
    if name.is_empty() { "value".into() } else { name }
}

/// A value as it was put into the command; one that was not tried as a number. Never rounded: a cliff is at a byte.
pub(crate) fn label(sweep: &Sweep, value: f64) -> String {
    let is_it = |point: &&Point| (point.value - value).abs() <= value.abs() * 1e-9;
    match sweep.points.iter().find(is_it) {
        Some(point) => name(point),
        None if sweep.kind() == ValueKind::Rate => rate(value),
        None if value.fract() == 0.0 && value.abs() < 1e15 => format!("{value:.0}"),
        None => three(value),
    }
}

fn rate(bits: f64) -> String {
    let (factor, unit) = [(1e9, "gbit"), (1e6, "mbit"), (1e3, "kbit")]
        .into_iter()
        .find(|(factor, _)| bits >= *factor)
        .unwrap_or((1.0, "bit"));
    format!("{}{unit}", three(bits / factor))
}

/// A point's value as it was put into the command.
pub(crate) fn name(point: &Point) -> String {
    shorten(&clean(&point.label), NAME_COLUMNS)
}

/// The points that have a figure.
pub(crate) fn sound(sweep: &Sweep) -> impl Iterator<Item = &Point> {
    sweep.points.iter().filter(|point| is_sound(point))
}

/// Whether a point has a figure.
pub(crate) fn is_sound(point: &Point) -> bool {
    point.trials > 0 && point.measured.is_finite() && point.measured > 0.0
}

/// What a stretch was found to suffer from, refuted suspicions aside.
pub(crate) fn standing(regime: &Regime) -> impl Iterator<Item = &Finding> {
    regime.findings.iter().filter(|finding| finding.status != Status::Refuted)
}

/// Whether the values are names and no numbers: then no curve leads from one to the next.
pub(crate) fn is_categorical(sweep: &Sweep) -> bool {
    sweep.kind() == ValueKind::Word
}

/// Whether a cliff lies between two neighbours.
pub(crate) fn has_cliff(sweep: &Sweep, before: &Point, after: &Point) -> bool {
    sweep.cliffs.iter().any(|cliff| before.value <= cliff.below && cliff.above <= after.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_never_rounded() {
        assert_eq!(label(&Sweep::default(), 1_418.0), "1418");
        assert_eq!(label(&Sweep::default(), 0.25), "0.250");
    }

    #[test]
    fn a_rate_between_those_that_were_tried_has_a_unit() {
        let point = |value: f64, label: &str| Point { value, label: label.into(), ..Point::default() };
        let points = vec![point(1e8, "100mbit"), point(2e8, "200mbit")];
        let sweep = Sweep { points, value_kind: Some(ValueKind::Rate), ..Sweep::default() };
        assert_eq!(label(&sweep, 147e6), "147mbit");
    }
}
