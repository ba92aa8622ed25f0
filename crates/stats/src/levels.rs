//! Points by tested value: the level of each, and how noisy measurements of one value are.

use crate::line::all_points_finite;
use crate::sample::{median, variance};

/// How many of the degrees of freedom the median of variances makes use of, for two of them each.
const MEDIAN_EFFICIENCY: f64 = 0.4;

/// Measurements of one tested value, by their logarithms.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    /// The value.
    pub at: f64,
    /// The logarithms.
    pub logs: Vec<f64>,
    /// Their median.
    pub height: f64,
}

/// Points (tested value, measurement) as levels, by value. `None` where a number is not finite or a measurement not
/// positive.
pub(crate) fn levels(points: &[(f64, f64)]) -> Option<Vec<Level>> {
    if !all_points_finite(points) || points.iter().any(|(_, y)| *y <= 0.0) {
        return None;
    }
    let mut sorted = points.to_vec();
    sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
    let groups = sorted.chunk_by(|one, other| one.0.total_cmp(&other.0).is_eq());
    let level = |group: &[(f64, f64)]| {
        let logs = group.iter().map(|(_, y)| y.ln()).collect::<Vec<f64>>();
        Level { at: group[0].0, height: median(&logs), logs }
    };
    Some(groups.map(level).collect())
}

/// The standard deviation of the measurements of one value, the same for all of them but for a few that scatter; with its
/// degrees of freedom. `None` where no value was measured twice.
pub(crate) fn scatter(levels: &[Level]) -> Option<(f64, f64)> {
    let repeated = levels.iter().filter(|level| level.logs.len() > 1);
    let variances = repeated
        .map(|level| {
            let freedom = level.logs.len() as f64 - 1.0;
            // The median of a chi-squared variable (Wilson and Hilferty 1931), so that half of the estimates lie above.
            variance(&level.logs) / (1.0 - 2.0 / (9.0 * freedom)).powi(3)
        })
        .collect::<Vec<f64>>();
    let freedom = levels.iter().map(|level| level.logs.len() as f64 - 1.0).sum::<f64>();
    // The median of variances is as sure as the mean of less than half of them.
    let freedom = (freedom * MEDIAN_EFFICIENCY).max(1.0);
    (!variances.is_empty()).then(|| (median(&variances).sqrt(), freedom))
}
