//! Whole experiments with trials made up: no program is run, so that every course of events can be had.

use super::*;
use crate::engine::MOST_FAILURES;
use crate::experiment::Attempt;
use crate::intervention_counters::{InterventionCounters, SocketCounts};
use crate::interventions::find;
use crate::metric::Metric;
use crate::treatment::Treatment;
use case::{Cost, Finding, Nanos, Verdict};
use std::cell::RefCell;

mod error_rate;
mod predictions;
mod time;
mod upon;
mod work;

fn finding(id: &str, share: f64) -> Finding {
    Finding {
        id: id.into(),
        name: id.into(),
        status: Status::Suspected,
        cost: Cost { ns_per_exchange: 40_000_000, share_of_wall: share, ..Cost::default() },
        ..Finding::default()
    }
}

fn answer(findings: Vec<Finding>) -> Answer {
    Answer {
        wall_ns: 4_400_000_000,
        exchanges: 100,
        subject_exit: Some(0),
        verdict: Verdict::Suspected,
        findings,
        ..Answer::default()
    }
}

/// Arms made by hand: the reference arms, and one for each name.
fn arms(tried: &[(&str, &str, Purpose)]) -> Arms {
    let arm = |name: &str| Arm {
        name: name.into(),
        treatment: Treatment::default(),
        parts: find("tcp-nodelay").into_iter().filter(|_| name != SHAM).collect(),
    };
    let attempt = |(finding, name, purpose): &(&str, &str, Purpose)| Attempt {
        finding: (*finding).into(),
        arm: (*name).into(),
        intervention: (*name).into(),
        dose: String::new(),
        purpose: *purpose,
        metric: Metric::WallPerExchange,
        reference: SHAM.into(),
    };
    let mut alone = vec![Arm::plain(), arm(SHAM)];
    alone.extend(tried.iter().map(|(_, name, _)| arm(name)));
    let experiment = Experiment { attempts: tried.iter().map(attempt).collect(), ..Experiment::default() };
    Arms { base: None, alone, increments: Vec::new(), experiment }
}

/// A trial in which an exchange takes so many milliseconds, give or take some percent.
fn made(milliseconds: f64, turn: u32) -> Outcome {
    let noise = 1.0 + 0.02 * f64::from(turn).mul_add(2.4, 0.3).sin();
    let row = Trial {
        exchanges: 10,
        exchange_wall: Nanos((10.0 * milliseconds * noise * 1e6) as u64),
        wall: Nanos((10.5 * milliseconds * noise * 1e6) as u64),
        client_user: Nanos(1_000_000),
        exit: -1,
        metric: f64::NAN,
        made: 10,
        answered_bytes: 5_000,
        ..Trial::default()
    };
    let sockets = Some(SocketCounts { seen: 1, nodelay: 1, capped: 1, ..SocketCounts::default() });
    let counters = InterventionCounters { sockets, ..InterventionCounters::default() };
    Outcome {
        row,
        mapped: std::collections::BTreeSet::new(),
        counters,
        output: Vec::new(),
        errors: String::new(),
        took: Duration::from_millis(500),
    }
}

/// Proves with trials whose exchanges take what `length` says of each arm, and judges.
fn proved(answer: &mut Answer, arms: Arms, length: &dyn Fn(&str) -> Outcome) -> Vec<Trial> {
    let mut execute = |arm: &Arm, extent: &Extent| Ok(seen_to_its_end(length(&arm.name), extent));
    executed(answer, arms, &mut execute)
}

/// A trial that is not cut comes to the program's end.
fn seen_to_its_end(mut outcome: Outcome, extent: &Extent) -> Outcome {
    if extent.window.is_none() && outcome.row.exit < 0 {
        outcome.row.exit = 0;
    }
    outcome
}

/// Proves with trials that run as `execute` says, and judges.
fn executed(answer: &mut Answer, arms: Arms, execute: &mut Execute) -> Vec<Trial> {
    let said = RefCell::new(Vec::new());
    let say = |line: &str| said.borrow_mut().push(line.to_string());
    let terms = Terms { budget: Duration::from_hours(1), seed: 7, compares_output: true, say: &say };
    let (experiment, trials) = prove(arms, answer, execute, &terms).expect("an experiment");
    verdict::judge(answer, &experiment, &trials);
    trials
}

