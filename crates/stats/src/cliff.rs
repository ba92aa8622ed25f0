//! Cliffs: where a measurement jumps between two neighbouring values of a sweep, more than a slope or bend explains.

use fastrand::Rng;

use crate::last_column::LastColumn;
use crate::line::all_points_finite;
use crate::noise::normal;
use crate::surface::fit;

/// Curves of noise for the chance of a cliff.
const DRAWN: usize = 999;
/// A cliff must be this unlikely where there is none.
const ALARMS: f64 = 0.05;
/// And at least so high: a smaller ratio is a ripple, whatever its certainty.
pub(crate) const LOWEST: f64 = 1.1;
/// Fewer tested values cannot tell a cliff from a bend: line, jump and place take four numbers.
const FEWEST: usize = 5;

/// Two tested values between which a measurement jumps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracket {
    /// The tested value below the cliff.
    pub below: f64,
    /// The tested value above it.
    pub above: f64,
    /// The measurement's level just below, as fitted.
    pub level_below: f64,
    /// The measurement's level just above.
    pub level_above: f64,
    /// The chance of as clear a cliff where there is none.
    pub p: f64,
}

/// The clearest cliff of points (tested value, measurement), a value being tested once or more often. Measurements
/// count by their logarithms, so do tested values where all are positive.
///
/// `None` for fewer than five tested values, a number that is not finite, a measurement that is not positive, or where
/// a line or a parabola describes the points as well.
pub fn cliff(points: &[(f64, f64)]) -> Option<Bracket> {
    if !all_points_finite(points) || points.iter().any(|(_, y)| *y <= 0.0) {
        return None;
    }
    let sweep = Sweep::new(points)?;
    let heights: Vec<f64> = points.iter().map(|(_, y)| y.ln()).collect();
    let found = sweep.clearest(&heights)?;
    if found.rest >= sweep.smooth_rest(&heights)? || found.jump.abs() < LOWEST.ln() {
        return None;
    }
    let p = sweep.chance(found.clearness);
    let (below, above) = sweep.gaps[found.gap];
    let middle = f64::midpoint(sweep.scaled(below), sweep.scaled(above));
    let level_below = found.height + found.slope * middle;
    (p <= ALARMS).then(|| Bracket {
        below,
        above,
        level_below: level_below.exp(),
        level_above: (level_below + found.jump).exp(),
        p,
    })
}

/// A line with a jump in one gap.
struct Broken {
    gap: usize,
    height: f64,
    slope: f64,
    jump: f64,
    rest: f64,
    /// By which factor the jump lowers the squares that are left.
    clearness: f64,
}

/// What of the points does not depend on the measurements.
struct Sweep {
    values: Vec<f64>,
    gaps: Vec<(f64, f64)>,
    logarithmic: bool,
}

impl Sweep {
    fn new(points: &[(f64, f64)]) -> Option<Sweep> {
        let values: Vec<f64> = points.iter().map(|(x, _)| *x).collect();
        let mut different = values.clone();
        different.sort_unstable_by(f64::total_cmp);
        different.dedup();
        let logarithmic = different.first().is_some_and(|least| *least > 0.0);
        let gaps = different.windows(2).map(|two| (two[0], two[1])).collect();
        (different.len() >= FEWEST).then_some(Sweep { values, gaps, logarithmic })
    }

    fn scaled(&self, value: f64) -> f64 {
        if self.logarithmic { value.ln() } else { value }
    }

    fn line(&self) -> Vec<Vec<f64>> {
        vec![vec![1.0; self.values.len()], self.values.iter().map(|value| self.scaled(*value)).collect()]
    }

    fn smooth_rest(&self, heights: &[f64]) -> Option<f64> {
        let mut columns = self.line();
        columns.push(columns[1].iter().map(|x| x * x).collect());
        Some(fit(&columns, heights)?.rest)
    }

    /// What a jump at a gap adds to a line.
    fn jump(&self, above: f64) -> Vec<f64> {
        self.values.iter().map(|value| if *value >= above { 1.0 } else { 0.0 }).collect()
    }

