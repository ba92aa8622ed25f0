//! What was tried, and what for: the part of an experiment that is kept in the case beside its trials, so that the same
//! verdict can be drawn again.

use crate::extent::Extent;
use crate::metric::Metric;
use case::Purpose;
use serde::{Deserialize, Serialize};

/// The arm with nothing attached.
pub const PLAIN: &str = "plain";
/// The sham: the machinery of all others, inert.
pub const SHAM: &str = "nothing";

/// The file in a case that keeps an experiment.
pub const FILE: &str = "experiment.json";

/// An experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Each intervention tried for a finding.
    pub attempts: Vec<Attempt>,
    /// Interventions tried together, in the order tried.
    pub joints: Vec<Joint>,
    /// What was not tried, and why: one sentence each.
    pub not_tried: Vec<String>,
    /// How far each trial went; none where there was none.
    pub extent: Option<Extent>,
    /// Time allowed, in nanoseconds.
    pub budget_ns: u64,
    /// Time spent, in nanoseconds.
    pub spent_ns: u64,
    /// What became of the comparison of outputs: `same`, `different`, or why there was none.
    pub output: String,
}

/// One intervention, tried for one finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The finding's identifier.
    pub finding: String,
    /// The arm, as the trials name it.
    pub arm: String,
    /// The intervention.
    pub intervention: String,
    /// Its dose with its unit; empty for none.
    pub dose: String,
    /// What it was tried for.
    pub purpose: Purpose,
    /// What it is judged by.
    pub metric: Metric,
    /// The arm that it is compared with: the sham, or for the step of a ladder the step before.
    pub reference: String,
}

/// Several interventions, tried together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Joint {
    /// The arm, as the trials name it.
    pub arm: String,
    /// The interventions, the one added last at the end.
    pub interventions: Vec<String>,
    /// The arm of all but the last.
    pub before: String,
    /// What it is judged by.
    pub metric: Metric,
}
