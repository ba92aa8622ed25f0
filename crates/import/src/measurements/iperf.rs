//! The JSON of iperf3: the sum of all streams in each interval.

use super::{Measurement, Measurements};
use serde::Deserialize;

#[derive(Deserialize)]
struct Document {
    intervals: Vec<Interval>,
}

#[derive(Deserialize)]
struct Interval {
    sum: Sum,
}

#[derive(Deserialize)]
struct Sum {
    start: f64,
    seconds: f64,
    bits_per_second: f64,
    #[serde(default)]
    omitted: bool,
}

/// The series; none where the text is something else.
pub fn read(text: &str) -> Option<Measurements> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let document: Document = serde_json::from_str(text).ok()?;
    let mut found = Measurements { are_bits_per_second: true, ..Measurements::default() };
    for Interval { sum } in document.intervals.into_iter().filter(|interval| !interval.sum.omitted) {
        let one = Measurement { at_s: sum.start, length_s: sum.seconds, value: sum.bits_per_second };
        found.push(one, "an interval whose numbers are none");
    }
    found.complete(true);
    Some(found)
}
