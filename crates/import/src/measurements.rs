//! A series of measurements from what programs print: iperf3's JSON, a column of a table, lines by a pattern, or numbers alone.

mod iperf;
mod lines;

use crate::error::ImportError;
use crate::files::{self, LogFile, Opened};
use regex::Regex;
use std::io::Read;
use std::path::Path;

/// Nothing larger is read: iperf3's JSON of a day by the tenth of a second has some 300 MB.
const LARGEST: u64 = 1 << 30;

/// Examples of what holds no value.
const MOST_EXAMPLES: usize = 3;

/// Where values stand.
#[derive(Clone, Debug)]
pub enum Shape {
    /// To be found out: iperf3's JSON, or numbers, one a line, or a time and a number.
    Detected,
    /// In a column of a table, by its name or its number from 1; times in another one.
    Column {
        /// That of the values.
        values: String,
        /// That of the times, in seconds; none where rows are equally far apart.
        times: Option<String>,
    },
    /// In lines that match: the group `value`, or the first one, or all of it; times in the group `time`.
    Pattern(Regex),
}

/// A value and when it was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measurement {
    /// Seconds; from 0 where nothing says when.
    pub at_s: f64,
    /// How long it stands for; 0 where nothing says so.
    pub length_s: f64,
    /// The value.
    pub value: f64,
}

/// A series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurements {
    /// The values in the order in which they stand.
    pub values: Vec<Measurement>,
    /// Whether they are bits in a second.
    pub are_bits_per_second: bool,
    /// Lines or rows without a value.
    pub skipped: u64,
    /// A few of those.
    pub examples: Vec<String>,
}

impl Shape {
    /// By a pattern as it is typed.
    ///
    /// # Errors
    /// Where it is none.
    pub fn pattern(text: &str) -> Result<Shape, String> {
        Regex::new(text).map(Shape::Pattern).map_err(|error| error.to_string())
    }
}

impl Measurements {
    /// Counts what holds no value.
    fn skip(&mut self, text: &str) {
        self.skipped += 1;
        if self.examples.len() < MOST_EXAMPLES {
            self.examples.push(text.chars().take(200).collect());
        }
    }

    /// Adds a value; what is no number is counted.
    fn push(&mut self, measurement: Measurement, text: &str) {
        let numbers = [measurement.at_s, measurement.length_s, measurement.value];
        if numbers.into_iter().all(f64::is_finite) { self.values.push(measurement) } else { self.skip(text) }
    }

    /// Gives times and lengths where none were said: equal steps of one second, or up to the next value.
    fn complete(&mut self, is_timed: bool) {
        if !is_timed {
            for (place, value) in self.values.iter_mut().enumerate() {
                (value.at_s, value.length_s) = (place as f64, 1.0);
            }
            return;
        }
        self.values.sort_by(|one, other| one.at_s.total_cmp(&other.at_s));
        let first = self.values.first().map_or(0.0, |one| one.at_s);
        for at in 0..self.values.len() {
            let next = self.values.get(at + 1).map(|next| next.at_s);
            let before = at.checked_sub(1).and_then(|before| self.values.get(before)).map_or(0.0, |one| one.length_s);
            let value = &mut self.values[at];
            if value.length_s <= 0.0 {
                value.length_s = next.map_or(before, |next| next - value.at_s);
            }
        }
        self.values.iter_mut().for_each(|value| value.at_s -= first);
    }
}

/// Reads a series from a file, plain, gzip or zstd; `-` is standard input.
///
/// # Errors
/// Where it cannot be read.
pub fn read_measurements(path: &Path, shape: &Shape) -> Result<Measurements, ImportError> {
    let opened = files::open(&LogFile { path: path.to_path_buf(), is_named: true }).map_err(ImportError::io(path))?;
    let from: Box<dyn Read + Send> = match opened {
        Opened::Plain(file, _) => Box::new(file),
        Opened::Stream(stream) => stream,
    };
    let mut bytes = Vec::new();
    from.take(LARGEST).read_to_end(&mut bytes).map_err(ImportError::io(path))?;
    Ok(measurements(&String::from_utf8_lossy(&bytes), shape))
}

/// Reads a series from what a program has printed.
pub fn measurements(text: &str, shape: &Shape) -> Measurements {
    match shape {
        Shape::Detected => iperf::read(text).unwrap_or_else(|| lines::numbers(text)),
        Shape::Column { values, times } => lines::table(text, values, times.as_deref()),
        Shape::Pattern(pattern) => lines::matching(text, pattern),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(found: &Measurements) -> Vec<(f64, f64, f64)> {
        found.values.iter().map(|one| (one.at_s, one.length_s, one.value)).collect()
    }

    #[test]
    fn numbers_stand_alone_or_behind_their_times() {
        let found = measurements("# rate\n10\n\n12.5\nx\n1e3\n", &Shape::Detected);
        assert_eq!(values(&found), [(0.0, 1.0, 10.0), (1.0, 1.0, 12.5), (2.0, 1.0, 1000.0)]);
        assert_eq!((found.skipped, found.examples), (1, vec!["x".to_string()]));
        let found = measurements("100 5\n100.5 6\n102,7\n", &Shape::Detected);
        assert_eq!(values(&found), [(0.0, 0.5, 5.0), (0.5, 1.5, 6.0), (2.0, 1.5, 7.0)]);
    }

    #[test]
    fn a_column_is_found_by_its_name_or_number() {
        let text = "time,\"rate, up\",note\n0,5,a\n2,7,\"b, c\"\n4,,d\n";
        let shape = |values: &str, times: Option<&str>| Shape::Column {
            values: values.to_string(),
            times: times.map(String::from),
        };
        let found = measurements(text, &shape("rate, up", Some("time")));
        assert_eq!(values(&found), [(0.0, 2.0, 5.0), (2.0, 2.0, 7.0)]);
        assert_eq!(found.skipped, 1);
        let by_number = measurements(text, &shape("2", Some("1")));
        assert_eq!(by_number.values, found.values);
        assert_eq!(measurements(text, &shape("nothing", None)).values, []);
    }

    #[test]
    fn lines_by_a_pattern_give_a_value_and_perhaps_a_time() {
        let text =
            "[ 5] 0.00-1.00 sec 11.5 MBytes 96.4 Mbits/sec\nConnecting\n[ 5] 1.00-2.00 sec 9 MBytes 80 Mbits/sec\n";
        let pattern = |text: &str| Shape::Pattern(Regex::new(text).expect("a pattern"));
        let found = measurements(text, &pattern(r"([0-9.]+) Mbits/sec"));
        assert_eq!(values(&found), [(0.0, 1.0, 96.4), (1.0, 1.0, 80.0)]);
        assert_eq!(found.skipped, 1);
        let found = measurements(text, &pattern(r"(?<time>[0-9.]+)-.*?(?<value>[0-9.]+) Mbits/sec"));
        assert_eq!(values(&found), [(0.0, 1.0, 96.4), (1.0, 1.0, 80.0)]);
    }

    #[test]
    fn iperfs_json_is_known_by_itself() {
        let text = r#"{"start":{},"intervals":[
            {"streams":[],"sum":{"start":0,"end":0.5,"seconds":0.5,"bytes":50,"bits_per_second":800,"omitted":false}},
            {"streams":[],"sum":{"start":0.5,"end":1,"seconds":0.5,"bytes":5,"bits_per_second":80,"omitted":false}}]}"#;
        let found = measurements(text, &Shape::Detected);
        assert!(found.are_bits_per_second);
        assert_eq!(values(&found), [(0.0, 0.5, 800.0), (0.5, 0.5, 80.0)]);
    }
}
