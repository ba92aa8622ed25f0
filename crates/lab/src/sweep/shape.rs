//! What a curve without cliffs shows: where it bends, and how it grows.

use crate::metric::Metric;
use case::{Growth, KneePoint};
use std::collections::BTreeMap;

/// This share of straight curves may show a knee.
const ALARMS: f64 = 0.05;
/// A knee is reported where the slope (of logarithms) changes by this much: a square root becomes proportional.
const LEAST_TURN: f64 = 0.4;

/// What was found.
#[derive(Default)]
pub(super) struct Shape {
    pub knee: Option<KneePoint>,
    pub growth: Option<Growth>,
}

/// The shape of measurements (value, reading).
pub(super) fn of(measured: &[(f64, f64)], metric: &Metric, seed: u64) -> Shape {
    // How a cost grows is asked of costs: a rate is shown, and its growth is the opposite.
    let sign = if metric.shown(2.0) < 2.0 { -1.0 } else { 1.0 };
    Shape { knee: knee(measured, sign, seed), growth: growth(measured, sign) }
}

fn growth(measured: &[(f64, f64)], sign: f64) -> Option<Growth> {
    let positive = measured.iter().copied().filter(|(at, _)| *at > 0.0).collect::<Vec<_>>();
    let found = stats::growth(&positive)?;
    let ends = [found.interval.low * sign, found.interval.high * sign];
    Some(Growth {
        exponent: found.exponent * sign,
        low: ends[0].min(ends[1]),
        high: ends[0].max(ends[1]),
        from: found.from,
        to: found.to,
        out_of_hand: found.is_out_of_hand(),
        chain: Vec::new(),
    })
}

fn knee(measured: &[(f64, f64)], sign: f64, seed: u64) -> Option<KneePoint> {
    let mut by_value: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (at, reading) in measured.iter().filter(|(at, _)| *at > 0.0) {
        by_value.entry(at.to_bits()).or_default().push(*reading);
    }
    let point = |(at, readings): (&u64, &Vec<f64>)| (f64::from_bits(*at), stats::median(readings));
    let curve = by_value.iter().map(point).collect::<Vec<_>>();
    let logs = curve.iter().map(|(at, reading)| (at.ln(), reading.ln())).collect::<Vec<_>>();
    let found = stats::knee(&logs, ALARMS, seed)?;
    let is_clear = (found.slope_above - found.slope_below).abs() >= LEAST_TURN;
    // Where a fixed cost gives way to one that grows, nothing is reached or used up.
    (is_clear && stats::is_sharp(&curve, &found)).then(|| KneePoint {
        at: found.at.exp(),
        low: found.interval.low.exp(),
        high: found.interval.high.exp(),
        before: found.slope_below * sign,
        after: found.slope_above * sign,
    })
}
