//! The bootstrap: how far a statistic moves when the sample is drawn again from itself. Seeded, hence repeatable.

use fastrand::Rng;
use statrs::distribution::{ContinuousCDF, Normal};

use crate::interval::Interval;
use crate::sample::{all_finite, mean, quantile_of_sorted};

/// How to draw again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resampling {
    /// How often; 2,000 settle the ends of a 95 % interval to about a twentieth of its width.
    pub times: usize,
    /// What the draws follow from.
    pub seed: u64,
    /// The confidence of the interval (as 0.95).
    pub confidence: f64,
}

/// The interval between the quantiles of the statistic of the samples drawn again (Efron's percentile interval).
///
/// `None` for fewer than two values, a value or statistic that is not finite, or nothing to draw.
pub fn percentile_interval(
    values: &[f64],
    statistic: impl Fn(&[f64]) -> f64,
    resampling: Resampling,
) -> Option<Interval> {
    let drawn = drawn_again(values, &statistic, resampling)?;
    let miss = (1.0 - resampling.confidence) / 2.0;
    Some(Interval { low: quantile_of_sorted(&drawn, miss), high: quantile_of_sorted(&drawn, 1.0 - miss) })
}

/// [`percentile_interval`] corrected for the statistic's bias and for a spread that grows with it (Efron 1987, BCa).
///
/// Where either correction does not exist, as when the statistic never moves, it is left out.
pub fn bca_interval(values: &[f64], statistic: impl Fn(&[f64]) -> f64, resampling: Resampling) -> Option<Interval> {
    let drawn = drawn_again(values, &statistic, resampling)?;
    let bias = bias(&drawn, statistic(values));
    let acceleration = acceleration(values, &statistic);
    let normal = Normal::standard();
    let corrected = |share: f64| {
        let plain = bias + normal.inverse_cdf(share);
        let moved = normal.cdf(bias + plain / (1.0 - acceleration * plain));
        quantile_of_sorted(&drawn, if moved.is_finite() { moved } else { share })
    };
    let miss = (1.0 - resampling.confidence) / 2.0;
    let (one, other) = (corrected(miss), corrected(1.0 - miss));
    Some(Interval { low: one.min(other), high: one.max(other) })
}

/// The statistic of each sample drawn again, sorted.
fn drawn_again(values: &[f64], statistic: impl Fn(&[f64]) -> f64, resampling: Resampling) -> Option<Vec<f64>> {
    let confident = resampling.confidence > 0.0 && resampling.confidence < 1.0;
    if values.len() < 2 || resampling.times == 0 || !confident || !all_finite(values) {
        return None;
    }
    let mut random = Rng::with_seed(resampling.seed);
    let mut sample = values.to_vec();
    let mut drawn = Vec::with_capacity(resampling.times);
    for _ in 0..resampling.times {
        sample.fill_with(|| values[random.usize(..values.len())]);
        drawn.push(statistic(&sample));
    }
    drawn.sort_unstable_by(f64::total_cmp);
    all_finite(&drawn).then_some(drawn)
}

/// By how many standard deviations the statistic lies above the middle of those drawn again; equal ones count half.
fn bias(drawn: &[f64], statistic: f64) -> f64 {
    let below = drawn.partition_point(|value| *value < statistic);
    let not_above = drawn.partition_point(|value| *value <= statistic);
    let share = (below + not_above) as f64 / (2 * drawn.len()) as f64;
    if share > 0.0 && share < 1.0 { Normal::standard().inverse_cdf(share) } else { 0.0 }
}

/// The skewness of the statistic as each value in turn is left out, over 6.
fn acceleration(values: &[f64], statistic: impl Fn(&[f64]) -> f64) -> f64 {
    let mut left_out = Vec::with_capacity(values.len());
    for place in 0..values.len() {
        let mut rest = values.to_vec();
        rest.remove(place);
        left_out.push(statistic(&rest));
    }
    let center = mean(&left_out);
    let power = |exponent: i32| left_out.iter().map(|value| (center - value).powi(exponent)).sum::<f64>();
    let acceleration = power(3) / (6.0 * power(2).powf(1.5));
    if acceleration.is_finite() { acceleration } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::{Resampling, bca_interval, percentile_interval};
    use crate::interval::Interval;
    use crate::sample::mean;

    const RESAMPLING: Resampling = Resampling { times: 2_000, seed: 5, confidence: 0.95 };

    #[test]
    fn the_seed_decides_the_draws() {
        let values: Vec<f64> = (0..30).map(|value| f64::from(value * value)).collect();
        let other = Resampling { seed: 6, ..RESAMPLING };
        assert_eq!(bca_interval(&values, mean, RESAMPLING), bca_interval(&values, mean, RESAMPLING));
        assert_ne!(bca_interval(&values, mean, RESAMPLING), bca_interval(&values, mean, other));
    }

    #[test]
    fn values_that_never_move_have_an_interval_of_no_width() {
        let point = Some(Interval { low: 2.0, high: 2.0 });
        assert_eq!(bca_interval(&[2.0; 9], mean, RESAMPLING), point);
        assert_eq!(percentile_interval(&[2.0; 9], mean, RESAMPLING), point);
    }

    #[test]
    fn the_correction_follows_the_longer_tail() {
        let values: Vec<f64> = (0..20).map(|value| f64::from(value).exp2()).collect();
        let plain = percentile_interval(&values, mean, RESAMPLING).unwrap();
        let corrected = bca_interval(&values, mean, RESAMPLING).unwrap();
        assert!(corrected.low > plain.low && corrected.high > plain.high, "{plain:?} {corrected:?}");
    }

    #[test]
    fn what_cannot_be_drawn_from_has_no_interval() {
        assert_eq!(bca_interval(&[1.0], mean, RESAMPLING), None);
        assert_eq!(bca_interval(&[1.0, f64::INFINITY], mean, RESAMPLING), None);
        assert_eq!(bca_interval(&[1.0, 2.0], mean, Resampling { times: 0, ..RESAMPLING }), None);
        assert_eq!(percentile_interval(&[1.0, 2.0], |_| f64::NAN, RESAMPLING), None);
    }
}
