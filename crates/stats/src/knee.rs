//! Knees: where the slope of a curve over a swept value changes, the curve itself being continuous.

use fastrand::Rng;

use crate::interval::Interval;
use crate::last_column::LastColumn;
use crate::line::all_points_finite;
use crate::noise::normal;
use crate::sample::quantile;
use crate::surface::{Fit, fit};

/// Places tried between each two neighbouring values.
const BETWEEN: usize = 8;
/// Curves of noise for the chance of a knee, and curves drawn again for the interval of its place.
const DRAWN: usize = 499;

/// A change of slope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knee {
    /// At which value of x.
    pub at: f64,
    /// Where it may be as well, with 95 % confidence.
    pub interval: Interval,
    /// The slope below it.
    pub slope_below: f64,
    /// The slope above it.
    pub slope_above: f64,
    /// The chance of as clear a knee in a straight line with normal noise.
    pub p: f64,
}

/// The knee of points (x, y): two lines that meet, with the least squares.
///
/// `None` for fewer than four different x or five points, a number that is not finite, or where a straight line
/// describes them as well: where its chance of as clear a knee is over `alarms` (as 0.05).
pub fn knee(points: &[(f64, f64)], alarms: f64, seed: u64) -> Option<Knee> {
    if !all_points_finite(points) || points.len() < 5 {
        return None;
    }
    let curve = Curve::new(points)?;
    let ys: Vec<f64> = points.iter().map(|(_, y)| *y).collect();
    let (at, bent) = curve.best(&ys)?;
    let straight = fit(&curve.straight, &ys)?;
    let mut random = Rng::with_seed(seed);
    let p = curve.chance(clearness(&straight, &bent), &mut random);
    if p > alarms {
        return None;
    }
    let interval = curve.interval(&bent, at, &mut random).reaching(at);
    let (below, turn) = (bent.weights[1], bent.weights[2]);
    Some(Knee { at, interval, slope_below: below, slope_above: below + turn, p })
}

/// By which factor the bend lowers the squares that are left.
fn clearness(straight: &Fit, bent: &Fit) -> f64 {
    straight.rest / bent.rest.max(f64::MIN_POSITIVE)
}

/// What of the points does not depend on y.
struct Curve {
    straight: Vec<Vec<f64>>,
    candidates: Vec<f64>,
    /// A shape for each candidate.
    shapes: LastColumn,
}

/// What a knee adds to a line.
fn bend(xs: &[f64], at: f64) -> Vec<f64> {
    xs.iter().map(|x| (x - at).max(0.0)).collect()
}

impl Curve {
    fn new(points: &[(f64, f64)]) -> Option<Curve> {
        let xs: Vec<f64> = points.iter().map(|(x, _)| *x).collect();
        let mut different = xs.clone();
        different.sort_unstable_by(f64::total_cmp);
        different.dedup();
        // A slope needs two values on its side of the knee.
        let inner = different.get(1..different.len().checked_sub(1)?).filter(|inner| inner.len() >= 2)?;
        let between = |two: &[f64]| {
            let (low, width) = (two[0], two[1] - two[0]);
            (0..BETWEEN).map(move |place| low + width * place as f64 / BETWEEN as f64)
        };
        let candidates = inner.windows(2).flat_map(between).chain(inner.last().copied()).collect::<Vec<_>>();
        let straight = vec![vec![1.0; xs.len()], xs];
        let shapes = LastColumn::new(&straight, candidates.iter().map(|at| bend(&straight[1], *at)));
        Some(Curve { straight, candidates, shapes })
    }

    fn bent(&self, at: f64) -> Vec<Vec<f64>> {
        let mut columns = self.straight.clone();
        columns.push(bend(&self.straight[1], at));
        columns
    }

    /// The candidate with the least squares.
    fn best(&self, ys: &[f64]) -> Option<(f64, Fit)> {
        let fits = self.candidates.iter().filter_map(|at| Some((*at, fit(&self.bent(*at), ys)?)));
        fits.min_by(|(_, one), (_, other)| one.rest.total_cmp(&other.rest))
    }

    /// How often normal noise about a line looks as clear; neither line nor strength of the noise matter.
    fn chance(&self, clear: f64, random: &mut Rng) -> f64 {
        let mut as_clear = 0;
        for _ in 0..DRAWN {
            let noise: Vec<f64> = self.straight[0].iter().map(|_| normal(random)).collect();
            as_clear += usize::from(self.shapes.best(&noise).is_some_and(|best| best.clearness >= clear));
        }
        (as_clear + 1) as f64 / (DRAWN + 1) as f64
    }

    /// Where the knee is found in curves made of the fitted one and noise as strong as what it leaves.
    fn interval(&self, bent: &Fit, at: f64, random: &mut Rng) -> Interval {
        let columns = self.bent(at);
        let count = columns[0].len();
        // Four numbers were fitted: two slopes, a height and a place.
        let deviation = (bent.rest / (count as f64 - 4.0).max(1.0)).sqrt();
        let mut places = Vec::with_capacity(DRAWN);
        for _ in 0..DRAWN {
            let height = |row: usize| {
                columns.iter().zip(&bent.weights).map(|(column, weight)| column[row] * weight).sum::<f64>()
            };
            let drawn: Vec<f64> = (0..count).map(|row| height(row) + deviation * normal(random)).collect();
            places.extend(self.shapes.best(&drawn).map(|best| self.candidates[best.shape]));
        }
        Interval { low: quantile(&places, 0.025), high: quantile(&places, 0.975) }
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::knee;
    use crate::noise::normal;

    fn points(turn: f64, deviation: f64, seed: u64) -> Vec<(f64, f64)> {
        let mut random = Rng::with_seed(seed);
        let height = |x: f64| 3.0 + 0.5 * x + turn * (x - 12.0).max(0.0);
        (0..25).map(|x| (f64::from(x), height(f64::from(x)) + deviation * normal(&mut random))).collect()
    }

    #[test]
    fn a_knee_is_found_where_it_is() {
        let knee = knee(&points(2.0, 0.3, 1), 0.05, 1).unwrap();
        assert!(knee.interval.contains(12.0) && knee.interval.width() < 2.0, "{knee:?}");
        assert!((knee.slope_below - 0.5).abs() < 0.1 && (knee.slope_above - 2.5).abs() < 0.1, "{knee:?}");
    }

    #[test]
    fn a_straight_line_seldom_shows_a_knee() {
        let alarms = (0..100).filter(|seed| knee(&points(0.0, 1.0, *seed), 0.05, *seed).is_some()).count();
        // 5 are expected of 100; 12 or more come once in 230 times.
        assert!(alarms < 12, "{alarms}");
    }

    #[test]
    fn the_order_of_points_does_not_matter() {
        let forward = points(2.0, 0.3, 2);
        let backward: Vec<(f64, f64)> = forward.iter().rev().copied().collect();
        let (one, other) = (knee(&forward, 0.05, 1).unwrap(), knee(&backward, 0.05, 1).unwrap());
        assert!((one.at - other.at).abs() < 1e-9);
    }

    #[test]
    fn too_few_points_have_no_knee() {
        assert_eq!(knee(&[(0.0, 0.0), (1.0, 0.0), (2.0, 5.0), (3.0, 10.0)], 0.05, 1), None);
        assert_eq!(knee(&[(1.0, 1.0); 9], 0.05, 1), None);
        assert_eq!(knee(&[], 0.05, 1), None);
    }
}
