//! What was tried to prove a finding, and what came of it.

use super::Status;
use crate::facts::{Metric, NotTried, Sameness, Work};
use crate::stopped::Stopped;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an intervention did, with its 95 % interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Effect {
    /// Its name.
    pub intervention: String,
    /// The metric.
    pub metric: Metric,
    /// The metric without it.
    pub before: f64,
    /// The metric with it.
    pub after: f64,
    /// before / after; above 1 is a gain.
    pub ratio: f64,
    /// Lower end of the ratio's interval.
    pub low: f64,
    /// Upper end of the ratio's interval.
    pub high: f64,
    /// Trials run, both arms together.
    pub trials: u32,
    /// The same ratio for the sham: nothing attached / the machinery attached, inert.
    pub sham_ratio: f64,
    /// What the same trials say about other metrics, changed or not.
    #[serde(default)]
    pub also: Vec<Measured>,
}

/// The ratio before / after of one metric, with its 95 % interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// The metric.
    pub metric: Metric,
    /// before / after; above 1 is a gain.
    pub ratio: f64,
    /// Lower end of the ratio's interval.
    pub low: f64,
    /// Upper end of the ratio's interval.
    pub high: f64,
}

/// An intervention that was tried, whatever the result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tried {
    /// Its name.
    pub intervention: String,
    /// before / after.
    pub ratio: f64,
    /// Lower end of the ratio's interval.
    pub low: f64,
    /// Upper end of the ratio's interval.
    pub high: f64,
    /// Whether it took effect; one that did not reach the subject proves nothing.
    pub applied: bool,
    /// The result: confirmed (it removes the cost), refuted (it makes no difference that matters) or undecided.
    #[serde(default = "undecided")]
    pub status: Status,
    /// The metric.
    #[serde(default)]
    pub metric: Metric,
    /// Its purpose.
    #[serde(default)]
    pub purpose: Purpose,
    /// The dose, if it has one: `8 ms`, `1 certificate`; else empty.
    #[serde(default)]
    pub dose: String,
    /// The metric without it.
    #[serde(default)]
    pub before: f64,
    /// The metric with it.
    #[serde(default)]
    pub after: f64,
    /// Trials of it and of its sham.
    #[serde(default)]
    pub trials: u32,
    /// Why it did not take effect, or what it broke; empty if nothing went wrong.
    #[serde(default)]
    pub problem: String,
    /// Whether the program did the same work with it.
    #[serde(default)]
    pub work: Work,
    /// The arm that it is compared with, as the trials name it.
    #[serde(default)]
    pub reference: String,
}

fn undecided() -> Status {
    Status::Undecided
}

/// How a cost follows the dose of an intervention that scales its cause.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trend {
    /// The intervention.
    pub intervention: String,
    /// The metric.
    pub metric: Metric,
    /// By how much the metric rises with each unit of the dose: the median of the slopes between all trials (Theil 1950).
    pub slope: f64,
    /// Lower end of the slope's 95 % interval (Sen 1968).
    pub low: f64,
    /// Upper end of the slope's interval.
    pub high: f64,
    /// Trials that it rests on.
    pub points: u32,
}

/// What an intervention is tried for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// It removes the suspected cause.
    #[default]
    Cause,
    /// A control: it is close to the cause and must have no effect.
    Control,
    /// It scales the cause; the cost must scale with it.
    Dose,
    /// It builds on another, and shows what more can be gained.
    #[serde(rename = "ladder")]
    Incremental,
    /// The user asked for it; its result says nothing about the finding.
    Asked,
}

/// Interventions tried together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Together {
    /// Their names.
    pub interventions: Vec<String>,
    /// The metric.
    pub metric: Metric,
    /// The metric without them.
    pub before: f64,
    /// The metric with them.
    pub after: f64,
    /// before / after; above 1 is a gain.
    pub ratio: f64,
    /// Lower end of the ratio's interval.
    pub low: f64,
    /// Upper end of the ratio's interval.
    pub high: f64,
    /// What the last of them adds to the others: the step before / this one.
    pub step: Option<Measured>,
    /// Trials of them and of their sham.
    pub trials: u32,
    /// Whether all of them took effect at the same time.
    pub applied: bool,
}

/// How the findings of a run were tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proof {
    /// Trials run, all arms together.
    pub trials: u32,
    /// Rounds: the most trials of any one arm.
    pub rounds: u32,
    /// Time spent on trials, in nanoseconds.
    pub spent_ns: u64,
    /// The part of it after which what the recording shows had its verdicts, in nanoseconds; the rest went into what shows
    /// only once that is cured. 0 in files that do not say.
    #[serde(default)]
    pub to_verdict_ns: u64,
    /// The budget for trials, in nanoseconds.
    pub budget_ns: u64,
    /// Nothing attached / the sham, in the first finding's metric: the overhead of the machinery itself.
    pub sham: Option<Measured>,
    /// Whether the program's output stayed the same: `same`, `same but for figures`, `different`, or why it was not
    /// compared.
    pub output: Sameness,
    /// Why the trials stopped; null if there were none, or if the file is too old to say.
    #[serde(default)]
    pub stopped: Option<Stopped>,
    /// What was not tried and why, one sentence each.
    pub not_tried: Vec<String>,
    /// The same as typed facts, in the same order; empty in files that have only the sentences.
    #[serde(default)]
    pub untried: Vec<NotTried>,
}
