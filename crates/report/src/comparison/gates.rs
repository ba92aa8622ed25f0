//! The gates of `--fail-if`: one line each, alone on it however long, so that a CI job can search for it.

use crate::figure::three;
use crate::text::clean;
use case::{Comparison, Gate, GateState};

/// One line a gate; empty where there are none.
pub(super) fn gates(comparison: &Comparison) -> String {
    comparison.gates.iter().map(|gate| line(gate) + "\n").collect()
}

pub(crate) fn line(gate: &Gate) -> String {
    let condition = clean(&gate.condition);
    let word = match gate.state {
        GateState::Failed => "FAILED",
        GateState::Passed => "passed",
        GateState::Open => "open",
    };
    // What the user called it; a condition that names nothing falls back on the metric.
    let typed = condition.rfind(['<', '>']).map_or("", |sign| condition[..sign].trim());
    let what = if typed.is_empty() { clean(&gate.metric) } else { typed.to_string() };
    if !(gate.ratio.is_finite() && gate.ratio > 0.0) {
        return format!("fail-if {condition}: {word}, {what} was not measured");
    }
    let [ratio, low, high] = [gate.ratio, gate.low, gate.high].map(|value| beside(value, gate.limit));
    let why = if gate.state == GateState::Open { ": the limit is within the interval" } else { "" };
    format!("fail-if {condition}: {word}, {what} is {ratio}x ({low} to {high}){why}")
}

/// A ratio with as many digits as it takes to see on which side of the limit it lies.
fn beside(value: f64, limit: f64) -> String {
    let is_beside = three(value) == three(limit) && (value - limit).abs() > f64::EPSILON;
    if is_beside { format!("{value:.4}") } else { three(value) }
}
