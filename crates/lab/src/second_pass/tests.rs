//! What a second round adds to an answer, with trials made up.

use super::*;
use crate::experiment::{Attempt, Joint, SHAM};
use crate::metric::Metric;
use case::tables::output;
use case::{Cost, Evidence, Nanos, Purpose, Verdict};

const UPON: &str = "bound-sscanf";
const ARM: &str = "bound-sscanf+switch-off=search";

fn finding(id: &str) -> Finding {
    Finding {
        id: id.into(),
        name: "superlinear-work".into(),
        status: Status::Suspected,
        title: "search takes what is left".into(),
        cost: Cost { ns_per_exchange: 8_000_000, share_of_wall: 0.8, share_of_cpu: 0.8, ..Cost::default() },
        evidence: Evidence { table: "samples".into(), rows: vec![1] },
        ..Finding::default()
    }
}

/// An answer with one finding, confirmed by what the second round stands on, and a suspicion behind it.
fn answer() -> Answer {
    let effect = case::Effect {
        intervention: UPON.into(),
        metric: "wall_ns".into(),
        before: 1e9,
        after: 1e7,
        ratio: 100.0,
        low: 90.0,
        high: 110.0,
        trials: 8,
        sham_ratio: 1.0,
        also: Vec::new(),
    };
    let cured = Finding { status: Status::Confirmed, effect: Some(effect), ..finding("P36") };
    let findings = vec![cured, finding("P39")];
    Answer {
        wall_ns: 1_000_000_000,
        subject_exit: Some(0),
        verdict: Verdict::Confirmed,
        summary: standing(&findings) + "No exchange was seen.",
        findings,
        proof: Some(Proof { trials: 12, rounds: 4, ..Proof::default() }),
        ..Answer::default()
    }
}

fn second_pass() -> SecondPass {
    let attempt = Attempt {
        finding: "P36".into(),
        arm: ARM.into(),
        intervention: "switch-off".into(),
        dose: "search".into(),
        purpose: Purpose::Cause,
        metric: Metric::Wall,
        reference: UPON.into(),
    };
    let joint = |arm: &str, parts: &[&str], before: &str| Joint {
        arm: arm.into(),
        interventions: parts.iter().map(ToString::to_string).collect(),
        before: before.into(),
        metric: Metric::Wall,
    };
    let joints = vec![joint(UPON, &[UPON], SHAM), joint(ARM, &[UPON, "switch-off=search"], UPON)];
    SecondPass {
        upon: UPON.into(),
        case: format!("after-{UPON}"),
        findings: vec![finding("P36")],
        candidate: Some(Candidate { function: "search".into(), share: 0.87 }),
        share_of_wall: 0.01,
        share_of_cpu: 0.01,
        experiment: Experiment { attempts: vec![attempt], joints, ..Experiment::default() },
        ..SecondPass::default()
    }
}

/// Rounds in which the function, switched off, wrote this.
fn trials(word: u8, problem: &str) -> Vec<Trial> {
    let row = |round: u32, arm: &str, milliseconds: u64| Trial {
        round,
        arm: arm.into(),
        wall: Nanos(milliseconds * 1_000_000 + u64::from(round) * 10_000),
        applied: true,
        output: output::SAME,
        metric: f64::NAN,
        ..Trial::default()
    };
    let round = |round| {
        let off = Trial { output: word, problem: problem.into(), ..row(round, ARM, 2) };
        [row(round, SHAM, 1000), row(round, UPON, 10), off]
    };
    (0..8).flat_map(round).collect()
}

#[test]
fn a_function_that_is_proved_stands_behind_the_first_with_its_share_of_the_whole() {
    let mut answer = answer();
    second_pass().judge(&mut answer, &trials(output::SAME, ""));
    let ids = answer.findings.iter().map(|one| (one.id.as_str(), one.status)).collect::<Vec<_>>();
    assert_eq!(
        ids,
        [("P36", Status::Confirmed), ("P36", Status::Confirmed), ("P39", Status::Suspected)],
        "{:?}",
        answer.findings[1].tried
    );
    assert!((answer.findings[1].cost.share_of_wall - 0.008).abs() < 1e-9);
    assert_eq!(answer.together.iter().map(|one| one.interventions.len()).collect::<Vec<_>>(), [1, 2]);
    assert!(answer.summary.starts_with("superlinear-work is confirmed; superlinear-work is suspected. No exchange"));
    assert!(
        answer.summary.ends_with("search is 87 % of the remaining CPU time, and the output does not need it."),
        "{}",
        answer.summary
    );
    assert_eq!(answer.findings[1].evidence.table, "after-bound-sscanf/samples");
    assert_eq!(answer.proof.map(|proof| proof.trials), Some(36));
}

#[test]
fn a_function_that_is_needed_leaves_no_more_than_a_sentence() {
    let mut answer = answer();
    let before = answer.clone();
    second_pass().judge(&mut answer, &trials(output::DIFFERENT, "the figures in the program's output were different"));
    assert_eq!((&answer.findings, &answer.together), (&before.findings, &before.together));
    let more = answer.summary.strip_prefix(&before.summary).expect("the summary goes on");
    assert_eq!(more, " With bound-sscanf, search is 87 % of the remaining CPU time, but the output needs it.");
}

#[test]
fn what_a_detector_found_is_reported_whatever_came_of_it() {
    let mut answer = answer();
    let found = SecondPass {
        candidate: None,
        findings: vec![finding("P29")],
        experiment: Experiment::default(),
        ..second_pass()
    };
    found.judge(&mut answer, &[]);
    assert_eq!(answer.findings[1].id, "P29");
    assert_eq!(answer.findings[1].status, Status::Suspected);
}
