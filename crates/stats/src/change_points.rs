//! Change points: where a sequence of measurements steps to another level, by binary segmentation over ranks.
//!
//! Ranks keep single outliers from looking like steps. A step counts where shuffling the sequence hardly ever makes as
//! large a one; that supposes that without a step the values follow each other in no order, so a slow drift counts as
//! steps too.

use fastrand::Rng;

use crate::interval::Interval;
use crate::ranks::midranks_doubled;
use crate::sample::{all_finite, median, quantile};

/// Shortest stretch between steps: fewer values cannot show a level.
const SHORTEST: usize = 4;
/// Shuffles for each question whether there is a step; the finest chance they can show is one in 2,000.
const SHUFFLES: usize = 1_999;
/// Redrawn sequences for the interval of a place; its ends are quantiles, read to a fiftieth.
const REDRAWN: usize = 499;

/// A step from one level to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// The place of the first value of the new level, counted from 0.
    pub at: usize,
    /// Where that place may be as well, with 95 % confidence.
    pub interval: Interval,
    /// The median from the step before to here.
    pub before: f64,
    /// The median from here to the next step.
    pub after: f64,
    /// The chance of as large a step in the same values without order.
    pub p: f64,
}

/// The steps in `values`, in order. Of sequences without any, at most the share `alarms` (as 0.05) shows one or more:
/// each part of a sequence that was split gets of it what its length is of the whole.
pub fn change_points(values: &[f64], alarms: f64, seed: u64) -> Vec<ChangePoint> {
    if !all_finite(values) {
        return Vec::new();
    }
    let mut random = Rng::with_seed(seed);
    let mut found = Vec::new();
    split(values, 0, alarms / values.len() as f64, &mut random, &mut found);
    found.sort_unstable_by_key(|(at, _)| *at);
    let places: Vec<usize> = found.iter().map(|(at, _)| *at).collect();
    let ends = |index: usize| {
        let start = if index == 0 { 0 } else { places[index - 1] };
        (start, places.get(index + 1).copied().unwrap_or(values.len()))
    };
    let step = |(index, (at, p)): (usize, &(usize, f64))| {
        let (start, end) = ends(index);
        located(&values[start..end], start, *at - start, *p, &mut random)
    };
    found.iter().enumerate().map(step).collect()
}

/// Finds the largest step of `values`, which start at `offset`, and goes on within both sides of it.
fn split(values: &[f64], offset: usize, alarms_each: f64, random: &mut Rng, found: &mut Vec<(usize, f64)>) {
    let mut ranks = centered_ranks(values);
    let Some((at, size)) = largest(&ranks) else { return };
    let allowed = alarms_each * values.len() as f64;
    // As soon as so many shuffles are as large, the chance is too large whatever the rest of them say.
    let most = (allowed * (SHUFFLES + 1) as f64) as usize;
    let mut as_large = 0;
    for _ in 0..SHUFFLES {
        random.shuffle(&mut ranks);
        as_large += usize::from(largest(&ranks).is_some_and(|(_, shuffled)| shuffled >= size));
        if as_large + 1 > most {
            return;
        }
    }
    found.push((offset + at, (as_large + 1) as f64 / (SHUFFLES + 1) as f64));
    split(&values[..at], offset, alarms_each, random, found);
    split(&values[at..], offset + at, alarms_each, random, found);
}

/// The step near `at` of a stretch that holds no other, with the interval of its place: sequences are drawn again from
/// the values of each side, and their step is looked for.
fn located(values: &[f64], offset: usize, at: usize, p: f64, random: &mut Rng) -> ChangePoint {
    let at = nearest(values, at);
    let (left, right) = values.split_at(at);
    let mut places = Vec::with_capacity(REDRAWN);
    let mut drawn = values.to_vec();
    for _ in 0..REDRAWN {
        for (place, value) in drawn.iter_mut().enumerate() {
            let side = if place < at { left } else { right };
            *value = side[random.usize(..side.len())];
        }
        let found = largest(&centered_ranks(&drawn)).map(|(place, _)| nearest(&drawn, place));
        places.extend(found.map(|place| (offset + place) as f64));
    }
    let end = |share: f64| quantile(&places, share).round();
    let interval = Interval { low: end(0.025), high: end(0.975) }.reaching((offset + at) as f64);
    ChangePoint { at: offset + at, interval, before: median(left), after: median(right), p }
}