fn turns() -> impl Fn() -> u32 {
    let turn = RefCell::new(0);
    move || {
        *turn.borrow_mut() += 1;
        *turn.borrow()
    }
}

#[test]
fn what_removes_the_cost_is_confirmed_and_its_control_refuted() {
    let turn = turns();
    let mut answer = answer(vec![finding("P01", 0.95)]);
    let arms = arms(&[("P01", "cure", Purpose::Cause), ("P01", "control", Purpose::Control)]);
    proved(&mut answer, arms, &|arm| made(if arm == "cure" { 0.2 } else { 44.0 }, turn()));
    let found = &answer.findings[0];
    assert_eq!((found.status, answer.verdict), (Status::Confirmed, Verdict::Confirmed));
    let effect = found.effect.as_ref().expect("an effect");
    assert!(effect.low < 220.0 && 220.0 < effect.high, "{effect:?}");
    assert!((effect.sham_ratio - 1.0).abs() < 0.02, "{effect:?}");
    assert!((effect.before - 44e6).abs() < 1e6 && (effect.after - 0.2e6).abs() < 0.01e6);
    assert!(effect.also.iter().any(|other| other.metric == Metric::CpuPerExchange && (other.ratio - 1.0).abs() < 1e-9));
    assert_eq!(found.tried[1].status, Status::Refuted);
}

#[test]
fn what_changes_nothing_is_refuted_and_not_left_open() {
    let turn = turns();
    let mut answer = answer(vec![finding("P01", 0.95)]);
    proved(&mut answer, arms(&[("P01", "hope", Purpose::Cause)]), &|_| made(44.0, turn()));
    assert_eq!((answer.findings[0].status, answer.verdict), (Status::Refuted, Verdict::None));
    let tried = &answer.findings[0].tried[0];
    assert!(tried.applied && tried.low < 1.0 && tried.high < 1.05, "{tried:?}");
}

#[test]
fn what_makes_the_program_slower_by_itself_refutes_nothing() {
    let turn = turns();
    let mut answer = answer(vec![finding("P01", 0.95)]);
    let arms = arms(&[("P01", "cure", Purpose::Cause), ("P01", "control", Purpose::Control)]);
    proved(&mut answer, arms, &|arm| made(if arm == SHAM || arm == PLAIN { 26.0 } else { 47.0 }, turn()));
    let found = &answer.findings[0];
    assert_eq!((found.status, found.tried[0].status), (Status::Undecided, Status::Undecided));
    assert_eq!(found.tried[0].problem, verdict::SIDE_EFFECT);
    assert_eq!(found.tried[1].status, Status::Refuted, "a control that gains nothing did what it must");
}

#[test]
fn what_the_program_may_have_overruled_unseen_refutes_nothing_and_proves_what_it_gains() {
    for (after, status) in [(44.0, Status::Undecided), (20.0, Status::Confirmed)] {
        let turn = turns();
        let mut answer = answer(vec![finding("P37", 0.95)]);
        let arms = arms(&[("P37", "large-heap", Purpose::Cause)]);
        proved(&mut answer, arms, &|arm| made(if arm == "large-heap" { after } else { 44.0 }, turn()));
        let tried = &answer.findings[0].tried[0];
        assert_eq!((answer.findings[0].status, tried.status), (status, status));
        assert_eq!(tried.problem.contains("counts for more"), status == Status::Undecided, "{tried:?}");
    }
}

#[test]
fn what_did_not_take_effect_proves_nothing() {
    let turn = turns();
    let mut answer = answer(vec![finding("P01", 0.95)]);
    let trials = proved(&mut answer, arms(&[("P01", "hope", Purpose::Cause)]), &|_| {
        let mut outcome = made(44.0, turn());
        outcome.counters.sockets = Some(SocketCounts::default());
        outcome
    });
    assert_eq!(answer.findings[0].status, Status::Suspected);
    let tried = &answer.findings[0].tried[0];
    assert!(!tried.applied && !tried.problem.is_empty(), "{tried:?}");
    assert!(trials.iter().filter(|trial| trial.arm == "hope").count() <= MOST_FAILURES + 1, "it is not tried for long");
}

