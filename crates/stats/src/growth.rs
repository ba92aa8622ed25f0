//! Growth: the power by which a cost grows at the upper end of its values, where fixed costs no longer count.

use crate::interval::Interval;
use crate::levels::levels;
use crate::line::theil_sen;
use crate::over_floor::over_floor;
use crate::power_law::{PowerLaw, power_law};

/// A cost this many times the least one is no longer mostly fixed: at most a quarter of it is.
const FLOOR: f64 = 4.0;
/// This many values must be left above the floor, over this large a range (three octaves); else the floor is fitted, too.
const FEWEST: usize = 4;
const LEAST_RANGE: f64 = 8.0;
/// A fitted floor and a step together can look like this much of a rise, which then says nothing about the power.
const FITTED: f64 = 8.0;
/// A curve that does not even double cannot be distinguished from its floor.
const LEAST_RISE: f64 = 2.0;
/// Fewer values are too few to be split in halves.
const FEW: usize = 6;
/// The confidence of all intervals.
const CONFIDENCE: f64 = 0.95;
/// A single power is given up where its curve is this unlikely to be one.
const ALARMS: f64 = 0.05;
/// A power whose interval lies above this is out of hand. Sorting, n log n, has the local power 1 + 1/ln n: at most 1.2
/// from 150 values on, where times begin to be measurable. Memory that outgrows cache after cache adds to that: random
/// reads were seen to grow with a power of 1.4, and a garbage collector, at constant instructions per value, of 1.5.
const OUT_OF_HAND: f64 = 1.5;
/// Over a smaller range of values, or of costs, a power says nothing about larger ones.
const CONCLUSIVE_RANGE: f64 = 4.0;
/// But a power above this is conclusive over any range: no cache makes it of a proportional cost, and what doubles with
/// each further value, such as an exhaustive search, gets through few values before it takes too long.
const STEEP: f64 = 2.0;
/// No memory makes each value cost this many times more: where the rise is larger, only sorting has to be excluded. The
/// last values have no interval of their own: their power, too, must exceed that of sorting.
const OF_MEMORY: f64 = 30.0;
const LASTING: f64 = 1.25;

/// How a cost grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// The power at the upper end: 1 is proportional, 2 quadratic.
    pub exponent: f64,
    /// Its interval: of the fit, and where no single power fits, of the lower and upper half.
    pub interval: Interval,
    /// The smallest value that it rests on.
    pub from: f64,
    /// The largest.
    pub to: f64,
    /// By which factor the cost rises between them; an eighth of it where a fixed cost had to be fitted, too.
    pub rise: f64,
    /// The power of the last values alone, a factor of four: where memory left a cache below them, it is lower again.
    pub last: f64,
}

impl Growth {
    /// Whether it grows faster than sorting would, beyond its interval.
    pub fn is_out_of_hand(&self) -> bool {
        let range = self.to / self.from;
        let most_of_memory = if self.rise >= OF_MEMORY * range { LASTING } else { OUT_OF_HAND };
        let lasts = self.interval.low > most_of_memory && self.exponent > OUT_OF_HAND && self.last > LASTING;
        let is_conclusive = range >= CONCLUSIVE_RANGE || self.interval.low > STEEP;
        lasts && is_conclusive && self.rise >= CONCLUSIVE_RANGE
    }
}

/// The growth of points (value, cost), a value being tested once or more often: its median counts.
///
/// Values with a cost below four times the least are left out; where too few are left, a fixed cost is fitted beside the
/// power. `None` for fewer than four values, and for a number that is not positive and finite.
pub fn growth(points: &[(f64, f64)]) -> Option<Growth> {
    let levels = levels(points)?;
    let curve = levels.iter().map(|level| (level.at, level.height.exp())).collect::<Vec<_>>();
    if curve.len() < FEWEST || curve[0].0 <= 0.0 {
        return None;
    }
    let least = curve.iter().map(|(_, cost)| *cost).fold(f64::INFINITY, f64::min);
    let start = curve.iter().rposition(|(_, cost)| *cost < FLOOR * least).map_or(0, |last| last + 1);
    let upper = &curve[start..];
    if upper.len() >= FEWEST && range(upper) >= LEAST_RANGE {
        return at_upper_end(upper);
    }
    let rises = curve[curve.len() - 1].1 / curve[0].1 >= LEAST_RISE;
    match over_fixed_cost(&curve).filter(|_| rises) {
        Some(growth) => Some(growth),
        None => at_upper_end(&curve),
    }
}

fn range(curve: &[(f64, f64)]) -> f64 {
    curve[curve.len() - 1].0 / curve[0].0
}