    fn clearest(&self, heights: &[f64]) -> Option<Broken> {
        let mut columns = self.line();
        let straight = fit(&columns, heights)?.rest;
        columns.push(Vec::new());
        let mut best: Option<Broken> = None;
        for (gap, (_, above)) in self.gaps.iter().enumerate() {
            columns[2] = self.jump(*above);
            let Some(fit) = fit(&columns, heights) else { continue };
            if best.as_ref().is_none_or(|best| fit.rest < best.rest) {
                let clearness = straight / fit.rest.max(f64::MIN_POSITIVE);
                let [height, slope, jump] = fit.weights[..] else { continue };
                best = Some(Broken { gap, height, slope, jump, rest: fit.rest, clearness });
            }
        }
        best
    }

    /// How often normal noise about a line looks as clear; neither line nor strength of the noise matter.
    fn chance(&self, clearness: f64) -> f64 {
        // The same points give the same answer, hence a fixed seed.
        let mut random = Rng::with_seed(1);
        let jumps = LastColumn::new(&self.line(), self.gaps.iter().map(|(_, above)| self.jump(*above)));
        let mut as_clear = 0;
        for _ in 0..DRAWN {
            let noise: Vec<f64> = self.values.iter().map(|_| normal(&mut random)).collect();
            as_clear += usize::from(jumps.best(&noise).is_some_and(|best| best.clearness >= clearness));
        }
        (as_clear + 1) as f64 / (DRAWN + 1) as f64
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::cliff;
    use crate::noise::normal;

    const SIZES: [f64; 8] = [1.0, 16.0, 128.0, 512.0, 1024.0, 2048.0, 8192.0, 65536.0];

    /// Each size measured three times, with noise of 5 %.
    fn sweep(height: impl Fn(f64) -> f64, seed: u64) -> Vec<(f64, f64)> {
        let mut random = Rng::with_seed(seed);
        let mut three = |x: f64| [(); 3].map(|()| (x, height(x) * (0.05 * normal(&mut random)).exp()));
        SIZES.iter().flat_map(|size| three(*size)).collect()
    }

    #[test]
    fn a_stall_from_one_segment_on_is_a_cliff_between_the_sizes_around_it() {
        let found = cliff(&sweep(|size| if size > 1448.0 { 40.0 } else { 0.2 }, 1)).unwrap();
        assert_eq!((found.below, found.above), (1024.0, 2048.0));
        assert!((found.level_below / 0.2 - 1.0).abs() < 0.2 && (found.level_above / 40.0 - 1.0).abs() < 0.2);
    }

    #[test]
    fn a_cliff_may_go_down() {
        let found = cliff(&sweep(|size| if size > 100.0 { 1.0 } else { 2.0 }, 2)).unwrap();
        assert_eq!((found.below, found.above), (16.0, 128.0));
        assert!(found.level_above < found.level_below);
    }

    #[test]
    fn a_cliff_on_a_slope_is_found() {
        let found = cliff(&sweep(|size| size.powf(0.3) * if size > 600.0 { 2.0 } else { 1.0 }, 3)).unwrap();
        assert_eq!((found.below, found.above), (512.0, 1024.0));
    }

    #[test]
    fn power_laws_bends_and_small_ripples_are_no_cliffs() {
        assert_eq!(cliff(&sweep(|size| size, 4)), None);
        assert_eq!(cliff(&sweep(|size| (0.05 * size.ln().powi(2)).exp(), 5)), None);
        assert_eq!(cliff(&sweep(|size| if size > 100.0 { 1.02 } else { 1.0 }, 6)), None);
        // A fixed cost with one per byte: flat, then a line.
        assert_eq!(cliff(&sweep(|size| 1000.0 + size, 7)), None);
    }

    #[test]
    fn level_noise_seldom_shows_a_cliff() {
        let alarms = (0..200).filter(|seed| cliff(&sweep(|_| 1.0, *seed)).is_some()).count();
        assert!(alarms < 19, "{alarms}");
    }

    #[test]
    fn what_cannot_be_judged_is_no_cliff() {
        assert_eq!(cliff(&[]), None);
        assert_eq!(cliff(&[(1.0, 1.0), (2.0, 1.0), (3.0, 9.0), (4.0, 9.0)]), None);
        assert_eq!(cliff(&[(1.0, 1.0), (2.0, 1.0), (3.0, 9.0), (4.0, 9.0), (5.0, 0.0)]), None);
    }
}
