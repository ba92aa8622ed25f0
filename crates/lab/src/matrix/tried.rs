//! What the trials say of an intervention on a version.

use super::factorial::Factorial;
use super::figures::{figures, ratios};
use super::measure::Measured;
use crate::metric::Metric;
use case::TriedOn;

/// An intervention (by its place, and as it was asked for) on a version: whether it took effect, what it gains, what
/// remains.
pub fn tried(
    measured: &Measured,
    metrics: &[Metric],
    design: Factorial,
    (version, attempt): (usize, usize),
    asked: &str,
) -> TriedOn {
    let (runs, arm) = (&measured.runs, design.with(version, attempt));
    let trials = measured.places.iter().zip(&measured.trials).filter(|(place, _)| **place == arm);
    let trials = trials.map(|(_, trial)| trial).collect::<Vec<_>>();
    let failed = trials.iter().filter(|trial| !trial.problem.is_empty()).collect::<Vec<_>>();
    let why = failed.first().map(|trial| trial.problem.clone()).unwrap_or_default();
    let changes = trials.iter().filter(|trial| trial.applied).map(|trial| trial.changes as f64).collect::<Vec<_>>();
    let mut tried = TriedOn {
        intervention: asked.to_string(),
        applied: !changes.is_empty(),
        problem: match (failed.len(), trials.len()) {
            (0, _) => String::new(),
            (failed, all) if failed == all => why,
            (failed, all) => format!("{failed} of {all} runs do not count: {why}"),
        },
        ..TriedOn::default()
    };
    if tried.applied {
        let contrasts = design.contrasts().len();
        tried.changes = stats::median(&changes).round() as u64;
        tried.figures = figures(runs, metrics, arm);
        tried.gain = ratios(runs, metrics, design.gain(version, attempt), contrasts);
        let remains = design.remains(version, attempt);
        tried.remains = remains.map(|one| ratios(runs, metrics, one, contrasts)).unwrap_or_default();
    }
    tried
}

#[cfg(test)]
mod tests;