fn of(curve: &[(f64, f64)], exponent: f64, interval: Interval) -> Growth {
    let ((from, least), (to, most)) = (curve[0], curve[curve.len() - 1]);
    Growth { exponent, interval, from, to, rise: most / least, last: last(curve).unwrap_or(exponent) }
}

/// The power of the last values: as many as span a conclusive range, and two at least.
fn last(curve: &[(f64, f64)]) -> Option<f64> {
    let (largest, _) = curve.last()?;
    let within = curve.iter().filter(|(at, _)| *at * CONCLUSIVE_RANGE >= *largest * (1.0 - 1e-9)).count();
    let last = &curve[curve.len() - within.clamp(2, curve.len())..];
    let points = last.iter().map(|(at, cost)| (at.ln(), cost.ln())).collect::<Vec<_>>();
    let ends = || (points[points.len() - 1].1 - points[0].1) / (points[points.len() - 1].0 - points[0].0);
    let slope = theil_sen(&points, CONFIDENCE).map_or_else(ends, |line| line.slope);
    slope.is_finite().then_some(slope)
}

/// The power of the whole curve; where it bends, that of its upper half, with an interval that holds the lower half's
/// as well.
fn at_upper_end(curve: &[(f64, f64)]) -> Option<Growth> {
    let whole = power_law(curve, CONFIDENCE)?;
    if whole.curvature_p >= ALARMS {
        return Some(of(curve, whole.exponent, whole.interval));
    }
    let half = (curve.len() / 2 + 1).max(FEWEST);
    let (lower, upper) = (&curve[..half], &curve[curve.len() - half..]);
    let (below, above) = (power_law(lower, CONFIDENCE)?, power_law(upper, CONFIDENCE)?);
    if is_power_of_its_own(upper, &above) && whole.curvature > 0.0 {
        return Some(of(curve, above.exponent, above.interval));
    }
    // Of so few values a half has no interval of its own; what the whole leaves holds the bend already.
    let (exponent, interval) =
        if curve.len() < FEW { (whole.exponent, whole.interval) } else { (above.exponent, above.interval) };
    Some(of(curve, exponent, interval.reaching(below.exponent).reaching(above.exponent)))
}

/// Whether an upper half is long and straight enough to stand for itself: what grows slowly below a size, as by a fixed
/// cost that is small already, grows with its power above.
fn is_power_of_its_own(upper: &[(f64, f64)], law: &PowerLaw) -> bool {
    upper.len() > FEWEST && range(upper) >= LEAST_RANGE && law.curvature_p >= ALARMS
}

