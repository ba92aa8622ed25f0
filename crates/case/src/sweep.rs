//! What a sweep says: one thing varied through many values, kept in its case as `sweep.json`, printed with `--json`. Part
//! of the JSON contract: fields are only ever added.

use crate::answer::Finding;
use crate::facts::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The whole sweep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sweep {
    /// The version of this format.
    pub schema: u32,
    /// The case's folder. The recorded runs are cases of their own in it, `at-VALUE`.
    pub case: String,
    /// The path of its page, one HTML file; empty if none was written.
    #[serde(default)]
    pub page: String,
    /// The client's command, with its placeholder.
    pub command: Vec<String>,
    /// The server's command; empty for none of ours.
    pub server: Vec<String>,
    /// What was varied.
    pub parameter: String,
    /// What kind of values they are; none in files of older versions.
    #[serde(default)]
    pub value_kind: Option<ValueKind>,
    /// The name of the metric measured at each value. Less is better.
    pub metric: Metric,
    /// What it comes down to, in one or two sentences.
    pub summary: String,
    /// What was measured, by value.
    pub points: Vec<Point>,
    /// Its cliffs, by value.
    pub cliffs: Vec<Cliff>,
    /// Where its slope changes; none if it does not, or if a cliff explains more.
    pub knee: Option<KneePoint>,
    /// How it grows with the value; none if cliffs, or too few points, rule out an answer.
    pub growth: Option<Growth>,
    /// The diagnosis of a recorded run in each range between cliffs; one if there are no cliffs.
    pub regimes: Vec<Regime>,
    /// Trials run.
    pub trials: u32,
    /// Time spent on trials, in nanoseconds.
    pub spent_ns: u64,
    /// Time allowed, in nanoseconds.
    pub budget_ns: u64,
    /// What limits the sweep: values left out, an interrupt, outputs that could not be compared.
    pub warnings: Vec<String>,
}

/// What the values of a sweep are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ValueKind {
    /// Whole numbers.
    Whole,
    /// Any numbers.
    Real,
    /// Bits a second.
    Rate,
    /// Words, numbered from 0 in the order given: no curve leads from one to the next.
    Word,
}

impl ValueKind {
    /// What values with these labels must be, in files that do not say.
    fn of_labels<'l>(labels: impl Iterator<Item = &'l str> + Clone) -> ValueKind {
        if labels.clone().any(|label| !is_number(label)) {
            return ValueKind::Word;
        }
        let mut rates = labels.map(|label| label.ends_with("bit")).peekable();
        if rates.peek().is_some() && rates.all(|is_rate| is_rate) { ValueKind::Rate } else { ValueKind::Real }
    }
}

/// A number, perhaps with a unit: `16K`, `10mbit`, `0.5`, `1e6`, `5%`.
fn is_number(label: &str) -> bool {
    if label.parse::<f64>().is_ok_and(f64::is_finite) {
        return true;
    }
    let unsigned = label.trim_start_matches(['+', '-']);
    let unit = unsigned.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let has_digits = unsigned.starts_with(|letter: char| letter.is_ascii_digit());
    has_digits && unit.chars().all(|letter| letter.is_alphabetic() || letter == '%' || letter == '/')
}

impl Sweep {
    /// What its values are, also where the file does not say.
    pub fn kind(&self) -> ValueKind {
        let labels = self.points.iter().map(|point| point.label.as_str());
        self.value_kind.unwrap_or_else(|| ValueKind::of_labels(labels))
    }
}

/// One value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// The value as a number.
    pub value: f64,
    /// The value as put into the command: `16K`, `10mbit`.
    pub label: String,
    /// The median of its trials, in the metric's unit; 0 if none was sound.
    pub measured: f64,
    /// Lower end of the 95 % interval of that.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
    /// Exchanges a second in the middle trial; for whole runs without exchanges, runs a second.
    pub rate: f64,
    /// Sound trials.
    pub trials: u32,
    /// Why there is no measurement, or fewer trials than wanted; else empty.
    pub problem: String,
    /// Whether it was left out, wholly or after some trials, to keep within the budget: that it lacks trials is then no
    /// failure of the program.
    #[serde(default)]
    pub left_out: bool,
}

/// A cliff: a jump between two neighbouring values.
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
    /// The probability of so clear a cliff by chance.
    pub p: f64,
    /// Why it is there, in a sentence; empty if not known.
    pub reason: String,
    /// How it follows from the size of segments, if it does.
    pub segment: Option<SegmentTie>,
}

/// How a cliff's place follows from the size of a connection's segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SegmentTie {
    /// The maximum segment size seen on the connection, in bytes.
    pub mss: u32,
    /// The bytes that the program or its TLS add to the value in the write in question.
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
    /// The smallest value that it rests on; below it, fixed costs dominate.
    pub from: f64,
    /// The largest value.
    pub to: f64,
    /// Whether it grows faster than sorting would, interval included.
    pub out_of_hand: bool,
    /// The call chain that grows, outermost first; empty if it was not looked for.
    pub chain: Vec<Growing>,
}

/// A function whose CPU time grows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Growing {
    /// The function.
    pub function: String,
    /// The library or program.
    pub module: String,
    /// Its own exponent, callees included, between the two recorded values.
    pub exponent: f64,
    /// Its share of all CPU time at the larger value, callees included.
    pub share: f64,
}

/// A range of values between cliffs.
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
    /// What was found there: suspicions, none of them tried.
    pub findings: Vec<Finding>,
    /// Where the time went there, in one sentence.
    pub summary: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_does_not_say_what_its_values_are_has_labels_that_do() {
        let of = |labels: &[&str]| ValueKind::of_labels(labels.iter().copied());
        assert_eq!(of(&["1", "16K", "0.5", "1e6", "5%", "-3", "2MiB"]), ValueKind::Real);
        assert_eq!(of(&["10mbit", "1gbit"]), ValueKind::Rate);
        for name in ["roundrobin", "2.7-slim", "", "debian12", "nan"] {
            assert_eq!(of(&["1", name]), ValueKind::Word, "{name}");
        }
    }
}
