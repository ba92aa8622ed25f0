//! A power over a fixed cost, as of a program that takes a while to start: cost = floor + factor · value^power.

use crate::interval::Interval;
use crate::knee::Knee;
use crate::sample::mean;
use crate::student::t_quantile;
use crate::surface::fit;

/// Powers that are tried: in equal steps up to 6, then in equal ratios, since what is exponential passes for any power.
const EQUAL_STEPS: std::ops::RangeInclusive<u32> = 1..=600;
const STEP: f64 = 0.01;
const EQUAL_RATIOS: std::ops::RangeInclusive<i32> = 1..=100;
const RATIO: f64 = 1.02;
/// What a knee is held against goes by coarser steps: powers up to 6, and a fixed part that is halved twenty times.
const MOST_OF_TENTHS: u32 = 60;
const MOST_OF_HALVINGS: u32 = 40;
/// By so much must a bent line leave less than a power over a fixed cost does, whatever the noise: what memory costs is
/// no straight line either.
const CLEARER: f64 = 2.0;

/// A fitted power.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OverFloor {
    pub power: f64,
    pub interval: Interval,
}

/// The power by the least squares of relative errors; the interval holds every power that fits hardly worse (a profile,
/// by F). `None` for fewer than four points.
pub(crate) fn over_floor(curve: &[(f64, f64)], confidence: f64) -> Option<OverFloor> {
    let freedom = curve.len() as f64 - 3.0;
    if freedom < 1.0 {
        return None;
    }
    let fits = powers().filter_map(|power| Some((power, rest(curve, power)?))).collect::<Vec<_>>();
    let (best, least) = fits.iter().copied().min_by(|one, other| one.1.total_cmp(&other.1))?;
    let reach = t_quantile(f64::midpoint(1.0, confidence), freedom)?;
    let most = least * (1.0 + reach * reach / freedom);
    let within = || fits.iter().filter(|(_, rest)| *rest <= most).map(|(power, _)| *power);
    let interval = Interval { low: within().fold(best, f64::min), high: within().fold(best, f64::max) };
    Some(OverFloor { power: best, interval })
}

/// Whether a knee of the points (value, cost), as it was found in their logarithms, is sharper than what a power over a
/// fixed cost makes: that one bends gently, over an octave or two, and marks no limit of anything.
pub fn is_sharp(curve: &[(f64, f64)], knee: &Knee) -> bool {
    let freedom = curve.len() as f64 - 4.0;
    let Some(reach) = t_quantile(0.975, freedom).filter(|_| freedom >= 1.0) else { return false };
    let powers = (1..=MOST_OF_TENTHS).map(|tenths| f64::from(tenths) / 10.0);
    let smooth = powers.flat_map(|power| [power, -power]).map(|power| smooth(curve, power));
    let smooth = smooth.fold(f64::INFINITY, f64::min);
    smooth > bent(curve, knee) * CLEARER.max(1.0 + reach * reach / freedom)
}

fn powers() -> impl Iterator<Item = f64> {
    let steps = EQUAL_STEPS.map(|step| f64::from(step) * STEP);
    let last = f64::from(*EQUAL_STEPS.end()) * STEP;
    steps.chain(EQUAL_RATIOS.map(move |ratio| last * RATIO.powi(ratio)))
}

/// The squares that two lines leave of the logarithms.
fn bent(curve: &[(f64, f64)], knee: &Knee) -> f64 {
    let shape = |at: f64| if at < knee.at { knee.slope_below } else { knee.slope_above } * (at - knee.at);
    let rests = curve.iter().map(|(at, cost)| cost.ln() - shape(at.ln())).collect::<Vec<_>>();
    let height = mean(&rests);
    rests.iter().map(|rest| (rest - height).powi(2)).sum()
}

/// The squares that a power over a fixed cost leaves of the logarithms, whatever part of it is fixed.
fn smooth(curve: &[(f64, f64)], power: f64) -> f64 {
    let Some(((first, _), (last, _))) = curve.first().zip(curve.last()) else { return f64::INFINITY };
    let end = if power < 0.0 { first } else { last };
    let rest = |halvings: u32| {
        let fixed = 0.5_f64.powf(f64::from(halvings) / 2.0);
        let rests =
            curve.iter().map(|(at, cost)| (fixed + (at / end).powf(power)).ln() - cost.ln()).collect::<Vec<_>>();
        let height = mean(&rests);
        rests.iter().map(|rest| (rest - height).powi(2)).sum::<f64>()
    };
    (0..=MOST_OF_HALVINGS).map(rest).fold(f64::INFINITY, f64::min)
}

/// The squares that a floor and a power leave of the relative costs, or the power alone where the floor would be negative.
fn rest(curve: &[(f64, f64)], power: f64) -> Option<f64> {
    let (end, _) = curve.last()?;
    let floor = curve.iter().map(|(_, cost)| cost.recip()).collect::<Vec<_>>();
    let grown = curve.iter().map(|(at, cost)| (at / end).powf(power) / cost).collect::<Vec<_>>();
    let ones = vec![1.0; curve.len()];
    let both = fit(&[floor, grown.clone()], &ones).filter(|fit| fit.weights.iter().all(|weight| *weight >= 0.0));
    both.or_else(|| fit(&[grown], &ones)).map(|fit| fit.rest)
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::is_sharp;
    use crate::knee::knee;
    use crate::noise::normal;

    /// How many of 40 sweeps through powers of two show a sharp knee, with noise of 3 %.
    fn sharp(cost: impl Fn(f64) -> f64) -> usize {
        sharp_in(0.03, cost)
    }

    fn sharp_in(noise: f64, cost: impl Fn(f64) -> f64) -> usize {
        let is_found = |seed: &u64| {
            let mut random = Rng::with_seed(*seed);
            let values = (0..15).map(|power| 2_f64.powi(power));
            let curve = values.map(|at| (at, cost(at) * (noise * normal(&mut random)).exp())).collect::<Vec<_>>();
            let logs = curve.iter().map(|(at, cost)| (at.ln(), cost.ln())).collect::<Vec<_>>();
            knee(&logs, 0.05, *seed).is_some_and(|knee| is_sharp(&curve, &knee))
        };
        (0..40).filter(is_found).count()
    }

    #[test]
    fn a_limit_that_is_reached_is_a_sharp_knee() {
        assert!(sharp(|at| (at / 200.0).max(1.0)) >= 36);
        assert!(sharp(|at| (200.0 / at).max(1.0)) >= 36);
    }

    #[test]
    fn a_fixed_cost_that_gives_way_is_none() {
        assert!(sharp(|at| 1.0 + at / 200.0) <= 2);
        assert!(sharp(|at| 1.0 + (at / 200.0).powi(2)) <= 2);
        assert!(sharp(|at| 1.0 + 200.0 / at) <= 2);
        // On a busy machine.
        assert!(sharp_in(0.3, |at| 1.0 + (at / 200.0).powf(1.5)) <= 4);
        // A cache is left, too.
        assert!(sharp(|at| 1.0 + at / 200.0 * if at < 3000.0 { 1.0 } else { 1.5 }) <= 4);
    }

    #[test]
    fn few_points_show_no_sharp_knee() {
        let curve = [(1.0, 1.0), (2.0, 1.0), (4.0, 2.0), (8.0, 4.0)];
        let logs = curve.map(|(at, cost): (f64, f64)| (at.ln(), cost.ln()));
        assert!(knee(&logs, 0.05, 1).is_none_or(|knee| !is_sharp(&curve, &knee)));
    }
}
