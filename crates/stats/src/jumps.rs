//! Jumps: every gap between two tested values in which a curve rises or falls more than it does about it. What
//! [`cliff`](crate::cliff) asks of the whole curve is asked of each gap's neighbourhood, so that several jumps are found,
//! and one that goes down after one that went up.
//!
//! A jump is where to look closer: only measuring between its values tells a cliff from a steep slope.

use crate::cliff::{Bracket, LOWEST};
use crate::levels::{Level, levels, scatter};
use crate::student::t_two_sided;

/// Jumps must be this unlikely where there is none, all gaps taken together.
const ALARMS: f64 = 0.05;
/// Noise below this is not believed: three measurements can agree by chance.
const LEAST_SCATTER: f64 = 0.002;
/// The part of a gap's rise that its neighbourhood does not explain: less of it is a slope with a ripple.
const LEAST_SHARE: f64 = 0.45;
/// The variance of the median of three normal values over that of their mean.
const MEDIAN: f64 = 1.35;
/// The errors of the neighbourhood's slopes add to that of the gap's own rise: half of its variance each.
const ERROR: f64 = 1.42;

/// The jumps of points (tested value, measurement), the clearest first. Measurements count by their logarithms, so do
/// tested values where all are positive.
///
/// None for fewer than four tested values, where no value was measured twice, a number is not finite or a measurement
/// not positive.
pub fn jumps(points: &[(f64, f64)]) -> Vec<Bracket> {
    let Some(levels) = levels(points).filter(|levels| levels.len() >= 4) else { return Vec::new() };
    let Some((scatter, freedom)) = scatter(&levels) else { return Vec::new() };
    let scatter = scatter.max(LEAST_SCATTER);
    let gaps = levels.windows(2).map(|two| Gap::between(two, scatter, is_logarithmic(&levels))).collect::<Vec<_>>();
    let count = gaps.len() as f64;
    let mut found = Vec::new();
    for (gap, two) in levels.windows(2).enumerate() {
        let Gap { rise, width, error } = gaps[gap];
        let excess = excess(&gaps, gap) * width;
        if excess * rise <= 0.0 || rise.abs() < LOWEST.ln() {
            continue;
        }
        let clearness = excess.abs() / (error * ERROR);
        let p = t_two_sided(clearness, freedom).map_or(1.0, |p| (p * count).min(1.0));
        if excess.abs() >= LOWEST.ln().max(LEAST_SHARE * rise.abs()) && p <= ALARMS {
            let (below, above) = (two[0].at, two[1].at);
            let (level_below, level_above) = (two[0].height.exp(), two[1].height.exp());
            found.push((clearness, Bracket { below, above, level_below, level_above, p }));
        }
    }
    found.sort_by(|one, other| other.0.total_cmp(&one.0));
    found.into_iter().map(|(_, bracket)| bracket).collect()
}

/// One gap.
#[derive(Clone, Copy)]
struct Gap {
    rise: f64,
    width: f64,
    /// The standard error of the rise.
    error: f64,
}

impl Gap {
    fn between(two: &[Level], scatter: f64, is_logarithmic: bool) -> Gap {
        let scaled = |at: f64| if is_logarithmic { at.ln() } else { at };
        let variances = two.iter().map(|level| 1.0 / level.logs.len() as f64).sum::<f64>();
        Gap {
            rise: two[1].height - two[0].height,
            width: scaled(two[1].at) - scaled(two[0].at),
            error: scatter * (MEDIAN * variances).sqrt(),
        }
    }

    fn slope(self) -> f64 {
        self.rise / self.width
    }

    /// The slope that is there for certain: over a narrow gap mere noise is steep.
    fn sure_slope(self) -> f64 {
        self.rise.signum() * (self.rise.abs() - 2.0 * self.error).max(0.0) / self.width
    }
}

fn is_logarithmic(levels: &[Level]) -> bool {
    levels.first().is_some_and(|least| least.at > 0.0)
}

