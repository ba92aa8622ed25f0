//! Rounds: every value once, in random order, until each was measured often enough or its share of the budget is spent.

use super::bench::{Bench, LeftOut, seconds};
use super::pilot::{Ends, LONGEST_TRIAL};
use super::value::Value;
use crate::engine::{Budget, Design, Pace, Stop, Stopped};
use crate::error::LabError;
use std::time::Duration;

/// The least number of rounds, as far as the budget allows: a single measurement says nothing about noise.
const LEAST_ROUNDS: u32 = 2;
/// Rounds that are made where there is time.
const USUAL_ROUNDS: u32 = 3;
/// Rounds that are made where there is plenty of it: while no more than this part of the budget is spent.
const MOST_ROUNDS: u32 = 7;
const PLENTY: f64 = 0.25;
/// The part of the budget for rounds; the rest is for cliffs.
const FOR_ROUNDS: f64 = 0.7;
/// A value that takes more of the time for rounds than this, for the least of them, is left out where not all fit.
const COSTLY: f64 = 1.0 / 3.0;
/// Values are not thinned out below so many: fewer show neither cliffs nor growth.
const FEWEST_VALUES: usize = 5;

/// Measures all values.
pub(super) fn run(bench: &mut Bench, ends: &Ends) -> Result<(), LabError> {
    let values = affordable(bench, ends);
    let is_known = ends.first.is_some() && ends.last.is_some();
    if !is_known {
        explore(bench, &values, ends.first.is_none() && ends.last.is_some())?;
    }
    let design = Design {
        most_rounds: MOST_ROUNDS,
        budget: Budget { time: bench.terms.budget, pace: Pace::Trials },
        ..bench.design("sweeping", &values, Box::new(|bench: &mut Bench| open(bench, &values)))
    };
    bench.run(&design, &values).map(|_| ())
}

/// The values that two rounds can be made of: the costliest are left out, then every second of the rest.
fn affordable(bench: &mut Bench, ends: &Ends) -> Vec<Value> {
    let mut values = bench.vary.values().to_vec();
    let (Some(first), Some(last)) = (ends.first, ends.last) else { return values };
    let costs = between(first, last, values.len());
    let mut left = values.drain(..).zip(costs).collect::<Vec<_>>();
    let time = for_rounds(bench);
    let due = |left: &[(Value, Duration)]| left.iter().map(|(_, cost)| *cost).sum::<Duration>() * LEAST_ROUNDS;
    while due(&left) > time && left.len() > 1 {
        let costliest = if left[0].1 > left[left.len() - 1].1 { 0 } else { left.len() - 1 };
        let cost = left[costliest].1;
        let all = left.len();
        if cost * LEAST_ROUNDS > time.mul_f64(COSTLY) {
            let (value, _) = left.remove(costliest);
            leave_out(bench, &value, &format!("left out: a run takes about {}", seconds(cost)));
        } else if all > FEWEST_VALUES {
            // The last is kept whatever its place: the range is what was asked for.
            let keeps = |place: usize| place.is_multiple_of(2) || place + 1 == all;
            let dropped = left.iter().enumerate().filter(|(place, _)| !keeps(*place));
            let dropped = dropped.map(|(_, (value, _))| value.clone()).collect::<Vec<_>>();
            left = left.into_iter().enumerate().filter(|(place, _)| keeps(*place)).map(|(_, one)| one).collect();
            for value in &dropped {
                leave_out(bench, value, "left out: the budget is too short for all values");
            }
        } else {
            break;
        }
    }
    left.into_iter().map(|(value, _)| value).collect()
}

/// Times of runs between two ends, in equal ratios, as of a cost that grows by powers.
fn between(first: Duration, last: Duration, count: usize) -> Vec<Duration> {
    let (first, last) = (first.as_secs_f64().max(1e-3), last.as_secs_f64().max(1e-3));
    let steps = count.saturating_sub(1).max(1) as f64;
    (0..count).map(|place| Duration::from_secs_f64(first * (last / first).powf(place as f64 / steps))).collect()
}

