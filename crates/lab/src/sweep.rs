//! Sweeping: one thing varied through many values, each measured by trials in turns, and what its curve shows: cliffs and
//! where they are, a knee, how it grows.
//!
//! All of it is pure over the closure that runs a trial. What time a trial took is read off its outcome.

mod bench;
mod cliffs;
mod measure;
mod number;
mod pilot;
mod place;
mod points;
mod rounds;
mod shape;
mod value;
mod values;

pub use place::place;
pub use value::Value;
pub use values::Vary;

use crate::error::LabError;
use crate::extent::Extent;
use crate::metric::Metric;
use crate::outcome::Outcome;
use case::tables::Trial;
use std::time::Duration;

/// Runs one trial at a value.
pub type At<'a> = dyn FnMut(&Value, &Extent) -> Result<Outcome, LabError> + 'a;

/// What sweeping takes, besides what is varied.
pub struct SweepTerms<'a> {
    /// Time for all trials.
    pub budget: Duration,
    /// What the order of values is drawn from.
    pub seed: u64,
    /// What is measured; none leaves it to what the first runs show.
    pub metric: Option<Metric>,
    /// How narrow a cliff is to be enclosed; none leaves it to the values.
    pub grain: Option<f64>,
    /// Shown what is being done.
    pub say: &'a dyn Fn(&str),
}

/// What came of a sweep.
#[derive(Clone, Debug)]
pub struct Swept {
    /// Points, cliffs, knee, growth, trials, time and warnings; what the commands were, and why it is so, is for the
    /// caller to fill in.
    pub sweep: case::Sweep,
    /// What was measured at each point.
    pub metric: Metric,
    /// The trials, in order; the arm is `name=value`.
    pub trials: Vec<Trial>,
}

/// Measures the values, narrows cliffs, and reads the curve.
///
/// # Errors
/// Where the program fails at every value: the error says how, with its last words. What the user ends before anything
/// was measured is [`LabError::Interrupted`]; later, what there is is returned with a warning.
pub fn sweep(vary: &Vary, execute: &mut At, terms: &SweepTerms) -> Result<Swept, LabError> {
    measure::run(vary, execute, terms)
}

#[cfg(test)]
mod tests;
