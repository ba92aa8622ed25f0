//! Stairs: the levels of a line of places of which only some were measured, each a few times, with noise that is known.
//!
//! [`change_points`](crate::change_points) asks the same of a sequence in which every place has one value and the noise
//! is learnt from it. Here places are few and dear: steps are found by binary segmentation as there, over means of known
//! error instead of ranks, and two values in agreement can be a level.

use crate::sample::median;

/// So many standard errors between two levels are a step: by chance once in 16,000 comparisons, of which a search of
/// sixty places makes that many.
const CLEAR: f64 = 4.0;
/// So many may be a step: by chance once in 80 comparisons.
const SUSPICIOUS: f64 = 2.5;
/// Fewer than so many speak for the same level.
const NEAR: f64 = 2.0;
/// Each place has a deviation of its own that repeating does not average out: where a program lies in memory.
const OWN_DEVIATION: f64 = 0.01;
/// The variance of the median of three normal values over that of their mean.
const MEDIAN: f64 = 1.35;
/// Two values further apart than this many deviations are not believed: one was disturbed.
const APART: f64 = 4.0;
/// A place that lies on neither level beside it is believed only then: by this many values, three of which would have to be
/// disturbed alike.
const LEAST_OF_ITS_OWN: usize = 5;
/// Standard errors to either side of an interval of 95 %.
const REACH: f64 = 1.96;

/// A place that was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The middle of its values.
    pub middle: f64,
    /// How many there are; a fraction where several places share a measurement.
    pub values: f64,
}

impl Place {
    /// The place of these values. Not a number without any.
    pub fn of(values: &[f64]) -> Place {
        Place { middle: median(values), values: values.len() as f64 }
    }

    fn variance(&self, deviation: f64) -> f64 {
        MEDIAN * deviation * deviation / self.values + OWN_DEVIATION * OWN_DEVIATION
    }
}

/// A step between two neighbouring places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The number of the first place of the new level.
    pub at: usize,
    /// The new level less the one before.
    pub size: f64,
    /// Lower end of the size's interval of 95 %.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The steps along places in order, whose values have this standard deviation. A step smaller than `least` counts as none.
pub fn stairs(places: &[Place], deviation: f64, least: f64) -> Vec<Step> {
    steps(places, &Line::of(places, deviation, least, CLEAR))
}

/// The same with those that are not certain: more values are to tell.
pub fn suspected_stairs(places: &[Place], deviation: f64, least: f64) -> Vec<Step> {
    steps(places, &Line::of(places, deviation, least, SUSPICIOUS))
}

fn steps(places: &[Place], line: &Line) -> Vec<Step> {
    let mut found = Vec::new();
    line.split(0, places.len(), &mut found);
    found.sort_unstable();
    // A first split among several steps may lie beside its step: between its neighbours there is but one.
    let mut refined: Vec<usize> = Vec::new();
    for (index, _) in found.iter().enumerate() {
        let from = refined.last().copied().unwrap_or(0);
        let to = found.get(index + 1).copied().unwrap_or(places.len());
        refined.extend(line.largest(from, to));
    }
    let ends = |index: usize| {
        let from = if index == 0 { 0 } else { refined[index - 1] };
        (from, refined.get(index + 1).copied().unwrap_or(places.len()))
    };
    let step = |(index, at): (usize, &usize)| {
        let (from, to) = ends(index);
        let (size, error) = line.difference(from, *at, to);
        Step { at: *at, size, low: size - REACH * error, high: size + REACH * error }
    };
    refined.iter().enumerate().map(step).collect()
}

/// What may hide where no step is clear: by how much the places from `at` on lie above those before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hidden {
    /// The size that was measured.
    pub size: f64,
    /// How many standard errors that is, whatever its sign.
    pub clearness: f64,
    /// The size that would be clear.
    pub least_clear: f64,
}

impl Hidden {
    /// That before the place `at`.
    pub fn before(places: &[Place], at: usize, deviation: f64) -> Hidden {
        let (size, error) = Line::of(places, deviation, 0.0, CLEAR).difference(0, at, places.len());
        Hidden { size, clearness: size.abs() / error, least_clear: CLEAR * error }
    }
}

/// Whether the values of a place tell enough about the levels beside it: whether it lies on one of them, or on neither.
pub fn is_settled(values: &[f64], levels: [f64; 2], deviation: f64) -> bool {
    let range = values.iter().fold(f64::NEG_INFINITY, |most, value| most.max(*value))
        - values.iter().fold(f64::INFINITY, |least, value| least.min(*value));
    if values.len() < 2 || (values.len() == 2 && range > APART * deviation) {
        return false;
    }
    let place = Place::of(values);
    let error = place.variance(deviation).sqrt();
    let [near, far] = {
        let [one, other] = levels.map(|level| (place.middle - level).abs() / error);
        [one.min(other), one.max(other)]
    };
    far >= CLEAR && (near <= NEAR || (near >= CLEAR && values.len() >= LEAST_OF_ITS_OWN))
}

/// Whether two places are clearly on different levels, by their own values alone.
pub fn differ(one: &[f64], other: &[f64], deviation: f64) -> bool {
    let (one, other) = (Place::of(one), Place::of(other));
    let error = (one.variance(deviation) + other.variance(deviation)).sqrt();
    (one.middle - other.middle).abs() >= CLEAR * error
}

/// Sums over the first places, each weighted by how certain it is.
struct Line {
    weights: Vec<f64>,
    weighted: Vec<f64>,
    least: f64,
    /// How many standard errors make a step.
    clear: f64,
}

impl Line {
    fn of(places: &[Place], deviation: f64, least: f64, clear: f64) -> Line {
        let (mut weights, mut weighted) = (vec![0.0], vec![0.0]);
        for (index, place) in places.iter().enumerate() {
            let weight = place.variance(deviation).recip();
            weights.push(weights[index] + weight);
            weighted.push(weighted[index] + weight * place.middle);
        }
        Line { weights, weighted, least, clear }
    }