fn leave_out(bench: &mut Bench, value: &Value, why: &str) {
    let is_first = !bench.left_out.iter().any(|one| one.why == why);
    if is_first {
        bench.warnings.push(format!("{}={}: {why}", bench.vary.name, value.label));
    }
    bench.left_out.push(LeftOut { value: value.clone(), why: why.to_string() });
}

/// The first round where a run at one end takes too long: from the other end on, up to where it does.
fn explore(bench: &mut Bench, values: &[Value], is_from_last: bool) -> Result<(), LabError> {
    let places = 0..values.len();
    let order = if is_from_last { places.rev().collect::<Vec<_>>() } else { places.collect() };
    let begun = bench.attempts.len();
    let too_long = Stop::at_trials(|bench: &Bench| {
        let last = bench.attempts.len().checked_sub(begun + 1)?;
        why_too_long(bench, &values[order[last]]).map(|_| Stopped::BudgetSpent)
    });
    let stopped = bench.measure("sweeping", values, order.clone(), too_long)?;
    if stopped == Stopped::BudgetSpent {
        bench.state.end_round();
        let tried = bench.attempts.len() - begun;
        let why = why_too_long(bench, &values[order[tried - 1]]).unwrap_or_default();
        order[tried..].iter().for_each(|place| leave_out(bench, &values[*place], &why));
    }
    Ok(())
}

/// Why values beyond one that was just tried are not: a run there takes too long.
fn why_too_long(bench: &Bench, value: &Value) -> Option<String> {
    let took = bench.cost(value.number).unwrap_or_default();
    // A second round would cost as much again as this one up to here.
    let again = bench.attempts.iter().map(|attempt| attempt.took).sum::<Duration>();
    let label = &value.label;
    if is_endless(bench, took) {
        return Some(format!("not tried: a run at {label} takes longer than {}", seconds(took)));
    }
    let is_too_long = again + took > for_rounds(bench);
    is_too_long.then(|| {
        format!("not tried: a run at {label} takes {}, and the budget has no room for longer ones", seconds(took))
    })
}

/// The values that have a turn in the next round.
fn open(bench: &mut Bench, values: &[Value]) -> Vec<usize> {
    let is_open = |index: &usize| {
        let number = values[*index].number;
        !bench.has_left_out(number) && !bench.is_given_up(number) && !has_timed_out(bench, number)
    };
    let mut open = (0..values.len()).filter(is_open).collect::<Vec<_>>();
    let cost = |index: usize| bench.cost(values[index].number).unwrap_or_default();
    let due = |open: &[usize]| open.iter().map(|index| cost(*index)).sum::<Duration>();
    let time = for_rounds(bench);
    match bench.state.round() {
        0 => {}
        round if round < LEAST_ROUNDS => {
            let before = open.len();
            while due(&open) > time && !open.is_empty() {
                let costliest = open.iter().copied().max_by_key(|index| cost(*index));
                open.retain(|index| Some(*index) != costliest);
            }
            if open.len() < before {
                let few = before - open.len();
                let values = if few == 1 { "one value was".to_string() } else { format!("{few} values were") };
                bench.warnings.push(format!("{values} measured only once: the budget has no room for more"));
            }
        }
        round if round < USUAL_ROUNDS && due(&open) <= time => {}
        round if round >= USUAL_ROUNDS && bench.state.spent() + due(&open) <= bench.terms.budget.mul_f64(PLENTY) => {}
        _ => open.clear(),
    }
    open
}

fn has_timed_out(bench: &Bench, number: f64) -> bool {
    bench.of(number).any(|attempt| attempt.reading.is_none() && is_endless(bench, attempt.took))
}

/// Whether a trial was given up rather than ended.
fn is_endless(bench: &Bench, took: Duration) -> bool {
    took >= bench.terms.budget.mul_f64(0.9) / LONGEST_TRIAL
}

/// What is left of the time for rounds.
fn for_rounds(bench: &Bench) -> Duration {
    bench.terms.budget.mul_f64(FOR_ROUNDS).saturating_sub(bench.state.spent())
}
