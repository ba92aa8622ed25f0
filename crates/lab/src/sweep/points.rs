//! Points: what the trials of a value say together.

use super::bench::{Attempt, Bench};
use crate::metric::Metric;
use case::Point;

/// From so many trials on their order gives an interval of 95 %; the ends of fewer are shown as they are.
const RANKED: usize = 6;
/// The chance to miss on each side.
const MISS: f64 = 0.025;

/// All values that were tried or left out, in order.
pub(super) fn all(bench: &Bench) -> Vec<Point> {
    let mut points = bench.tried().into_iter().map(|number| point(bench, number)).collect::<Vec<_>>();
    for left_out in &bench.left_out {
        let value = &left_out.value;
        match points.iter_mut().find(|point| point.value.total_cmp(&value.number).is_eq()) {
            Some(point) if point.problem.is_empty() => {
                point.problem.clone_from(&left_out.why);
                point.left_out = true;
            }
            Some(_) => {}
            None => points.push(Point {
                value: value.number,
                label: value.label.clone(),
                problem: left_out.why.clone(),
                left_out: true,
                ..Point::default()
            }),
        }
    }
    points.sort_by(|one, other| one.value.total_cmp(&other.value));
    points
}

fn point(bench: &Bench, number: f64) -> Point {
    let sound = bench.of(number).filter(|attempt| attempt.reading.is_some()).collect::<Vec<_>>();
    let shown = |value: &f64| bench.metric.shown(*value);
    let readings = bench.readings(number).iter().map(shown).collect::<Vec<_>>();
    let (low, high) = interval(&readings);
    Point {
        value: number,
        label: bench.vary.at(number).label,
        measured: if readings.is_empty() { 0.0 } else { stats::median(&readings) },
        low,
        high,
        rate: middle(&sound).map_or(0.0, |attempt| rate(attempt, &bench.metric)),
        trials: readings.len() as u32,
        problem: problem(bench, number),
        left_out: false,
    }
}

/// The interval of the middle: of six or more by their order (binomial), of fewer the least and the largest.
fn interval(readings: &[f64]) -> (f64, f64) {
    let mut sorted = readings.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return (0.0, 0.0) };
    let outside = if sorted.len() < RANKED { 0 } else { outside(sorted.len()) };
    (sorted[outside], sorted[last - outside])
}

/// How many on each side can lie outside: the largest number for which it is unlikely that so few fall below the middle.
fn outside(count: usize) -> usize {
    let (mut chance, mut term) = (0.0, 0.5_f64.powi(count as i32));
    for below in 0..count {
        chance += term;
        if chance > MISS {
            return below.saturating_sub(1);
        }
        term *= (count - below) as f64 / (below + 1) as f64;
    }
    0
}

fn middle<'a>(sound: &[&'a Attempt]) -> Option<&'a Attempt> {
    let mut sorted = sound.to_vec();
    let reading = |attempt: &Attempt| attempt.reading.unwrap_or_default();
    sorted.sort_by(|one, other| reading(one).total_cmp(&reading(other)));
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}

/// Exchanges a second; of a whole run without exchanges, or of one that was measured as a whole, runs a second.
fn rate(attempt: &Attempt, metric: &Metric) -> f64 {
    let seconds = attempt.row.wall.0 as f64 / 1e9;
    let is_whole = matches!(metric, Metric::Wall | Metric::Cpu);
    let done = if attempt.row.exchanges == 0 || is_whole { 1 } else { attempt.row.exchanges };
    if seconds > 0.0 { done as f64 / seconds } else { 0.0 }
}

fn problem(bench: &Bench, number: f64) -> String {
    let failed = bench.of(number).filter(|attempt| attempt.reading.is_none()).collect::<Vec<_>>();
    let count = bench.of(number).count();
    match failed.last() {
        None => String::new(),
        Some(last) if failed.len() == count => last.row.problem.clone(),
        Some(last) => format!("{} of {count} trials failed: {}", failed.len(), last.row.problem),
    }
}

#[cfg(test)]
mod tests {
    use super::{interval, outside};

    #[test]
    fn the_interval_of_few_trials_are_their_ends_and_of_many_it_leaves_out_the_outermost() {
        assert_eq!(interval(&[3.0, 1.0, 2.0]), (1.0, 3.0));
        assert_eq!(interval(&[]), (0.0, 0.0));
        // Of six the ends hold the middle with 97 %, of nine the second and the eighth with 96 %.
        assert_eq!([6, 8, 9, 12].map(outside), [0, 0, 1, 2]);
        let nine = (1..=9).map(f64::from).collect::<Vec<_>>();
        assert_eq!(interval(&nine), (2.0, 8.0));
    }
}
