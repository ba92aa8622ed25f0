//! Whole experiments with trials made up: no program is run, so that every course of events can be had.

use super::*;
use crate::arrangement::Arrangement;
use crate::experiment::Attempt;
use crate::interventions::find;
use crate::metric::Metric;
use crate::traces::{SocketCounts, Traces};
use case::{Cost, Evidence, Finding, Ledger, LossTotals, Verdict};
use std::cell::RefCell;

fn finding(id: &str, share: f64) -> Finding {
    Finding {
        id: id.into(),
        name: id.into(),
        status: Status::Suspected,
        title: String::new(),
        mechanism: Vec::new(),
        cost: Cost { ns_per_exchange: 40_000_000, share_of_wall: share, ..Cost::default() },
        effect: None,
        tried: Vec::new(),
        place: Vec::new(),
        remedy: String::new(),
        evidence: Evidence::default(),
        caveats: Vec::new(),
    }
}

fn answer(findings: Vec<Finding>) -> Answer {
    Answer {
        schema: 1,
        command: Vec::new(),
        case: String::new(),
        wall_ns: 4_400_000_000,
        exchanges: 100,
        subject_exit: Some(0),
        verdict: Verdict::Suspected,
        summary: String::new(),
        findings,
        together: Vec::new(),
        proof: None,
        ledger: Ledger::default(),
        losses: LossTotals::default(),
        missing: Vec::new(),
    }
}

/// Arms made by hand: the reference arms, and one for each name.
fn arms(tried: &[(&str, &str, Purpose)]) -> Arms {
    let arm = |name: &str| Arm {
        name: name.into(),
        arrangement: Arrangement::default(),
        parts: find("tcp-nodelay").into_iter().filter(|_| name != SHAM).collect(),
    };
    let attempt = |(finding, name, purpose): &(&str, &str, Purpose)| Attempt {
        finding: (*finding).into(),
        arm: (*name).into(),
        intervention: (*name).into(),
        dose: String::new(),
        purpose: *purpose,
        metric: Metric::WallPerExchange,
    };
    let mut alone = vec![Arm::plain(), arm(SHAM)];
    alone.extend(tried.iter().map(|(_, name, _)| arm(name)));
    let experiment = Experiment { attempts: tried.iter().map(attempt).collect(), ..Experiment::default() };
    Arms { alone, ladders: Vec::new(), experiment }
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
        ..Trial::default()
    };
    let sockets = Some(SocketCounts { seen: 1, nodelay: 1, capped: 1, refused: 0 });
    let traces = Traces { sockets, ..Traces::default() };
    Outcome { row, traces, output: Vec::new(), errors: String::new(), took: Duration::from_millis(500) }
}

/// Proves with trials whose exchanges take what `length` says of each arm, and judges.
fn proved(answer: &mut Answer, arms: Arms, length: &dyn Fn(&str) -> Outcome) -> Vec<Trial> {
    let said = RefCell::new(Vec::new());
    let say = |line: &str| said.borrow_mut().push(line.to_string());
    let terms = Terms { budget: Duration::from_hours(1), seed: 7, compares_output: true, say: &say };
    let mut execute = |arm: &Arm, _: &Extent| Ok(length(&arm.name));
    let (experiment, trials) = prove(arms, answer, &mut execute, &terms).expect("an experiment");
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
    assert!(effect.also.iter().any(|other| other.metric == "cpu_ns_per_exchange" && (other.ratio - 1.0).abs() < 1e-9));
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
fn what_did_not_take_hold_proves_nothing() {
    let turn = turns();
    let mut answer = answer(vec![finding("P01", 0.95)]);
    let trials = proved(&mut answer, arms(&[("P01", "hope", Purpose::Cause)]), &|_| {
        let mut outcome = made(44.0, turn());
        outcome.traces.sockets = Some(SocketCounts::default());
        outcome
    });
    assert_eq!(answer.findings[0].status, Status::Suspected);
    let tried = &answer.findings[0].tried[0];
    assert!(!tried.applied && !tried.problem.is_empty(), "{tried:?}");
    assert!(trials.iter().filter(|trial| trial.arm == "hope").count() <= MOST_FAILURES + 1, "it is not tried for long");
}

#[test]
fn a_control_that_gains_as_much_as_the_cause_leaves_it_open() {
    let turn = turns();
    let mut answer = answer(vec![finding("P01", 0.95)]);
    let arms = arms(&[("P01", "cure", Purpose::Cause), ("P01", "control", Purpose::Control)]);
    proved(&mut answer, arms, &|arm| made(if arm == SHAM || arm == PLAIN { 44.0 } else { 0.2 }, turn()));
    assert_eq!(answer.findings[0].status, Status::Undecided);
    assert!(answer.findings[0].caveats.iter().any(|caveat| caveat.contains("should do nothing")));
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
fn what_does_not_fit_the_budget_is_said_and_not_begun() {
    let mut answer = answer(vec![finding("P01", 0.95)]);
    let say = |_: &str| {};
    let terms = Terms { budget: Duration::from_secs(1), seed: 7, compares_output: true, say: &say };
    let mut execute = |_: &Arm, _: &Extent| -> Result<Outcome, LabError> { panic!("a trial was run") };
    let arms = arms(&[("P01", "cure", Purpose::Cause)]);
    let (experiment, trials) = prove(arms, &answer, &mut execute, &terms).expect("an experiment");
    verdict::judge(&mut answer, &experiment, &trials);
    assert!(trials.is_empty() && answer.findings[0].status == Status::Suspected);
    assert!(answer.proof.is_some_and(|proof| proof.not_tried.iter().any(|why| why.contains("--budget"))));
}
