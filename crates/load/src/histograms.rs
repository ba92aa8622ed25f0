//! The distributions of a load as a file, so that those of several drivers or days can be put together.
//!
//! A file is text: a line that says what it is, then one line a bucket, `WAY,NANOSECONDS,COUNT`. WAY is `latency` (from the
//! intended start) or `uncorrected` (from the actual one); NANOSECONDS is the longest time that falls into the bucket, and
//! buckets are a thousandth of that wide. Added up bucket by bucket, files are exactly what one driver would have counted.

use crate::histogram::Times;
use case::{Latency, LoadPercentile};
use std::fmt::Write;

/// What every file begins with.
const FIRST_LINE: &str = "# whyslow load histogram 1: way,nanoseconds,count";
const LATENCY: &str = "latency";
const UNCORRECTED: &str = "uncorrected";
/// Percentiles of each power of ten, so that a curve of them is smooth.
const STEPS: u32 = 8;

/// The distributions of one load, or of several together.
#[derive(Clone, Debug, PartialEq)]
pub struct Histograms {
    pub(crate) latency: Times,
    pub(crate) uncorrected: Option<Times>,
}

impl Histograms {
    /// Reads a file.
    ///
    /// # Errors
    /// What is wrong with it, and in which line.
    pub fn read(text: &str) -> Result<Histograms, String> {
        let mut lines = text.lines();
        if lines.next() != Some(FIRST_LINE) {
            return Err("it is no histogram of whyslow load".into());
        }
        let (mut latency, mut uncorrected) = (Times::new(), Times::new());
        for (number, line) in lines.enumerate() {
            let wrong = || format!("line {}: `{line}` is not WAY,NANOSECONDS,COUNT", number + 2);
            let [way, nanos, count] = line.split(',').collect::<Vec<_>>()[..] else { return Err(wrong()) };
            let times = match way {
                LATENCY => &mut latency,
                UNCORRECTED => &mut uncorrected,
                _ => return Err(wrong()),
            };
            let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
            times.add_times(number(nanos)?, number(count)?);
        }
        Ok(Histograms { latency, uncorrected: Some(uncorrected).filter(|times| !times.is_empty()) })
    }

    /// As a file.
    pub fn write(&self) -> String {
        let mut text = format!("{FIRST_LINE}\n");
        let ways = [(LATENCY, Some(&self.latency)), (UNCORRECTED, self.uncorrected.as_ref())];
        for (way, times) in ways {
            for (nanos, count) in times.into_iter().flat_map(Times::counts) {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{way},{nanos},{count}");
            }
        }
        text
    }

    /// Adds another's. Where one of them has no uncorrected times, they are its corrected ones: it was a closed load, in which
    /// both are the same.
    pub fn merge(&mut self, other: &Histograms) {
        if self.uncorrected.is_some() || other.uncorrected.is_some() {
            let mut both = self.uncorrected.take().unwrap_or_else(|| self.latency.clone());
            both.merge(other.uncorrected.as_ref().unwrap_or(&other.latency));
            self.uncorrected = Some(both);
        }
        self.latency.merge(&other.latency);
    }

    /// Both ways summed up.
    pub fn summaries(&self) -> (Latency, Option<Latency>) {
        (self.latency.summary(), self.uncorrected.as_ref().map(Times::summary))
    }

    /// The curve of percentiles, from the median's side to the longest: denser, the rarer requests are.
    pub fn percentiles(&self) -> Vec<LoadPercentile> {
        let count = self.latency.len();
        if count == 0 {
            return Vec::new();
        }
        let rarest = (count as f64).log10();
        let steps = (0..).map(|step| f64::from(step) / f64::from(STEPS)).take_while(|power| *power < rarest);
        let shares = steps.map(|power| 1.0 - 10_f64.powf(-power)).chain([1.0]);
        let at = |times: &Times, share| u64::try_from(times.quantile(share).as_nanos()).unwrap_or(u64::MAX);
        let one = |share| LoadPercentile {
            share,
            latency_ns: at(&self.latency, share),
            uncorrected_ns: self.uncorrected.as_ref().map(|times| at(times, share)),
        };
        shares.map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn of(micros: impl Iterator<Item = u64>, uncorrected: bool) -> Histograms {
        let mut latency = Times::new();
        micros.for_each(|one| latency.add(Duration::from_micros(one)));
        Histograms { uncorrected: uncorrected.then(|| latency.clone()), latency }
    }

    #[test]
    fn files_of_two_drivers_are_what_one_would_have_counted() {
        let (odd, even) = (of((1..2000).step_by(2), true), of((2..2001).step_by(2), true));
        let mut merged = Histograms::read(&odd.write()).expect("a file");
        assert_eq!(merged, odd);
        merged.merge(&Histograms::read(&even.write()).expect("a file"));
        assert_eq!(merged, of(1..2001, true));
    }

    #[test]
    fn a_closed_load_counts_both_ways_beside_an_open_one() {
        let mut merged = of(1..11, false);
        merged.merge(&of(1..6, true));
        let (latency, uncorrected) = merged.summaries();
        assert_eq!((latency.count, uncorrected.map(|one| one.count)), (15, Some(15)));
        let mut closed = of(1..11, false);
        closed.merge(&of(1..6, false));
        assert_eq!(closed.uncorrected, None);
    }

    #[test]
    fn what_is_no_histogram_is_refused_with_its_line() {
        assert!(Histograms::read("value,count\n1,2\n").is_err());
        for wrong in ["latency,1", "latency,1,x", "other,1,2", "latency,1,2,3", ""] {
            let text = format!("{FIRST_LINE}\nlatency,5,1\n{wrong}\nlatency,6,1\n");
            assert!(Histograms::read(&text).is_err_and(|error| error.contains("line 3")), "{wrong}");
        }
    }

    #[test]
    fn percentiles_go_from_the_least_to_the_longest() {
        let curve = of(1..10_001, false).percentiles();
        assert_eq!((curve.len(), curve.first().map(|one| one.share)), (33, Some(0.0)));
        let (middle, last) = (&curve[8], &curve[32]);
        assert!((middle.share - 0.9).abs() < 1e-9 && middle.latency_ns.abs_diff(9_000_000) < 9_000);
        assert!(last.latency_ns.abs_diff(10_000_000) < 10_000 && last.uncorrected_ns.is_none());
        assert!(curve.windows(2).all(|pair| pair[0].latency_ns <= pair[1].latency_ns));
        assert!(Histograms { latency: Times::new(), uncorrected: None }.percentiles().is_empty());
    }
}