/// A power over a fixed cost, where too little of the curve lies above it.
fn over_fixed_cost(curve: &[(f64, f64)]) -> Option<Growth> {
    let found = over_floor(curve, CONFIDENCE)?;
    let growth = of(curve, found.power, found.interval);
    Some(Growth { rise: growth.rise / FITTED, ..growth })
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::{Growth, growth};
    use crate::noise::normal;

    /// Powers of two from 1 to `most` (and `most`), each measured three times with so much noise.
    fn measured(most: f64, cost: impl Fn(f64) -> f64, noise: f64, seed: u64) -> Vec<(f64, f64)> {
        let mut random = Rng::with_seed(seed);
        let values = (0..).map(|power| 2_f64.powi(power)).take_while(|at| *at < most).chain([most]);
        values.flat_map(|at| [at; 3]).map(|at| (at, cost(at) * (noise * normal(&mut random)).exp())).collect()
    }

    fn grown(most: f64, cost: impl Fn(f64) -> f64, noise: f64, seed: u64) -> Growth {
        growth(&measured(most, cost, noise, seed)).unwrap()
    }

    /// How many of 200 are called out of hand.
    fn accused(most: f64, cost: impl Fn(f64) -> f64 + Copy, noise: f64) -> usize {
        (0..200).filter(|seed| grown(most, cost, noise, *seed).is_out_of_hand()).count()
    }

    /// Twice as much from an octave on, which the rise takes: a cache that no longer holds it.
    fn step(at: f64, from: f64) -> f64 {
        2_f64.powf((at / from).log2().clamp(0.0, 1.0))
    }

    #[test]
    fn what_grows_no_faster_than_sorting_is_hardly_ever_called_out_of_hand() {
        for (most, noise) in [(64.0, 0.05), (1000.0, 0.05), (16384.0, 0.1)] {
            assert_eq!(accused(most, |n| n, noise), 0, "proportional");
            assert_eq!(accused(most, |n| 50.0 + n, noise), 0, "proportional over a fixed cost");
            assert_eq!(accused(most, |n| 150.0 * n * (150.0 * n).ln(), noise), 0, "n log n");
            assert_eq!(accused(most, f64::sqrt, noise), 0, "square root");
            assert_eq!(accused(most, |_| 1.0, noise), 0, "level");
        }
    }

    #[test]
    fn a_cache_that_is_left_is_no_growth_out_of_hand_wherever_it_is_left() {
        for (most, noise) in [(64.0, 0.05), (256.0, 0.05), (1000.0, 0.1), (16384.0, 0.1)] {
            for half_octave in 0..2 * f64::log2(most) as i32 {
                let from = 2_f64.powf(f64::from(half_octave) / 2.0);
                let alarms = accused(most, |n| n * step(n, from), noise);
                let over_fixed_cost = accused(most, |n| (50.0 + n) * step(n, from), noise);
                assert!(alarms.max(over_fixed_cost) <= 4, "{most} from {from}: {alarms}, {over_fixed_cost} of 200");
            }
        }
    }

    #[test]
    fn random_reads_of_memory_that_leaves_cache_after_cache_are_no_growth_out_of_hand() {
        // What was measured of a program that reads each word of 0.5 to 128 MiB four times, in random order.
        let reads = [0.93, 2.25, 4.81, 10.6, 40.8, 98.7, 347.0, 696.0, 1470.0];
        let curve = (0..).map(|power| 2_f64.powi(power)).zip(reads).collect::<Vec<_>>();
        let found = growth(&curve).unwrap();
        assert!(!found.is_out_of_hand(), "{found:?}");
    }

    #[test]
    fn memory_that_costs_more_the_more_there_is_is_not_out_of_hand() {
        // What was measured of a program that makes cyclic objects, on a busy machine: a garbage collector goes over
        // all of them now and then. By instructions it is proportional.
        let curve = [70.7, 81.6, 109.0, 102.0, 152.0, 215.0, 449.0, 1160.0, 2960.0];
        let curve = (0..).map(|power| 2_f64.powi(power)).zip(curve).collect::<Vec<_>>();
        assert!(!growth(&curve).unwrap().is_out_of_hand());
        assert!(accused(1000.0, |n| n.powf(1.5), 0.1) <= 10, "nobody can tell it from that");
    }

    #[test]
    fn powers_of_one_and_three_quarters_and_more_are_out_of_hand() {
        for (most, noise) in [(64.0, 0.05), (1000.0, 0.1), (16384.0, 0.1)] {
            assert!(accused(most, |n| n.powf(1.75), noise) >= 190);
            assert!(accused(most, |n| n * n, noise) >= 195);
            assert!(accused(most, |n| 50.0 + n * n, noise) >= 180, "over a fixed cost");
        }
        // Quadratic with a small factor: it shows at the upper end only.
        let late = |noise: f64| accused(16384.0, |n| n + n * n / 100.0, noise);
        assert!(late(0.05) >= 190 && late(0.1) >= 130, "{} {}", late(0.05), late(0.1));
    }

    #[test]
    fn fixed_cost_does_not_hide_the_power() {
        for seed in 0..50 {
            let found = grown(1000.0, |n| 50.0 + n * n, 0.05, seed);
            // Up to a quarter of the least cost that counts is still fixed.
            assert!(found.exponent > 1.8 && found.interval.high > 1.9, "{found:?}");
            assert!((8.0..=32.0).contains(&found.from), "{found:?}");
        }
    }

    #[test]
    fn the_interval_holds_the_power_as_often_as_it_says() {
        let holds = |power: f64| {
            let found = |seed| grown(1000.0, |n: f64| n.powf(power), 0.1, seed);
            (0..200).filter(|seed| found(*seed).interval.contains(power)).count()
        };
        // 190 are expected; fewer than 180 come once in 700 times.
        assert!(holds(1.0) >= 180 && holds(2.0) >= 180, "{} {}", holds(1.0), holds(2.0));
    }

    #[test]
    fn a_cost_that_falls_has_a_negative_power() {
        let found = grown(64.0, |n| 1000.0 / n, 0.01, 1);
        assert!((found.exponent + 1.0).abs() < 0.02 && !found.is_out_of_hand(), "{found:?}");
    }

    #[test]
    fn what_cannot_be_fitted_has_no_growth() {
        assert_eq!(growth(&[(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]), None);
        assert_eq!(growth(&[(0.0, 1.0), (1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]), None);
        assert_eq!(growth(&[(1.0, 0.0), (2.0, 1.0), (3.0, 2.0), (4.0, 3.0)]), None);
        assert_eq!(growth(&[(1.0, f64::NAN), (2.0, 1.0), (3.0, 2.0), (4.0, 3.0)]), None);
        assert_eq!(growth(&[]), None);
    }
}
