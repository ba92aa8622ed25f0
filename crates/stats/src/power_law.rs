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
