//! Growth: the power by which a cost grows at the upper end of its values, where what it costs anyway no longer counts.

use crate::interval::Interval;
use crate::levels::levels;
use crate::power_law::{PowerLaw, power_law};
use crate::student::t_quantile;
use crate::surface::fit;

/// A cost this many times the least one is no longer mostly fixed cost: what is fixed is at most a quarter of it.
const FLOOR: f64 = 4.0;
/// So many values must be left above the floor, over so large a range (three octaves); else the floor is fitted, too.
const FEWEST: usize = 4;
const LEAST_RANGE: f64 = 8.0;
/// A curve that does not even double has no floor that could be told from it.
const LEAST_RISE: f64 = 2.0;
/// All intervals.
const CONFIDENCE: f64 = 0.95;
/// A single power is given up where its curve is this unlikely to be one.
const ALARMS: f64 = 0.05;
/// Powers that a cost over a floor is tried with.
const POWERS: std::ops::RangeInclusive<u32> = 1..=600;
const POWER_STEP: f64 = 0.01;
/// A power whose interval lies above this is out of hand. Sorting, n log n, has the local power 1 + 1/ln n: at most 1.2
/// from 150 values on, where times begin to be measurable; the rest is for caches that a larger input leaves.
const OUT_OF_HAND: f64 = 1.25;
/// Over a smaller range of values, or of costs, a power says nothing about larger ones.
const TELLING_RANGE: f64 = 4.0;

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
    /// By which factor the cost rises between them.
    pub rise: f64,
}

impl Growth {
    /// Whether it grows faster than sorting would, beyond its interval.
    pub fn is_out_of_hand(&self) -> bool {
        self.interval.low > OUT_OF_HAND && self.to / self.from >= TELLING_RANGE && self.rise >= TELLING_RANGE
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
    match over_floor(&curve).filter(|_| rises) {
        Some(growth) => Some(growth),
        None => at_upper_end(&curve),
    }
}

fn range(curve: &[(f64, f64)]) -> f64 {
    curve[curve.len() - 1].0 / curve[0].0
}

fn of(curve: &[(f64, f64)], exponent: f64, interval: Interval) -> Growth {
    let ((from, least), (to, most)) = (curve[0], curve[curve.len() - 1]);
    Growth { exponent, interval, from, to, rise: most / least }
}

/// The power of the whole curve; where it bends, that of its upper half, with an interval that holds the lower half's
/// as well.
fn at_upper_end(curve: &[(f64, f64)]) -> Option<Growth> {
    let whole = power_law(curve, CONFIDENCE)?;
    if whole.curvature_p >= ALARMS {
        return Some(of(curve, whole.exponent, whole.interval));
    }
    let middle = curve.len() / 2;
    let (lower, upper) = (&curve[..=middle], &curve[middle.min(curve.len() - 3)..]);
    let (below, above) = (power_law(lower, CONFIDENCE)?, power_law(upper, CONFIDENCE)?);
    if is_power_of_its_own(upper, &above) && whole.curvature > 0.0 {
        return Some(of(upper, above.exponent, above.interval));
    }
    Some(of(curve, above.exponent, above.interval.reaching(below.exponent).reaching(above.exponent)))
}

/// Whether an upper half is long and straight enough to stand for itself: what grows slowly below a size, as by a fixed
/// cost that is small already, grows with its power above.
fn is_power_of_its_own(upper: &[(f64, f64)], law: &PowerLaw) -> bool {
    upper.len() > FEWEST && range(upper) >= LEAST_RANGE && law.curvature_p >= ALARMS
}

/// A power over a fixed cost: cost = floor + factor · value^power, by the least squares of relative errors; the interval
/// holds every power that fits hardly worse (a profile, by F).
fn over_floor(curve: &[(f64, f64)]) -> Option<Growth> {
    let freedom = curve.len() as f64 - 3.0;
    if freedom < 1.0 {
        return None;
    }
    let tried = POWERS.map(|step| f64::from(step) * POWER_STEP);
    let fits = tried.filter_map(|power| Some((power, rest(curve, power)?))).collect::<Vec<_>>();
    let (best, least) = fits.iter().copied().min_by(|one, other| one.1.total_cmp(&other.1))?;
    let reach = t_quantile(f64::midpoint(1.0, CONFIDENCE), freedom)?;
    let most = least * (1.0 + reach * reach / freedom);
    let within = || fits.iter().filter(|(_, rest)| *rest <= most).map(|(power, _)| *power);
    let interval = Interval { low: within().fold(best, f64::min), high: within().fold(best, f64::max) };
    Some(of(curve, best, interval))
}

/// What a floor and a power leave of the relative costs; `None` where the floor would be negative.
fn rest(curve: &[(f64, f64)], power: f64) -> Option<f64> {
    let largest = curve[curve.len() - 1].0;
    let floor = curve.iter().map(|(_, cost)| cost.recip()).collect::<Vec<_>>();
    let grown = curve.iter().map(|(at, cost)| (at / largest).powf(power) / cost).collect::<Vec<_>>();
    let ones = vec![1.0; curve.len()];
    let both = fit(&[floor, grown.clone()], &ones).filter(|fit| fit.weights.iter().all(|weight| *weight >= 0.0));
    both.or_else(|| fit(&[grown], &ones)).map(|fit| fit.rest)
}
