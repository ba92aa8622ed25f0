//! A straight line through points.

use crate::interval::Interval;
use crate::sample::{mean, median, quantile_of_sorted};
use crate::student::t_quantile;
use statrs::distribution::{ContinuousCDF, Normal};

/// A line: y = intercept + slope · x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Its height at x = 0.
    pub intercept: f64,
    /// By how much y grows with each x.
    pub slope: f64,
    /// The interval of the slope.
    pub slope_interval: Interval,
}

impl Line {
    /// Its height at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

/// The line with the least squares of vertical distances, its slope's interval by Student's t.
///
/// `None` for fewer than three points, a number that is not finite, or where all x are equal.
pub fn least_squares(points: &[(f64, f64)], confidence: f64) -> Option<Line> {
    if points.len() < 3 || !all_points_finite(points) || !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let (center_x, center_y) = centers(points);
    let spread: f64 = points.iter().map(|(x, _)| (x - center_x).powi(2)).sum();
    let together: f64 = points.iter().map(|(x, y)| (x - center_x) * (y - center_y)).sum();
    if spread <= 0.0 {
        return None;
    }
    let slope = together / spread;
    let intercept = center_y - slope * center_x;
    let rest: f64 = points.iter().map(|(x, y)| (y - intercept - slope * x).powi(2)).sum();
    let freedom = points.len() as f64 - 2.0;
    let reach = t_quantile(f64::midpoint(1.0, confidence), freedom)? * (rest / freedom / spread).sqrt();
    Some(Line { intercept, slope, slope_interval: Interval { low: slope - reach, high: slope + reach } })
}

/// The line whose slope is the median of the slopes between all points (Theil 1950), which up to 29 % of outliers do
/// not spoil; its interval is Sen's (1968), the line goes through the medians.
///
/// `None` for fewer than three points, a number that is not finite, or where all x are equal.
pub fn theil_sen(points: &[(f64, f64)], confidence: f64) -> Option<Line> {
    if points.len() < 3 || !all_points_finite(points) || !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let mut slopes = Vec::new();
    for (place, (x, y)) in points.iter().enumerate() {
        let later = points[place + 1..].iter().filter(|(other, _)| (other - x).abs() > 0.0);
        slopes.extend(later.map(|(other_x, other_y)| (other_y - y) / (other_x - x)));
    }
    if slopes.is_empty() {
        return None;
    }
    slopes.sort_unstable_by(f64::total_cmp);
    let slope = quantile_of_sorted(&slopes, 0.5);
    let xs: Vec<f64> = points.iter().map(|(x, _)| *x).collect();
    let ys: Vec<f64> = points.iter().map(|(_, y)| *y).collect();
    let intercept = median(&ys) - slope * median(&xs);
    Some(Line { intercept, slope, slope_interval: sen_interval(&slopes, points.len() as f64, confidence) })
}

/// The slopes so far from the middle of all that Kendall's rank correlation, normally approximated, would notice.
fn sen_interval(sorted: &[f64], points: f64, confidence: f64) -> Interval {
    let deviation = (points * (points - 1.0) * (2.0 * points + 5.0) / 18.0).sqrt();
    let reach = Normal::standard().inverse_cdf(f64::midpoint(1.0, confidence)) * deviation;
    let count = sorted.len() as f64;
    let low = ((count - reach) / 2.0).round() - 1.0;
    let high = f64::midpoint(count, reach).round();
    let last = sorted.len() - 1;
    Interval { low: sorted[low.max(0.0) as usize], high: sorted[(high.max(0.0) as usize).min(last)] }
}

pub(crate) fn all_points_finite(points: &[(f64, f64)]) -> bool {
    points.iter().all(|(x, y)| x.is_finite() && y.is_finite())
}

pub(crate) fn centers(points: &[(f64, f64)]) -> (f64, f64) {
    let xs: Vec<f64> = points.iter().map(|(x, _)| *x).collect();
    let ys: Vec<f64> = points.iter().map(|(_, y)| *y).collect();
    (mean(&xs), mean(&ys))
}

#[cfg(test)]
mod tests {
    use super::{least_squares, theil_sen};

    #[test]
    fn an_outlier_spoils_least_squares_and_not_the_median_of_slopes() {
        let mut points: Vec<(f64, f64)> = (0..20).map(|x| (f64::from(x), 1.0 + 2.0 * f64::from(x))).collect();
        points[19].1 = 900.0;
        assert!((theil_sen(&points, 0.95).unwrap().slope - 2.0).abs() < 1e-9);
        assert!(least_squares(&points, 0.95).unwrap().slope > 5.0);
    }

    #[test]
    fn a_line_goes_through_what_lies_on_one() {
        let points: Vec<(f64, f64)> = (0..9).map(|x| (f64::from(x), 4.0 - 0.5 * f64::from(x))).collect();
        for line in [least_squares(&points, 0.95).unwrap(), theil_sen(&points, 0.95).unwrap()] {
            assert!((line.at(20.0) + 6.0).abs() < 1e-9, "{line:?}");
        }
    }

    #[test]
    fn upright_or_unfinished_points_have_no_line() {
        for line in [least_squares, theil_sen] {
            assert_eq!(line(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)], 0.95), None);
            assert_eq!(line(&[(1.0, 1.0), (2.0, f64::NAN), (3.0, 3.0)], 0.95), None);
            assert_eq!(line(&[(1.0, 1.0), (2.0, 2.0)], 0.95), None);
        }
    }
}
