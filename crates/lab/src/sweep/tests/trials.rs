//! The trials of a sweep: what is measured, how often, and what becomes of failures.

use super::program::{exchanging, failing, noisy, running, swept, swept_whole, terms};
use crate::error::LabError;
use crate::extent::Extent;
use crate::metric::Metric;
use crate::outcome::Outcome;
use crate::sweep::{Value, Vary, sweep};
use fastrand::Rng;
use std::time::Duration;

fn vary(text: &str) -> Vary {
    Vary::parse(text).expect("values")
}

#[test]
fn exchanges_are_measured_where_there_are_any_and_whole_runs_where_there_are_none() {
    assert_eq!(swept("size=1,10,100", 1, |_, _| 0.01).metric, Metric::WallPerExchange);
    let whole = swept_whole("size=1,10,100", 1, 0.05, |_| 0.3);
    assert_eq!(whole.metric, Metric::Wall);
    let point = &whole.sweep.points[0];
    assert!((point.measured / 0.3e9 - 1.0).abs() < 0.2 && (point.rate - 1.0 / 0.3).abs() < 0.7, "{point:?}");
}

#[test]
fn time_between_exchanges_counts_where_it_is_most_of_it() {
    let mut execute = |_: &Value, extent: &Extent| {
        let mut outcome = exchanging(0.01, extent);
        outcome.row.exchange_wall.0 /= 10;
        Ok(outcome)
    };
    let swept = sweep(&vary("n=1,2,3"), &mut execute, &terms(60, 1)).expect("a sweep");
    assert_eq!(swept.metric, Metric::ElapsedPerExchange);
}

#[test]
fn every_value_is_measured_three_times_at_least_in_random_order() {
    let swept = swept("size=1..16K:log", 7, |_, _| 0.02);
    assert!(swept.sweep.points.iter().all(|point| point.trials >= 3 && point.problem.is_empty()));
    assert!(swept.sweep.points.iter().all(|point| point.low <= point.measured && point.measured <= point.high));
    let first = swept.trials.iter().filter(|row| row.round == 0).map(|row| row.arm.as_str()).collect::<Vec<_>>();
    assert_eq!(first.len(), 15);
    assert_ne!(&first[..3], ["size=1", "size=2", "size=4"]);
    assert!(swept.trials.iter().enumerate().all(|(place, row)| row.position == place as u32));
    assert_eq!(swept.sweep.trials as usize, swept.trials.len());
}

#[test]
fn rates_are_exchanges_a_second() {
    let point = swept("n=1,2,3", 1, |_, _| 0.01).sweep.points[1].clone();
    assert!((80.0..115.0).contains(&point.rate), "{point:?}");
}

#[test]
fn a_sweep_that_explodes_stops_where_a_run_takes_a_sixth_of_the_budget() {
    let swept = swept_whole("n=1..4096:log", 1, 0.02, |n| 1e-4 * n * n);
    let sweep = &swept.sweep;
    assert!(sweep.spent_ns <= sweep.budget_ns + sweep.budget_ns / 6, "{}", sweep.spent_ns);
    let tried = sweep.points.iter().filter(|point| point.trials >= 2).count();
    assert!(tried >= 7, "{:?}", sweep.points);
    let last = sweep.points.last().expect("points");
    assert!(last.left_out && last.problem.starts_with("not tried: a run at"), "{last:?}");
    assert!(!sweep.warnings.is_empty() && sweep.growth.as_ref().is_some_and(|growth| growth.out_of_hand), "{sweep:?}");
}

#[test]
fn a_sweep_that_explodes_downwards_begins_at_its_upper_end() {
    let swept = swept_whole("rate=1mbit..1gbit:log", 1, 0.02, |rate| 1e8 / rate);
    let measured = swept.sweep.points.iter().filter(|point| point.trials >= 2).count();
    assert!(measured >= 5 && swept.sweep.points[0].problem.starts_with("not tried"), "{:?}", swept.sweep.points);
}

#[test]
fn values_are_left_out_where_the_budget_does_not_hold_them() {
    let mut execute = |value: &Value, extent: &Extent| Ok(running(0.01 * value.number, extent));
    let swept = sweep(&vary("n=1..200:1"), &mut execute, &terms(60, 1)).expect("a sweep").sweep;
    assert!(swept.spent_ns <= swept.budget_ns);
    assert!(swept.points.iter().filter(|point| point.trials >= 2).count() >= 10);
    assert!(swept.warnings.iter().any(|warning| warning.contains("left out")), "{:?}", swept.warnings);
}