/// The place that parts the values best into near the median of those before `at` and near the median of those after;
/// ranks tell that there is a step, levels tell more sharply where.
fn nearest(values: &[f64], at: usize) -> usize {
    let (before, after) = (median(&values[..at]), median(&values[at..]));
    let mut gain = 0.0;
    let mut best = (at, f64::NEG_INFINITY);
    for place in 1..=values.len() - SHORTEST {
        let value = values[place - 1];
        gain += (value - after).abs() - (value - before).abs();
        if place >= SHORTEST && gain > best.1 {
            best = (place, gain);
        }
    }
    best.0
}

fn centered_ranks(values: &[f64]) -> Vec<f64> {
    let center = values.len() as f64 + 1.0;
    midranks_doubled(values).into_iter().map(|rank| rank as f64 - center).collect()
}

/// The place that splits the ranks most clearly, and how clearly: the sum of one side over its standard deviation
/// where the order means nothing, but for a factor.
fn largest(ranks: &[f64]) -> Option<(usize, f64)> {
    let count = ranks.len();
    let mut sum = 0.0;
    let mut best: Option<(usize, f64)> = None;
    for place in 1..=count.saturating_sub(SHORTEST) {
        sum += ranks[place - 1];
        if place < SHORTEST {
            continue;
        }
        let size = f64::abs(sum) / ((place * (count - place)) as f64).sqrt();
        if best.is_none_or(|(_, largest)| size > largest) {
            best = Some((place, size));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::change_points;

    /// Noise around levels of the given lengths; every thirtieth value is an outlier.
    fn sequence(levels: &[(usize, f64)], seed: u64) -> Vec<f64> {
        let mut random = Rng::with_seed(seed);
        let mut noise = || (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
        let of_level = |(length, level): &(usize, f64)| (0..*length).map(|_| level + noise()).collect::<Vec<f64>>();
        let mut values: Vec<f64> = levels.iter().flat_map(of_level).collect();
        values.iter_mut().step_by(30).for_each(|value| *value += 100.0);
        values
    }

    #[test]
    fn two_steps_are_found_where_they_are() {
        let holds = |seed: u64| {
            let found = change_points(&sequence(&[(60, 10.0), (50, 13.0), (70, 11.0)], seed), 0.05, seed);
            assert!(found.len() >= 2 && found.iter().all(|step| step.p <= 0.05), "{found:?}");
            let holds = |truth: f64| found.iter().any(|step| step.interval.contains(truth));
            holds(60.0) && holds(110.0)
        };
        let held = (0..40).filter(|seed| holds(*seed)).count();
        // Two intervals of 95 % each hold together in 90 of 100.
        assert!(held >= 32, "{held}");
    }

    #[test]
    fn levels_are_the_medians_between_steps() {
        let found = change_points(&sequence(&[(60, 10.0), (50, 20.0)], 1), 0.05, 1);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].at, 60);
        assert!((found[0].before - 10.0).abs() < 0.5 && (found[0].after - 20.0).abs() < 0.5, "{found:?}");
    }

    #[test]
    fn a_level_sequence_seldom_shows_a_step() {
        let alarms =
            (0..200).filter(|seed| !change_points(&sequence(&[(60, 5.0)], *seed), 0.05, *seed).is_empty()).count();
        // 10 are expected of 200; 19 or more come once in 150 times.
        assert!(alarms < 19, "{alarms}");
    }

    #[test]
    fn intervals_hold_the_true_place() {
        let holds = |seed: u64| {
            let found = change_points(&sequence(&[(30, 0.0), (40, 1.5)], seed), 0.05, seed);
            found.iter().any(|step| step.interval.contains(30.0))
        };
        let held = (0..100).filter(|seed| holds(*seed)).count();
        assert!(held >= 90, "{held}");
    }

    #[test]
    fn too_short_equal_or_broken_sequences_have_no_steps() {
        assert!(change_points(&[], 0.05, 1).is_empty());
        assert!(change_points(&[1.0, 2.0, 3.0, 9.0, 9.0, 9.0], 0.05, 1).is_empty());
        assert!(change_points(&[4.0; 50], 0.05, 1).is_empty());
        let mut broken = sequence(&[(20, 0.0), (20, 9.0)], 1);
        broken[3] = f64::NAN;
        assert!(change_points(&broken, 0.05, 1).is_empty());
    }

    #[test]
    fn the_seed_decides_everything_random() {
        let values = sequence(&[(30, 0.0), (30, 2.0)], 4);
        assert_eq!(change_points(&values, 0.05, 8), change_points(&values, 0.05, 8));
    }
}
