//! Distributions of times, of three digits each.

use case::Latency;
use hdrhistogram::Histogram;
use std::time::Duration;

/// Nothing takes longer: a request ends after a day at the latest.
const MOST_NS: u64 = 86_400_000_000_000;
/// A thousandth is less than such times vary from one to the next.
const DIGITS: u8 = 3;

/// A distribution of times.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Times(Histogram<u64>);

impl Times {
    pub(crate) fn new() -> Times {
        // Both constants are within what the library allows; the fallback is a histogram that grows.
        let fallback = |_| Histogram::new(1).unwrap_or_else(|_| unreachable!("one digit is allowed"));
        Times(Histogram::new_with_bounds(1, MOST_NS, DIGITS).unwrap_or_else(fallback))
    }

    pub(crate) fn add(&mut self, time: Duration) {
        self.0.saturating_record(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).max(1));
    }

    pub(crate) fn merge(&mut self, other: &Times) {
        // Both have the same bounds, so that nothing is left out.
        let _ = self.0.add(&other.0);
    }

    pub(crate) fn clear(&mut self) {
        self.0.reset();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn quantile(&self, quantile: f64) -> Duration {
        Duration::from_nanos(self.0.value_at_quantile(quantile))
    }

    /// Each length that there was, rounded to three digits, and how often.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter_recorded().map(|one| (one.value_iterated_to(), one.count_since_last_iteration()))
    }

    /// Adds a length so many times.
    pub(crate) fn add_times(&mut self, nanos: u64, times: u64) {
        self.0.saturating_record_n(nanos.max(1), times);
    }

    /// How many there are.
    pub(crate) fn len(&self) -> u64 {
        self.0.len()
    }

    pub(crate) fn summary(&self) -> Latency {
        if self.is_empty() {
            return Latency::default();
        }
        let at = |quantile| self.0.value_at_quantile(quantile);
        Latency {
            count: self.0.len(),
            mean_ns: self.0.mean(),
            min_ns: self.0.min(),
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p99_ns: at(0.99),
            p999_ns: at(0.999),
            max_ns: self.0.max(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_right_to_three_digits_after_merging() {
        let (mut first, mut second) = (Times::new(), Times::new());
        for number in 1..=1000u64 {
            let half = if number % 2 == 0 { &mut first } else { &mut second };
            half.add(Duration::from_micros(number));
        }
        first.merge(&second);
        let summary = first.summary();
        assert_eq!(summary.count, 1000);
        let near = |value: u64, micros: u64| value.abs_diff(micros * 1000) * 1000 <= micros * 1000;
        assert!(near(summary.p50_ns, 500) && near(summary.p99_ns, 990) && near(summary.max_ns, 1000), "{summary:?}");
    }
}
