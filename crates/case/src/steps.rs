//! What a series of measurements shows over time: its levels and the steps between them, and whether a bucket of tokens explains
//! them. Printed with `whyslow steps --json`. Part of the JSON contract: fields are only ever added.
//!
//! Times are seconds since the series began.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All that a series shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Steps {
    /// The version of this format.
    pub schema: u32,
    /// Where it comes from: a file, `-` for standard input, or the command that was run.
    pub source: String,
    /// What was measured.
    pub quantity: Quantity,
    /// How many values there are.
    pub values: u64,
    /// Lines or rows that hold none.
    pub skipped: u64,
    /// The values, at most some thousand: where there are more, means of as many as it takes.
    pub samples: Vec<Sample>,
    /// The levels in order of time, one more than there are steps.
    pub levels: Vec<Level>,
    /// The steps in order of time.
    pub steps: Vec<Step>,
    /// What driving the series has shown; absent if it was only read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driven: Option<Driven>,
}

/// What values stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Bits in a second.
    BitsPerSecond,
    /// Numbers whose unit is not known.
    #[default]
    Number,
}

/// A value and when it was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// When its time began.
    pub at_s: f64,
    /// How long that time is.
    pub length_s: f64,
    /// The value.
    pub value: f64,
}

/// A stretch in which values vary about one level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Level {
    /// From when.
    pub from_s: f64,
    /// Until when.
    pub to_s: f64,
    /// The median.
    pub value: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// How many values.
    pub values: u64,
}

/// Where one level ends and the next begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// When.
    pub at_s: f64,
    /// The lower end of the 95 % interval of that time.
    pub low_s: f64,
    /// The upper end.
    pub high_s: f64,
    /// The level after / the level before.
    pub ratio: f64,
    /// The lower end of its interval: the levels' intervals at their worst.
    pub ratio_low: f64,
    /// The upper end.
    pub ratio_high: f64,
    /// How much had come by then in all: bits, where values are bits in a second; 0 elsewhere.
    pub amount: f64,
    /// The chance of as large a step in values without order.
    pub p: f64,
}

/// What running a command at rates of our choice has shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Driven {
    /// What limits the rate.
    pub limit: RateLimit,
    /// The bucket that explains the first run; absent if that had no step down.
    pub bucket: Option<Bucket>,
    /// Further runs, each with what was predicted.
    pub trials: Vec<DrivenTrial>,
}

/// What limits a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RateLimit {
    /// A bucket of tokens: steps came after so many bytes, as predicted.
    TokenBucket,
    /// Time: steps came at the same time whatever had been sent.
    Schedule,
    /// The rate did not fall.
    None,
    /// The trials fit neither.
    #[default]
    Undecided,
}

/// A bucket of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bucket {
    /// The rate at which it fills, in bits of payload a second.
    pub rate: f64,
    /// The lower end of its 95 % interval.
    pub rate_low: f64,
    /// The upper end.
    pub rate_high: f64,
    /// How many bytes of payload it holds.
    pub burst_bytes: f64,
    /// The lower end of its interval.
    pub burst_low: f64,
    /// The upper end.
    pub burst_high: f64,
    /// How long it takes to fill, in seconds.
    pub fills_s: f64,
    /// The rate on the wire, in bits a second: with the heads of Ethernet, IPv4 and TCP on each full segment of an MTU of 1,500.
    pub wire_rate: f64,
    /// The burst on the wire, in bytes.
    pub wire_burst_bytes: f64,
}

/// A run at a rate of our choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DrivenTrial {
    /// What was done.
    pub kind: DrivenKind,
    /// The rate that was asked for, in bits a second; 0 for as much as there is.
    pub asked: f64,
    /// How long nothing was sent before, in seconds.
    pub pause_s: f64,
    /// When a bucket would be empty.
    pub predicted_s: f64,
    /// When the step down came, if one came.
    pub step: Option<Step>,
    /// Whether it came as predicted.
    pub met: bool,
}

/// What a run is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DrivenKind {
    /// A full bucket, emptied at less than the full rate: it takes longer.
    Slower,
    /// A bucket that had filled for a while only: it is empty sooner.
    #[default]
    Resumed,
}
