//! `steps`: a series of measurements as levels and the steps between them; where its command may be run at rates of our choice,
//! whether a bucket of tokens explains them.

mod bucket;
mod drive;

use crate::{Console, StudyError};
use case::{Level, Quantity, SCHEMA, SeriesSample, Step, Steps};
pub use drive::Drive;
use import::{Measurement, Measurements, Shape};
use stats::{ChangePoint, Interval, Resampling, change_points, mean, median, percentile_interval};
use std::path::PathBuf;

/// Values that are looked at: steps among more are hardly sharper, and looking takes its time.
const MOST_VALUES: usize = 2_000;
/// Steps that chance makes in one series of twenty.
const ALARMS: f64 = 0.05;
/// What is drawn by chance is the same each time.
const SEED: u64 = 20;
/// A level interval's draws.
const DRAWS: Resampling = Resampling { times: 999, seed: SEED, confidence: 0.95 };
/// A step of less is what drifting makes.
const LEAST_CHANGE: f64 = 0.05;

/// Where a series comes from.
pub enum Source {
    /// A file; `-` is standard input.
    File(PathBuf),
    /// A command that is run.
    Driven(Drive),
}

/// What is asked.
pub struct Request {
    /// Where the series comes from.
    pub source: Source,
    /// Where its values stand.
    pub shape: Shape,
}

/// Reads the series, or drives it, and says what it shows.
///
/// # Errors
/// Where it cannot be read, or the command cannot be run.
pub fn steps(request: &Request, console: &dyn Console) -> Result<Steps, StudyError> {
    match &request.source {
        Source::File(path) => {
            let read = import::read_measurements(path, &request.shape)?;
            if read.values.is_empty() {
                return Err(StudyError::NoValues { from: path.display().to_string(), examples: read.examples });
            }
            Ok(of_series(&path.display().to_string(), &read))
        }
        Source::Driven(drive) => drive::drive(drive, &request.shape, console),
    }
}

/// What a series shows by itself.
fn of_series(source: &str, read: &Measurements) -> Steps {
    let values = gathered(&read.values);
    let (levels, steps) = read_off(&values);
    let quantity = if read.are_bits_per_second { Quantity::BitsPerSecond } else { Quantity::Number };
    let steps = steps.into_iter().map(|step| Step {
        amount: if quantity == Quantity::BitsPerSecond { amount(&values, step.at_s) } else { 0.0 },
        ..step
    });
    Steps {
        schema: SCHEMA,
        source: source.to_string(),
        quantity,
        values: read.values.len() as u64,
        skipped: read.skipped,
        steps: steps.collect(),
        levels,
        samples: values
            .iter()
            .map(|one| SeriesSample { at_s: one.at_s, length_s: one.length_s, value: one.value })
            .collect(),
        driven: None,
    }
}

/// At most so many values as are looked at: means of neighbours where there are more.
fn gathered(values: &[Measurement]) -> Vec<Measurement> {
    let each = values.len().div_ceil(MOST_VALUES).max(1);
    let one = |part: &[Measurement]| Measurement {
        at_s: part[0].at_s,
        length_s: part.iter().map(|one| one.length_s).sum(),
        value: mean(&part.iter().map(|one| one.value).collect::<Vec<_>>()),
    };
    values.chunks(each).map(one).collect()
}

/// How much came before a time, where values are amounts in a second.
fn amount(values: &[Measurement], until_s: f64) -> f64 {
    let before = values.iter().map(|one| (one.value, one.length_s.min((until_s - one.at_s).max(0.0))));
    before.map(|(value, length)| value * length).sum()
}

/// Levels and the steps between them.
fn read_off(values: &[Measurement]) -> (Vec<Level>, Vec<Step>) {
    let numbers: Vec<f64> = values.iter().map(|one| one.value).collect();
    let mut points = change_points(&numbers, ALARMS, SEED);
    // Without the smallest one first: what is left may be larger for it.
    while let Some(least) = least_change(&numbers, &points) {
        points.remove(least);
    }
    let places: Vec<usize> = points.iter().map(|point| point.at).collect();
    let starts = std::iter::once(0).chain(places.iter().copied());
    let ends = places.iter().copied().chain([values.len()]);
    let levels: Vec<Level> =
        starts.zip(ends).filter(|(start, end)| start < end).map(|(start, end)| level(&values[start..end])).collect();
    let step = |(at, point): (usize, &ChangePoint)| Some(step(values, point, levels.get(at)?, levels.get(at + 1)?));
    let steps = points.iter().enumerate().filter_map(step).collect();
    (levels, steps)
}

/// The place among the points of the smallest step that is too small to be one.
fn least_change(numbers: &[f64], points: &[ChangePoint]) -> Option<usize> {
    let place = |at: usize| points.get(at).map_or(numbers.len(), |point| point.at);
    let change = |at: usize| {
        let start = if at == 0 { 0 } else { place(at - 1) };
        let (before, after) = (median(&numbers[start..place(at)]), median(&numbers[place(at)..place(at + 1)]));
        (after - before).abs() / before.abs().max(after.abs()).max(f64::MIN_POSITIVE)
    };
    let changes = (0..points.len()).map(|at| (at, change(at)));
    let least = changes.min_by(|one, other| one.1.total_cmp(&other.1))?;
    (least.1 < LEAST_CHANGE).then_some(least.0)
}

fn level(values: &[Measurement]) -> Level {
    let numbers: Vec<f64> = values.iter().map(|one| one.value).collect();
    let value = median(&numbers);
    let interval = percentile_interval(&numbers, median, DRAWS).unwrap_or(Interval { low: value, high: value });
    let last = values[values.len() - 1];
    Level {
        from_s: values[0].at_s,
        to_s: last.at_s + last.length_s,
        value,
        low: interval.low,
        high: interval.high,
        values: values.len() as u64,
    }
}

fn step(values: &[Measurement], point: &ChangePoint, before: &Level, after: &Level) -> Step {
    let time = |place: f64| values[(place.max(0.0) as usize).min(values.len() - 1)].at_s;
    // The value in which the step falls belongs to one side as a whole: the step may be anywhere in it.
    let earlier = values[point.at - 1];
    let ratio = |after: f64, before: f64| if before == 0.0 { 0.0 } else { after / before };
    let [low, high] = [ratio(after.low, before.high), ratio(after.high, before.low)];
    Step {
        at_s: values[point.at].at_s,
        low_s: time(point.interval.low).min(earlier.at_s),
        high_s: time(point.interval.high) + values[point.at].length_s,
        ratio: ratio(after.value, before.value),
        ratio_low: low.min(high),
        ratio_high: low.max(high),
        amount: 0.0,
        p: point.p,
    }
}

#[cfg(test)]
mod tests;
