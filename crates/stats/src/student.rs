//! Student's t: the mean of a small sample and its interval.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::interval::Interval;
use crate::sample::{all_finite, mean, variance};

/// The interval of the mean at `confidence` (0 to 1, both excluded): mean ± t · s/√n with n - 1 degrees of freedom.
///
/// It supposes normal values; for symmetric ones with longer tails than the normal it errs to the safe side (Benjamini
/// 1983). `None` for fewer than two values, or one that is not finite.
pub fn mean_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    if values.len() < 2 || !all_finite(values) || !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let center = mean(values);
    let error = (variance(values) / values.len() as f64).sqrt();
    let reach = t_quantile(f64::midpoint(1.0, confidence), values.len() as f64 - 1.0)? * error;
    Some(Interval { low: center - reach, high: center + reach })
}

/// The chance of means as far apart where they are the same: Welch's test (1947), which supposes normal values and no equal
/// variances; two-sided.
///
/// `None` for fewer than two values on a side, or one that is not finite.
pub fn two_means(left: &[f64], right: &[f64]) -> Option<f64> {
    if left.len() < 2 || right.len() < 2 || !all_finite(left) || !all_finite(right) {
        return None;
    }
    let error = |values: &[f64]| variance(values) / values.len() as f64;
    let (one, other) = (error(left), error(right));
    let difference = (mean(left) - mean(right)).abs();
    if one + other <= 0.0 {
        return Some(if difference > 0.0 { 0.0 } else { 1.0 });
    }
    let part = |error: f64, values: &[f64]| error * error / (values.len() as f64 - 1.0);
    let freedom = (one + other).powi(2) / (part(one, left) + part(other, right));
    t_two_sided(difference / (one + other).sqrt(), freedom)
}

/// The value that Student's t with `freedom` degrees of freedom stays below with probability `share`.
pub(crate) fn t_quantile(share: f64, freedom: f64) -> Option<f64> {
    Some(StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(share))
}

/// The probability that |t| is at least `value` where nothing differs.
pub(crate) fn t_two_sided(value: f64, freedom: f64) -> Option<f64> {
    Some((2.0 * StudentsT::new(0.0, 1.0, freedom).ok()?.sf(value.abs())).min(1.0))
}
