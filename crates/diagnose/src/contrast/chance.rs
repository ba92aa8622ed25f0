//! What chance can make of two times that were sampled.
//!
//! Where each side was recorded several times, how far its runs differ tells: a program that does the same each time is
//! sampled far more evenly than at random. Else samples are taken to come at random.

use crate::profile::Time;
use crate::units::Units;

/// A difference counts from this many standard deviations of counting samples.
const DEVIATIONS: f64 = 3.0;

/// Runs of each side from which their spread is known well enough to go by, ...
const LEAST_RUNS: usize = 4;

/// ... and the deviations from which a difference counts then: the spread of few runs is itself uncertain.
const DEVIATIONS_OF_RUNS: f64 = 4.0;

/// A run's time is known no better than this part of a sample: when sampling begins is chance.
const PART_OF_SAMPLE: f64 = 0.5;

/// What was seen of one side.
#[derive(Clone, Copy)]
pub struct Seen<'t> {
    /// The time in all.
    pub time: Time,
    /// In each run, in nanoseconds.
    pub runs: &'t [u64],
}

/// Whether two times differ by more than chance.
pub fn differ(a: Seen, b: Seen, units: Units) -> bool {
    let by_runs = a.runs.len().min(b.runs.len()) >= LEAST_RUNS;
    let sample = sample_of(a.time).max(sample_of(b.time));
    let deviation = |seen: Seen, units: f64| {
        let at_random = seen.time.ns as f64 / (seen.time.samples as f64).max(1.0).sqrt();
        if by_runs { of_runs(seen.runs, sample) / units } else { at_random / units }
    };
    let chance = deviation(a, units.a).hypot(deviation(b, units.b));
    let deviations = if by_runs { DEVIATIONS_OF_RUNS } else { DEVIATIONS };
    (b.time.ns as f64 / units.b - a.time.ns as f64 / units.a).abs() > deviations * chance
}

/// What one sample stands for.
fn sample_of(time: Time) -> f64 {
    time.ns as f64 / (time.samples as f64).max(1.0)
}

/// The standard deviation of the sum of some runs.
fn of_runs(runs: &[u64], sample: f64) -> f64 {
    let count = runs.len() as f64;
    let mean = runs.iter().map(|&run| run as f64).sum::<f64>() / count;
    let squares = runs.iter().map(|&run| (run as f64 - mean).powi(2)).sum::<f64>();
    let variance = (squares / (count - 1.0)).max((PART_OF_SAMPLE * sample).powi(2));
    (variance * count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn seen(runs: &[u64]) -> Seen<'_> {
        let ns = runs.iter().sum::<u64>();
        Seen { time: Time { ns, samples: ns / MS }, runs }
    }

    fn are_distinct(a: &[u64], b: &[u64]) -> bool {
        differ(seen(a), seen(b), Units { a: a.len() as f64, b: b.len() as f64, exchanges: false })
    }

    #[test]
    fn even_runs_show_a_difference_of_a_tenth() {
        let (a, b) = ([31, 32, 31, 32, 32, 31].map(|run| run * MS), [35, 35, 36, 35, 35, 36].map(|run| run * MS));
        assert!(are_distinct(&a, &b) && are_distinct(&b, &a));
        assert!(!are_distinct(&a[..1], &b[..1]), "of one run each it may be chance");
    }

    #[test]
    fn uneven_runs_show_no_difference_however_many_samples_they_have() {
        let (a, b) = ([100, 900, 100, 900].map(|run| run * MS), [900, 900, 900, 100].map(|run| run * MS));
        assert!(!are_distinct(&a, &b));
    }

    #[test]
    fn one_odd_sample_is_no_difference() {
        assert!(!are_distinct(&[0, 0, 0, 0].map(|run| run * MS), &[0, MS, 0, MS]));
    }
}
