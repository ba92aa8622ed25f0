//! What trials say of each metric of two sides.

use super::Which;
use crate::engine::share;
use crate::metric::Metric;
use crate::pairs::{WORTH, middle, pairs};
use case::tables::Trial;
use case::{Compared, Contrast};
use stats::{Decision, Looks, Ratio};

/// A difference below this can come from where a program lies in memory alone, and is not reported.
const LEAST: f64 = 1.01;
/// The confidence of an interval of two samples, where one was measured earlier, looked at once.
const CONFIDENCE: f64 = 0.95;
/// Fewer pairs give an interval too wide to say anything.
const LEAST_PAIRS: usize = 4;

/// Every metric that enough trials have, the first being the one that decides. The intervals hold together, at every
/// look, with 95 % confidence.
pub fn compared(trials: &[Trial], metrics: &[Metric]) -> Vec<Compared> {
    let each = |(place, metric): (usize, &Metric)| {
        let pairs = pairs(trials, metric, Which::B.arm(), Which::A.arm());
        of_pairs(&pairs, metric, share(place, metrics.len(), 1))
    };
    metrics.iter().enumerate().filter_map(each).collect()
}

/// What pairs of (B, A) say of a metric, each such that less is better. The interval gets this part of the false alarms. None
/// where there are too few pairs.
pub fn of_pairs(pairs: &[(f64, f64)], metric: &Metric, part: f64) -> Option<Compared> {
    let ratio = Looks::standard().sharing(part).at_end(pairs).filter(|_| pairs.len() >= LEAST_PAIRS)?;
    let middles = [middle(pairs.iter().map(|pair| pair.1)), middle(pairs.iter().map(|pair| pair.0))];
    Some(row(metric, &ratio, middles))
}

/// The same of B's trials against trials of an earlier day, which form no pairs.
pub fn against_earlier(earlier: &[Trial], trials: &[Trial], metrics: &[Metric]) -> Vec<Compared> {
    let each = |(place, metric): (usize, &Metric)| {
        let [before, now] = [earlier, trials].map(|side| sound(side, metric));
        let logs = |values: &[f64]| values.iter().map(|value| value.ln()).collect::<Vec<_>>();
        let (before_logs, now_logs) = (logs(&before), logs(&now));
        let confidence = 1.0 - (1.0 - CONFIDENCE) * share(place, metrics.len(), 1);
        let interval = stats::shift_interval(&now_logs, &before_logs, confidence)?;
        let ratio = Ratio {
            ratio: stats::shift(&now_logs, &before_logs).exp(),
            low: interval.low.exp(),
            high: interval.high.exp(),
            pairs: before.len().min(now.len()),
            rank_p: stats::rank_sum(&now_logs, &before_logs)?.p,
        };
        Some(row(metric, &ratio, [middle(before.into_iter()), middle(now.into_iter())]))
    };
    metrics.iter().enumerate().filter_map(each).collect()
}

fn sound(trials: &[Trial], metric: &Metric) -> Vec<f64> {
    let sound = trials.iter().filter(|trial| trial.applied && trial.problem.is_empty());
    sound.filter_map(|trial| metric.of(trial)).collect()
}

/// `middles`: of A, of B.
fn row(metric: &Metric, ratio: &Ratio, middles: [f64; 2]) -> Compared {
    // A rate is kept as its inverse, so that less is better everywhere; what is reported is the rate.
    let ratio = if metric.more_is_better() {
        Ratio { ratio: ratio.ratio.recip(), low: ratio.high.recip(), high: ratio.low.recip(), ..*ratio }
    } else {
        *ratio
    };
    Compared {
        metric: metric.clone(),
        a: metric.shown(middles[0]),
        b: metric.shown(middles[1]),
        ratio: ratio.ratio,
        low: ratio.low,
        high: ratio.high,
        pairs: ratio.pairs as u32,
        outcome: contrast(&ratio),
    }
}

fn contrast(ratio: &Ratio) -> Contrast {
    let is_large_enough = ratio.ratio >= LEAST || ratio.ratio <= LEAST.recip();
    match stats::decision(ratio, WORTH) {
        Decision::Differs if is_large_enough && ratio.low > 1.0 => Contrast::More,
        Decision::Differs if is_large_enough => Contrast::Less,
        _ if ratio.within(WORTH) => Contrast::Same,
        _ => Contrast::Open,
    }
}
