//! What the trials of several versions say: distributions, and ratios against the first.

use super::factorial::Versus;
use super::trial::Run;
use crate::compare::of_pairs;
use crate::engine::share;
use crate::metric::Metric;
use case::{Compared, Figures};

/// The distribution of each metric on a version, of all values in all its runs.
pub fn figures(runs: &[Run], metrics: &[Metric], arm: usize) -> Vec<Figures> {
    let own = runs.iter().filter(|run| run.arm == arm).collect::<Vec<_>>();
    let each = metrics.iter().enumerate().map(|(place, metric)| {
        let values = own.iter().flat_map(|run| run.values[place].iter().copied()).collect::<Vec<_>>();
        distribution(metric, &values)
    });
    each.collect()
}

fn distribution(metric: &Metric, values: &[f64]) -> Figures {
    if values.is_empty() {
        return Figures { metric: metric.clone(), ..Figures::default() };
    }
    let stdev = if values.len() > 1 { stats::variance(values).sqrt() } else { 0.0 };
    Figures {
        metric: metric.clone(),
        n: values.len() as u64,
        min: stats::quantile(values, 0.0),
        max: stats::quantile(values, 1.0),
        mean: stats::mean(values),
        median: stats::median(values),
        p95: stats::quantile(values, 0.95),
        p99: stats::quantile(values, 0.99),
        stdev,
        sum: values.iter().sum(),
    }
}

/// Each metric of an arm (b) against its reference (a), by pairs of trials of the same round; of several values in a trial
/// the middle one counts. The intervals of so many contrasts hold together, with 95 % confidence.
pub fn ratios(runs: &[Run], metrics: &[Metric], contrast: Versus, contrasts: usize) -> Vec<Compared> {
    (0..metrics.len()).filter_map(|place| ratio(runs, metrics, contrast, contrasts, place)).collect()
}

/// The same of the metric that decides.
pub fn decisive(runs: &[Run], metrics: &[Metric], contrast: Versus, contrasts: usize) -> Option<Compared> {
    ratio(runs, metrics, contrast, contrasts, 0)
}

fn ratio(runs: &[Run], metrics: &[Metric], contrast: Versus, contrasts: usize, place: usize) -> Option<Compared> {
    let metric = metrics.get(place)?;
    let of = |arm: usize, round: u32| {
        let run = runs.iter().find(|run| run.arm == arm && run.round == round)?;
        let values = run.values.get(place).filter(|values| !values.is_empty())?;
        let middle = stats::median(values);
        let value = if metric.more_is_better() { middle.recip() } else { middle };
        (value.is_finite() && value > 0.0).then_some(value)
    };
    let rounds = runs.iter().map(|run| run.round + 1).max().unwrap_or_default();
    let pair = |round| Some((of(contrast.arm, round)?, of(contrast.reference, round)?));
    let pairs = (0..rounds).filter_map(pair).collect::<Vec<_>>();
    of_pairs(&pairs, metric, share(place, metrics.len(), contrasts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::Contrast;

    /// The second arm against the first.
    const SECOND: Versus = Versus { arm: 1, reference: 0 };

    fn metrics(names: &[&str]) -> Vec<Metric> {
        names.iter().map(|name| name.parse().expect("a metric")).collect()
    }

    /// Sixteen rounds of two versions, the second one so many times the first, with some noise.
    fn runs(factor: f64) -> Vec<Run> {
        let run = |arm: usize, round: u32| {
            let noise = 1.0 + f64::from((round * 7 + arm as u32 * 3) % 5) / 200.0;
            let value = if arm == 0 { 10.0 } else { 10.0 * factor } * noise;
            // One odd value does not decide.
            Run { arm, round, values: vec![vec![value, value, value * 50.0]] }
        };
        (0..16).flat_map(|round| [run(0, round), run(1, round)]).collect()
    }

    #[test]
    fn a_distribution_is_of_all_values() {
        let runs = [vec![1.0, 2.0], vec![3.0, 4.0]].map(|values| Run { arm: 0, round: 0, values: vec![values] });
        let figures = figures(&runs, &metrics(&["cpu_ns"]), 0).remove(0);
        assert_eq!((figures.n, figures.min, figures.max, figures.sum), (4, 1.0, 4.0, 10.0));
        assert_eq!((figures.mean, figures.median), (2.5, 2.5));
        assert!((figures.stdev - (5.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!((figures.p95 - 3.85).abs() < 1e-12 && (figures.p99 - 3.97).abs() < 1e-12);
        assert_eq!(super::figures(&runs, &metrics(&["cpu_ns"]), 1)[0].n, 0);
    }

    #[test]
    fn a_version_that_takes_more_is_reported_and_one_that_does_not_is_not() {
        let of = |factor: f64| ratios(&runs(factor), &metrics(&["stdout:x"]), SECOND, 1).remove(0);
        let more = of(3.0);
        assert_eq!(more.outcome, Contrast::More);
        assert!(more.low < 3.0 && 3.0 < more.high && (more.ratio - 3.0).abs() < 0.1, "{more:?}");
        assert_eq!(of(1.0).outcome, Contrast::Same);
    }

    #[test]
    fn a_rate_is_reported_as_a_rate() {
        let rate = ratios(&runs(3.0), &metrics(&["stdout-more:x"]), SECOND, 1).remove(0);
        assert!((rate.ratio - 3.0).abs() < 0.1 && rate.outcome == Contrast::More, "{rate:?}");
        assert!(rate.b > rate.a);
    }
}