/// By how much a gap's slope exceeds all that smoothly joins those about it.
fn excess(gaps: &[Gap], gap: usize) -> f64 {
    // Of two gaps on a side the flatter one counts: the other may be a jump of its own.
    let flatter = |near: Option<f64>, far: Option<f64>| match (near, far) {
        (Some(near), Some(far)) if far.abs() < near.abs() => Some(far),
        (near, _) => near,
    };
    let at = |place: Option<usize>| Some(gaps.get(place?)?.sure_slope());
    let (left, right) = ([at(gap.checked_sub(1)), at(gap.checked_sub(2))], [at(Some(gap + 1)), at(Some(gap + 2))]);
    let mut around = [flatter(left[0], left[1]), flatter(right[0], right[1])].into_iter().flatten().collect::<Vec<_>>();
    for side in [left, right] {
        // At an end the slope may go on changing as it did.
        if let ([Some(near), Some(far)], 1) = (side, around.len()) {
            around = vec![near, far, 2.0 * near - far];
        }
    }
    let low = around.iter().copied().fold(f64::INFINITY, f64::min);
    let high = around.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let slope = gaps[gap].slope();
    (slope - high).max(0.0) + (slope - low).min(0.0)
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::jumps;
    use crate::noise::normal;

    /// Powers of two to 16K, each measured three times with noise of 5 %; the gaps found, in order.
    fn found(height: impl Fn(f64) -> f64, seed: u64) -> Vec<(f64, f64)> {
        let mut random = Rng::with_seed(seed);
        let values = (0..15).map(|power| 2_f64.powi(power));
        let measured = values.flat_map(|at| [at; 3]).map(|at| (at, height(at) * (0.05 * normal(&mut random)).exp()));
        let mut gaps: Vec<_> = jumps(&measured.collect::<Vec<_>>()).iter().map(|gap| (gap.below, gap.above)).collect();
        gaps.sort_by(|one, other| one.0.total_cmp(&other.0));
        gaps
    }

    #[test]
    fn a_jump_up_and_one_down_again_are_both_found() {
        for seed in 0..50 {
            let height = |at: f64| if (100.0..1500.0).contains(&at) { 40.0 } else { 1.0 };
            assert_eq!(found(height, seed), [(64.0, 128.0), (1024.0, 2048.0)]);
        }
    }

    #[test]
    fn stairs_are_found_even_in_neighbouring_gaps() {
        for seed in 0..50 {
            let height = |at: f64| if at < 100.0 { 1.0 } else { 3.0 } * if at < 200.0 { 1.0 } else { 3.0 };
            assert_eq!(found(height, seed), [(64.0, 128.0), (128.0, 256.0)]);
        }
    }

    #[test]
    fn a_jump_on_a_slope_is_found() {
        assert_eq!(found(|at| at * if at < 600.0 { 1.0 } else { 3.0 }, 1), [(512.0, 1024.0)]);
    }

    #[test]
    fn level_and_smooth_curves_seldom_show_a_jump() {
        let curves: [fn(f64) -> f64; 5] =
            [|_| 1.0, |at| at * at, |at| 50.0 + at, |at| 1.0 + 1000.0 / at, |at| 50.0_f64.max(at)];
        for curve in curves {
            let alarms = (0..200).filter(|seed| !found(curve, *seed).is_empty()).count();
            // 10 are allowed of 200; 19 or more come once in 150 times.
            assert!(alarms < 19, "{alarms}");
        }
    }

    #[test]
    fn single_measurements_and_few_values_show_no_jump() {
        let once: Vec<(f64, f64)> = (0..9).map(|at| (f64::from(at), if at < 4 { 1.0 } else { 9.0 })).collect();
        assert_eq!(jumps(&once), []);
        assert_eq!(jumps(&[(1.0, 1.0), (1.0, 1.0), (2.0, 9.0), (2.0, 9.0), (3.0, 9.0)]), []);
        assert_eq!(jumps(&[(1.0, 1.0), (1.0, 1.1), (2.0, 9.0), (3.0, 9.0), (4.0, 0.0)]), []);
    }
}