#[test]
fn a_value_that_fails_keeps_its_reason_and_stays_out_of_the_fits() {
    let mut random = Rng::with_seed(1);
    let mut execute = |value: &Value, extent: &Extent| match value.number {
        64.0 => Ok(failing(2, "64 is a bad number")),
        128.0 => Err(LabError::World("it does not start".to_string())),
        number => Ok(running(0.001 * number * noisy(&mut random, 0.05), extent)),
    };
    let swept = sweep(&vary("n=4..1024:log"), &mut execute, &terms(60, 1)).expect("a sweep").sweep;
    let point = |label: &str| swept.points.iter().find(|point| point.label == label).expect("kept");
    let problem = |label: &str| Some(point(label).problem.as_str());
    assert_eq!(problem("64"), Some("it exited with status 2: 64 is a bad number"));
    assert_eq!(problem("128"), Some("it does not start"));
    assert_eq!(problem("256"), Some(""));
    let growth = swept.growth.expect("a growth");
    assert!((growth.exponent - 1.0).abs() < 0.1 && growth.to >= 1024.0, "{growth:?}");
    let failed = point("64");
    assert_eq!((failed.trials, failed.measured), (0, 0.0));
}

#[test]
fn a_program_that_always_fails_is_an_error_with_its_last_words() {
    let mut trials = 0;
    let mut execute = |_: &Value, _: &Extent| -> Result<Outcome, LabError> {
        trials += 1;
        Ok(failing(2, "usage: get URL"))
    };
    let error = sweep(&vary("n=1..1024:log"), &mut execute, &terms(60, 1)).expect_err("fails").to_string();
    assert_eq!(error, "the program fails at every value that was tried: it exited with status 2: usage: get URL");
    assert!(trials <= 3);
}

#[test]
fn a_program_that_never_starts_is_the_error_that_it_is() {
    let mut execute = |_: &Value, _: &Extent| -> Result<Outcome, LabError> {
        Err(LabError::ServerGone { command: "serve".to_string(), said: "address in use".to_string() })
    };
    let error = sweep(&vary("n=1,2"), &mut execute, &terms(60, 1)).expect_err("fails");
    assert!(matches!(error, LabError::ServerGone { .. }));
}

#[test]
fn a_status_that_is_always_the_same_and_silent_is_how_the_program_ends() {
    let mut execute = |value: &Value, extent: &Extent| {
        let mut outcome = running(0.01 * value.number, extent);
        outcome.row.exit = 1;
        Ok(outcome)
    };
    let swept = sweep(&vary("n=1..16:log"), &mut execute, &terms(60, 1)).expect("a sweep").sweep;
    assert!(swept.points.iter().all(|point| point.trials >= 3 && point.problem.is_empty()), "{:?}", swept.points);
}

#[test]
fn what_was_measured_before_ctrl_c_is_kept() {
    let mut left = 20;
    let mut execute = |_: &Value, extent: &Extent| {
        left -= 1;
        if left > 0 { Ok(exchanging(0.01, extent)) } else { Err(LabError::Interrupted) }
    };
    let swept = sweep(&vary("n=1..16:log"), &mut execute, &terms(60, 1)).expect("what there is").sweep;
    assert_eq!(swept.trials, 17);
    assert!(swept.warnings.iter().any(|warning| warning.contains("Ctrl-C")));
    let mut at_once = |_: &Value, _: &Extent| -> Result<Outcome, LabError> { Err(LabError::Interrupted) };
    assert!(matches!(sweep(&vary("n=1,2"), &mut at_once, &terms(60, 1)), Err(LabError::Interrupted)));
}

#[test]
fn a_short_budget_is_kept() {
    for seconds in [5, 10, 20] {
        let mut execute = |value: &Value, extent: &Extent| {
            Ok(exchanging(if value.number <= 1418.0 { 0.044 } else { 0.0002 }, extent))
        };
        let swept = sweep(&vary("size=1..16K:log"), &mut execute, &terms(seconds, 1)).expect("a sweep").sweep;
        assert!(swept.spent_ns <= swept.budget_ns + 600_000_000, "{seconds} s: {} ns", swept.spent_ns);
    }
}

#[test]
fn a_cliff_that_there_was_no_time_to_narrow_is_reported_as_such() {
    let mut execute = |value: &Value, extent: &Extent| {
        let mut outcome = exchanging(if value.number <= 1418.0 { 0.044 } else { 0.0002 }, extent);
        outcome.took += Duration::from_millis(400);
        Ok(outcome)
    };
    let swept = sweep(&vary("size=1..16K:log"), &mut execute, &terms(36, 1)).expect("a sweep").sweep;
    assert!(swept.spent_ns <= swept.budget_ns + 1_000_000_000);
    let cliff = &swept.cliffs[0];
    assert!(cliff.below <= 1418.0 && cliff.above > 1418.0 && cliff.above - cliff.below > 8.0, "{cliff:?}");
    assert!(swept.warnings.iter().any(|warning| warning.contains("not narrowed down further")), "{:?}", swept.warnings);
}

#[test]
fn a_program_that_never_ends_asks_for_a_larger_budget() {
    let mut execute = |_: &Value, extent: &Extent| Ok(running(1e9, extent));
    let error = sweep(&vary("n=1,2,3"), &mut execute, &terms(30, 1)).expect_err("too long").to_string();
    assert!(error.contains("--budget") && error.contains("5.0 s"), "{error}");
    assert_eq!(terms(30, 1).budget, Duration::from_secs(30));
}