#[test]
fn an_intervention_that_breaks_the_program_proves_nothing() {
    let turn = turns();
    let mut answer = answer(vec![finding("P01", 0.95)]);
    proved(&mut answer, arms(&[("P01", "axe", Purpose::Cause)]), &|arm| {
        let mut outcome = made(if arm == "axe" { 0.1 } else { 44.0 }, turn());
        outcome.row.exit = if arm == "axe" { 1 } else { -1 };
        outcome
    });
    assert_eq!(answer.findings[0].status, Status::Suspected);
    assert!(answer.findings[0].tried[0].problem.contains("status 1 instead of 0"), "{:?}", answer.findings[0].tried);
}

#[test]
fn two_causes_are_proved_alone_and_together() {
    let turn = turns();
    let mut answer = answer(vec![finding("P01", 0.5), finding("P39", 0.4)]);
    let arms = arms(&[("P01", "one", Purpose::Cause), ("P39", "other", Purpose::Cause)]);
    proved(&mut answer, arms, &|arm| {
        let left = if arm.contains("one") { 0.0 } else { 10.0 } + if arm.contains("other") { 0.0 } else { 8.0 };
        made(2.0 + left, turn())
    });
    assert!(answer.findings.iter().all(|finding| finding.status == Status::Confirmed));
    let together = &answer.together[0];
    assert_eq!(together.interventions, ["one", "other"]);
    assert!(together.low < 10.0 && 10.0 < together.high, "{together:?}");
    let step = together.step.as_ref().expect("a step");
    assert!(step.low < 5.0 && 5.0 < step.high, "{step:?}");
}

#[test]
fn one_start_that_fails_costs_one_trial() {
    let turn = turns();
    let mut answer = answer(vec![finding("P01", 0.95)]);
    let mut execute = |arm: &Arm, extent: &Extent| match turn() {
        5 => Err(gone()),
        turn => Ok(seen_to_its_end(made(if arm.name == "cure" { 0.2 } else { 44.0 }, turn), extent)),
    };
    executed(&mut answer, arms(&[("P01", "cure", Purpose::Cause)]), &mut execute);
    assert_eq!(answer.findings[0].status, Status::Confirmed);
}

#[test]
fn a_server_that_never_comes_up_again_is_said_and_ends_the_trials() {
    let mut answer = answer(vec![finding("P01", 0.95)]);
    let mut execute = |_: &Arm, _: &Extent| Err(gone());
    let trials = executed(&mut answer, arms(&[("P01", "cure", Purpose::Cause)]), &mut execute);
    assert_eq!(answer.findings[0].status, Status::Suspected);
    assert!(trials.len() < 8, "{} trials", trials.len());
    let proof = answer.proof.expect("a proof");
    assert!(proof.not_tried.iter().any(|why| why.contains("Address already in use")), "{:?}", proof.not_tried);
}

fn gone() -> LabError {
    LabError::ServerGone { command: "server".into(), said: "bind: Address already in use".into() }
}

#[test]
fn a_status_that_the_program_has_by_itself_is_not_blamed_on_an_intervention() {
    let turn = turns();
    let mut answer = answer(vec![finding("P01", 0.95)]);
    // Trials of the slow program are cut; only where it is cured, or has the time, does its end come.
    let mut execute = |arm: &Arm, extent: &Extent| {
        let mut outcome = made(if arm.name == "cure" { 0.2 } else { 44.0 }, turn());
        let has_ended = arm.name == "cure" || extent.window.is_none();
        outcome.row.exit = if has_ended { 1 } else { -1 };
        outcome.row.exchanges = 100;
        outcome.row.exchange_wall = Nanos(outcome.row.exchange_wall.0 * 10);
        outcome.row.wall = Nanos(outcome.row.wall.0 * 10);
        Ok(outcome)
    };
    executed(&mut answer, arms(&[("P01", "cure", Purpose::Cause)]), &mut execute);
    assert_eq!(answer.findings[0].status, Status::Confirmed, "{:?}", answer.findings[0].tried);
}

#[test]
fn a_figure_that_is_never_written_ends_the_trials() {
    let turn = turns();
    let mut answer = answer(vec![finding("P01", 0.95)]);
    let mut arms = arms(&[("P01", "cure", Purpose::Cause)]);
    arms.experiment.attempts[0].metric = "stdout:median ([0-9]+)".parse().expect("a metric");
    let trials = proved(&mut answer, arms, &|_| {
        let mut outcome = made(44.0, turn());
        outcome.row.exit = 0;
        outcome
    });
    assert!(trials.len() < 8, "{} trials", trials.len());
    assert_eq!((answer.findings[0].status, &answer.findings[0].effect), (Status::Suspected, &None));
    assert!(answer.proof.is_some_and(|proof| proof.not_tried.iter().any(|why| why.contains("--metric"))));
}

