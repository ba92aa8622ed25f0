//! The trials of an experiment as dots: each trial by itself beside its arm's interval.

use crate::facts::Metric;
use serde::{Deserialize, Serialize};

/// The trials of one arm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ArmDots {
    /// The arm: the names of its interventions, `nothing` for the sham, `plain`, `A` or `B`.
    pub arm: String,
    /// What was measured.
    pub metric: Metric,
    /// One dot a trial, in the order in which they were run.
    pub dots: Vec<Dot>,
}

/// One trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Dot {
    /// Its round.
    pub round: u32,
    /// What was measured, in the metric's unit.
    pub value: f64,
    /// Whether it counts; one in which something went wrong does not.
    pub counts: bool,
}
