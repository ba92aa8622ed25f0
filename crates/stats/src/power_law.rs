//! Power laws: y = factor · x^exponent, a straight line where both are logarithms.

use crate::interval::Interval;
use crate::line::{centers, least_squares};
use crate::student::t_two_sided;
use crate::surface::fit;

/// A power law fitted to points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerLaw {
    /// y at x = 1.
    pub factor: f64,
    /// The power: 1 is proportional, 2 quadratic, 0 constant.
    pub exponent: f64,
    /// The interval of the exponent.
    pub interval: Interval,
    /// How much the exponent grows as x grows e-fold; 0 for a true power law.
    pub curvature: f64,
    /// The chance of as much curvature where there is none: small where no single power describes the points. 1 where
    /// there are too few points (three) to ask.
    pub curvature_p: f64,
}

/// The power law with the least squares of the logarithms, its exponent's interval by Student's t; the curvature is the
/// weight of a square of log x beside the line.
///
/// `None` for fewer than three points, a number that is not positive and finite, or where all x are equal.
pub fn power_law(points: &[(f64, f64)], confidence: f64) -> Option<PowerLaw> {
    if points.iter().any(|(x, y)| *x <= 0.0 || *y <= 0.0) {
        return None;
    }
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let line = least_squares(&logs, confidence)?;
    let (bend, p) = bend(&logs).unwrap_or((0.0, 1.0));
    Some(PowerLaw {
        factor: line.intercept.exp(),
        exponent: line.slope,
        interval: line.slope_interval,
        curvature: 2.0 * bend,
        curvature_p: p,
    })
}

/// The weight of the square, and the two-sided chance of it where there is none.
fn bend(logs: &[(f64, f64)]) -> Option<(f64, f64)> {
    let (center, _) = centers(logs);
    let column = |power: i32| logs.iter().map(|(x, _)| (x - center).powi(power)).collect::<Vec<f64>>();
    let ys: Vec<f64> = logs.iter().map(|(_, y)| *y).collect();
    let freedom = logs.len().checked_sub(3).filter(|left| *left > 0)? as f64;
    let fit = fit(&[column(0), column(1), column(2)], &ys)?;
    let (bend, error) = (fit.weights[2], (fit.rest / freedom * fit.spreads[2]).sqrt());
    // Points without any noise bend by rounding alone; so little is none.
    let p = if bend.abs() > 1e-9 { t_two_sided(bend / error, freedom)? } else { 1.0 };
    Some((bend, p))
}

#[cfg(test)]
mod tests {
    use super::power_law;

    fn points(height: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        // 2 % of noise that repeats nowhere.
        (0..10).map(|power| 2_f64.powi(power)).map(|x| (x, height(x) * (1.0 + 0.02 * (x * 1.7).sin()))).collect()
    }

    #[test]
    fn a_quadratic_cost_has_exponent_two_and_no_curvature() {
        let law = power_law(&points(|x| 3.0 * x * x), 0.95).unwrap();
        assert!(law.interval.contains(2.0) && law.interval.width() < 0.05, "{law:?}");
        assert!((law.factor - 3.0).abs() < 0.1 && law.curvature_p > 0.05, "{law:?}");
    }

    #[test]
    fn a_fixed_cost_beside_one_per_byte_is_no_power_law() {
        let law = power_law(&points(|x| 50.0 + x), 0.95).unwrap();
        assert!(law.curvature > 0.0 && law.curvature_p < 0.01, "{law:?}");
    }

    #[test]
    fn points_without_noise_have_no_curvature_by_rounding() {
        let exact: Vec<(f64, f64)> = (1..9).map(|x| (f64::from(x), 7.0 * f64::from(x).powf(1.3))).collect();
        let law = power_law(&exact, 0.95).unwrap();
        assert!((law.exponent - 1.3).abs() < 1e-9);
        assert!((law.curvature_p - 1.0).abs() < f64::EPSILON, "{law:?}");
    }

    #[test]
    fn what_has_no_logarithm_or_no_breadth_has_no_law() {
        assert_eq!(power_law(&[(1.0, 1.0), (2.0, 0.0), (3.0, 1.0)], 0.95), None);
        assert_eq!(power_law(&[(1.0, 1.0), (2.0, f64::NAN), (3.0, 1.0)], 0.95), None);
        assert_eq!(power_law(&[(2.0, 1.0), (2.0, 2.0), (2.0, 3.0)], 0.95), None);
        assert_eq!(power_law(&[(1.0, 1.0), (2.0, 2.0)], 0.95), None);
    }
}
