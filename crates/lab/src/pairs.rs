//! Two arms side by side: the trials of the same round, as pairs.

use crate::metric::Metric;
use case::tables::Trial;
use stats::{Decision, Looks, Ratio};

/// The least ratio that is worth a change: a twentieth, as it is for findings.
pub const WORTH: f64 = 1.05;

/// The metric in both arms, round by round: where both have a sound trial.
pub fn pairs(trials: &[Trial], metric: &Metric, before: &str, after: &str) -> Vec<(f64, f64)> {
    let of = |arm: &str, round: u32| {
        let found = trials.iter().find(|trial| trial.arm == arm && trial.round == round)?;
        if found.applied && found.problem.is_empty() { metric.of(found) } else { None }
    };
    let rounds = trials.iter().map(|trial| trial.round).max().map_or(0, |last| last + 1);
    (0..rounds).filter_map(|round| Some((of(before, round)?, of(after, round)?))).collect()
}

/// What the pairs say at a planned look, with more of them to come.
pub fn decide(looks: &Looks, pairs: &[(f64, f64)]) -> Decision {
    looks.decide(pairs, WORTH)
}

/// The ratio with its interval, when no more pairs are to come.
pub fn ratio(looks: &Looks, pairs: &[(f64, f64)]) -> Option<Ratio> {
    looks.at_end(pairs)
}

/// The middle of one side of the pairs.
pub fn middle(values: impl Iterator<Item = f64>) -> f64 {
    let values = values.collect::<Vec<_>>();
    if values.is_empty() { 0.0 } else { stats::median(&values) }
}
