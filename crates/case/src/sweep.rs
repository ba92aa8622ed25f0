//! What a sweep says: one thing varied through many values, kept in its case as `sweep.json`, printed with `--json`. Part
//! of the JSON contract: fields are only ever added.

use crate::answer::Finding;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The whole sweep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sweep {
    /// The contract's version.
    pub schema: u32,
    /// The case's folder. The recorded runs are cases of their own in it, `at-VALUE`.
    pub case: String,
    /// Its page, one HTML file; empty where none was written.
    #[serde(default)]
    pub page: String,
    /// The client's command, with its placeholder.
    pub command: Vec<String>,
    /// The server's command; empty for none of ours.
    pub server: Vec<String>,
    /// What was varied.
    pub parameter: String,
    /// What was measured at each value: a metric's name. Less is better.
    pub metric: String,
    /// What it comes down to, in one or two sentences.
    pub summary: String,
    /// What was measured, by value.
    pub points: Vec<Point>,
    /// Where it jumps, by value.
    pub cliffs: Vec<Cliff>,
    /// Where its slope changes; none where it does not, or a cliff explains more.
    pub knee: Option<KneePoint>,
    /// How it grows with the value; none where cliffs or too few points forbid to say.
    pub growth: Option<Growth>,
    /// What a recorded run means, in each stretch between cliffs; one where there are none.
    pub regimes: Vec<Regime>,
    /// Trials run.
    pub trials: u32,
    /// Time spent on trials, in nanoseconds.
    pub spent_ns: u64,
    /// Time allowed, in nanoseconds.
    pub budget_ns: u64,
    /// Values that were left out, an early end, outputs that could not be compared.
    pub warnings: Vec<String>,
}

/// One value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// The value as a number.
    pub value: f64,
    /// As it was put into the command: `16K`, `10mbit`.
    pub label: String,
    /// The middle of its trials, in the metric's unit; 0 where none was sound.
    pub measured: f64,
    /// Lower end of the 95 % interval of that.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
    /// Exchanges a second in the middle trial; for whole runs without exchanges, runs a second.
    pub rate: f64,
    /// Sound trials.
    pub trials: u32,
    /// Why there is none, or fewer than wanted; empty where all is well.
    pub problem: String,
}

/// A jump between two neighbouring values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cliff {
    /// The value below it, the nearest tried.
    pub below: f64,
    /// The value above it, the nearest tried.
    pub above: f64,
    /// The metric just below.
    pub level_below: f64,
    /// The metric just above.
    pub level_above: f64,
    /// The chance of as clear a cliff where there is none.
    pub p: f64,
    /// Why it is there, in a sentence; empty where that is not known.
    pub reason: String,
    /// Its tie to the size of segments, where there is one.
    pub segment: Option<SegmentTie>,
}

/// How a cliff's place follows from the size of a connection's segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SegmentTie {
    /// The maximum segment size seen on the connection, in bytes.
    pub mss: u32,
    /// Bytes that the program or its TLS add to the value in the write that counts.
    pub overhead: i64,
    /// The first value that fills a segment: `mss - overhead`.
    pub predicted: f64,
}

/// Where a curve bends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KneePoint {
    /// At which value.
    pub at: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// The slope (of logarithms) before it.
    pub before: f64,
    /// The slope after it.
    pub after: f64,
}

/// How the metric grows: as the value to the power of the exponent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Growth {
    /// The exponent: 1 is proportional, 2 quadratic.
    pub exponent: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// The smallest value that it rests on: those below are mostly fixed cost.
    pub from: f64,
    /// The largest value.
    pub to: f64,
    /// Whether it grows out of hand: faster than sorting would, beyond its interval.
    pub out_of_hand: bool,
    /// The call chain that grows, outermost first; empty where it was not looked for.
    pub chain: Vec<Growing>,
}

/// A function whose processor time grows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Growing {
    /// The function.
    pub function: String,
    /// The library or program.
    pub module: String,
    /// Its own exponent, callees included, between the two recorded values.
    pub exponent: f64,
    /// Its share of all processor time at the larger value, callees included.
    pub share: f64,
}

/// A stretch of values of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Regime {
    /// From this value.
    pub from: f64,
    /// To this value.
    pub to: f64,
    /// The value that was recorded.
    pub at: f64,
    /// The folder of the recorded run.
    pub case: String,
    /// What was found there: suspicions, not tried.
    pub findings: Vec<Finding>,
    /// Where the time went there, in one sentence.
    pub summary: String,
}