    /// The level of some places, and how certain it is.
    fn level(&self, from: usize, to: usize) -> (f64, f64) {
        let weight = self.weights[to] - self.weights[from];
        ((self.weighted[to] - self.weighted[from]) / weight, weight)
    }

    /// By how much the places from `at` lie above those before it, and the standard error of that.
    fn difference(&self, from: usize, at: usize, to: usize) -> (f64, f64) {
        let ((before, one), (after, other)) = (self.level(from, at), self.level(at, to));
        (after - before, (one.recip() + other.recip()).sqrt())
    }

    /// Where the places from one to another split most clearly, if they do.
    fn largest(&self, from: usize, to: usize) -> Option<usize> {
        let clearness = |at: &usize| {
            let (size, error) = self.difference(from, *at, to);
            size.abs() / error
        };
        let best = (from + 1..to).max_by(|one, other| clearness(one).total_cmp(&clearness(other)))?;
        let is_large = self.difference(from, best, to).0.abs() >= self.least;
        (is_large && clearness(&best) >= self.clear).then_some(best)
    }

    fn split(&self, from: usize, to: usize, found: &mut Vec<usize>) {
        if let Some(at) = self.largest(from, to) {
            found.push(at);
            self.split(from, at, found);
            self.split(at, to, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::{Hidden, Place, is_settled, stairs};
    use crate::noise::normal;

    /// Places at these levels, each measured `values` times with noise of 0.05.
    fn places(levels: &[f64], values: usize, random: &mut Rng) -> Vec<Place> {
        let place = |level: &f64| Place::of(&(0..values).map(|_| level + 0.05 * normal(random)).collect::<Vec<_>>());
        levels.iter().map(place).collect()
    }

    #[test]
    fn steps_up_and_down_are_found_where_they_are() {
        let levels = [0.0, 0.0, 0.5, 0.5, 0.5, 0.2, 0.2, 1.0, 1.0];
        let mut held = 0;
        for seed in 0..200 {
            let found = stairs(&places(&levels, 4, &mut Rng::with_seed(seed)), 0.05, 0.05);
            assert_eq!(found.iter().map(|step| step.at).collect::<Vec<_>>(), [2, 5, 7], "{seed}: {found:?}");
            let truths = [0.5, -0.3, 0.8];
            held += found.iter().zip(truths).filter(|(step, truth)| (step.low..step.high).contains(truth)).count();
        }
        // 570 of 600 are promised.
        assert!(held >= 555, "{held}");
    }

    #[test]
    fn a_level_line_seldom_shows_a_step() {
        let alarms = |seed: u64| stairs(&places(&[0.3; 40], 2, &mut Rng::with_seed(seed)), 0.05, 0.0).len();
        let alarms = (0..1_000).filter(|seed| alarms(*seed) > 0).count();
        assert!(alarms <= 5, "{alarms}");
    }

    #[test]
    fn a_step_too_small_for_one_place_shows_in_many() {
        let mut random = Rng::with_seed(2);
        let short = stairs(&places(&[0.0, 0.1], 2, &mut random), 0.05, 0.0);
        let levels = [[0.0; 10], [0.1; 10]].concat();
        let long = stairs(&places(&levels, 2, &mut random), 0.05, 0.0);
        assert_eq!((short.len(), long.len()), (0, 1), "{short:?} {long:?}");
        assert!(stairs(&places(&levels, 2, &mut random), 0.05, 0.3).is_empty(), "smaller than what counts");
    }

    #[test]
    fn what_would_be_clear_is_found_nearly_always_and_half_of_it_seldom() {
        let clear = Hidden::before(&places(&[0.0; 6], 3, &mut Rng::with_seed(1)), 2, 0.05).least_clear;
        let found = |size: f64| {
            let levels = [[0.0; 2].as_slice(), &[size; 4]].concat();
            let steps = |seed| stairs(&places(&levels, 3, &mut Rng::with_seed(seed)), 0.05, 0.0);
            (0..100).filter(|seed| steps(*seed).len() == 1).count()
        };
        let [large, small] = [found(1.5 * clear), found(0.5 * clear)];
        assert!(large > 95 && small < 5, "{large} {small}");
        let seen = Hidden::before(&places(&[0.0, 0.0, 1.0, 1.0], 3, &mut Rng::with_seed(1)), 2, 0.05);
        assert!((seen.size - 1.0).abs() < 0.1 && seen.clearness > 20.0, "{seen:?}");
    }

    #[test]
    fn nothing_and_a_single_place_have_no_steps() {
        assert!(stairs(&[], 0.1, 0.0).is_empty());
        assert!(stairs(&[Place { middle: 3.0, values: 2.0 }], 0.1, 0.0).is_empty());
    }

    #[test]
    fn a_place_is_settled_on_a_level_or_clearly_off_both() {
        let settled = |values: &[f64]| is_settled(values, [0.0, 1.0], 0.05);
        assert!(settled(&[0.01, -0.02]) && settled(&[1.03, 0.98]));
        assert!(settled(&[0.5, 0.52, 0.51, 0.49, 0.5]) && !settled(&[0.5, 0.52, 0.51, 0.49]));
        assert!(!settled(&[0.01]), "a single value");
        assert!(!settled(&[0.01, 0.4]), "two that do not agree");
        assert!(settled(&[0.01, 0.4, -0.01]), "two of three that do");
        assert!(!settled(&[0.13, 0.13]), "neither on it nor off it");
        assert!(!is_settled(&[0.0, 0.0], [0.0, 0.1], 0.05), "levels too near to each other");
    }
}