#[test]
fn an_interval_that_holds_a_large_gain_refutes_nothing() {
    let mut answer = answer(vec![finding("P01", 0.95)]);
    // It gains twice over on average, and now and then nothing.
    let lengths = [10.0, 46.0, 12.0, 50.0];
    let experiment = arms(&[("P01", "half", Purpose::Cause)]).experiment;
    let row = |arm: &str, round, milliseconds| Trial {
        round,
        arm: arm.into(),
        applied: true,
        ..made(milliseconds, round).row
    };
    let rows = (0..4).flat_map(|round| [row(SHAM, round, 44.0), row("half", round, lengths[round as usize])]);
    verdict::judge(&mut answer, &experiment, &rows.collect::<Vec<_>>());
    assert_eq!(answer.findings[0].status, Status::Undecided, "{:?}", answer.findings[0].tried);
}

#[test]
fn a_gain_far_below_what_was_suspected_confirms_nothing() {
    let turn = turns();
    let mut answer = answer(vec![finding("P01", 0.95)]);
    proved(&mut answer, arms(&[("P01", "cure", Purpose::Cause)]), &|arm| {
        made(if arm == "cure" { 42.0 } else { 44.0 }, turn())
    });
    assert_eq!(answer.findings[0].tried[0].status, Status::Confirmed, "{:?}", answer.findings[0].tried);
    assert_eq!(answer.findings[0].status, Status::Undecided);
    assert!(answer.findings[0].caveats.iter().any(|caveat| caveat.contains("less than a tenth")));
}

#[test]
fn a_run_that_becomes_shorter_by_more_than_its_sleeps_did_something_else() {
    // Of 4.4 s, 1 s is spent in sleeps that may be too long.
    let status = |cured: f64| {
        let turn = turns();
        let mut finding = finding("P45", 0.95);
        (finding.cost.ns_per_exchange, finding.cost.between_ns_per_exchange) = (10_000_000, 10_000_000);
        let mut answer = answer(vec![finding]);
        let mut arms = arms(&[("P45", "cure", Purpose::Cause)]);
        arms.experiment.attempts[0].metric = Metric::Wall;
        proved(&mut answer, arms, &|arm| {
            let mut outcome = made(if arm == "cure" { cured } else { 440.0 }, turn());
            (outcome.row.exit, outcome.output) = (0, b"done".to_vec());
            outcome
        });
        let found = answer.findings.remove(0);
        (found.status, found.caveats.iter().any(|caveat| caveat.contains("saves more than the sleeps")))
    };
    assert_eq!(status(360.0), (Status::Confirmed, false));
    assert_eq!(status(40.0), (Status::Undecided, true));
}

#[test]
fn a_gain_that_only_makes_up_for_the_machinery_confirms_nothing() {
    let turn = turns();
    let mut answer = answer(vec![finding("P01", 0.3)]);
    proved(&mut answer, arms(&[("P01", "cure", Purpose::Cause)]), &|arm| {
        made(if arm == SHAM { 50.0 } else { 44.0 }, turn())
    });
    assert_eq!(answer.findings[0].status, Status::Undecided, "{:?}", answer.findings[0].tried);
    assert!(answer.findings[0].caveats.iter().any(|caveat| caveat.contains("overhead of attaching the machinery (1")));
}

#[test]
fn while_trials_run_the_largest_gain_that_is_certain_is_said() {
    let (said, turn) = (RefCell::new(Vec::new()), turns());
    let answer = answer(vec![finding("P01", 0.95)]);
    let mut execute = |arm: &Arm, _: &Extent| Ok(made(if arm.name == "cure" { 0.2 } else { 44.0 }, turn()));
    let say = |line: &str| said.borrow_mut().push(line.to_string());
    let arms = arms(&[("P01", "cure", Purpose::Cause)]);
    let terms = Terms { budget: Duration::from_hours(1), seed: 7, compares_output: true, say: &say };
    prove(arms, &answer, &mut execute, &terms).expect("no end");
    let said = said.into_inner();
    assert!(!said[0].contains("so far"), "nothing is certain yet: {said:?}");
    assert!(said.iter().any(|line| line.contains("; so far cure: 2")), "{said:?}");
}
