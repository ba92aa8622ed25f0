//! How it was measured: how many trials, what the sham did, whether the output stayed the same; then what was not tried,
//! and what makes the result worth less.

use crate::block::{Block, Section};
use crate::blocks::findings::certainty::reason;
use crate::document::{Body, Document};
use crate::figure::{noun, range, three};
use crate::part::{Part, under};
use crate::text::{clean, counted};
use case::facts::Sameness;
use case::{Answer, Bisection, Comparison, Matrix, Measured, Nanos, Proof, Status, Sweep};

pub(crate) const BLOCK: Block = Block::of(Section::Verdict, |document| {
    let how = how(document);
    if how.is_empty() { Vec::new() } else { vec![Part::Labelled("Trials", how)] }
});

/// What was not tried, and why.
pub(crate) const NOT_TRIED: Block = Block::of(Section::Verdict, |document| {
    let left = match document.body {
        Body::Answer(answer) => answer.proof.iter().flat_map(|proof| not_tried(answer, proof)).collect(),
        Body::Bisection(bisection) => bisection.not_tried.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    };
    under("Not tried", [Part::List(left.into_iter().map(ToString::to_string).collect())])
});

/// What makes the result worth less.
pub(crate) const WARNINGS: Block =
    Block::of(Section::Verdict, |document| under("But", [Part::List(document.body.warnings().to_vec())]));

fn how(document: &Document) -> String {
    match document.body {
        Body::Answer(answer) => answer.proof.as_ref().map(of_proof).unwrap_or_default(),
        Body::Comparison(comparison) => of_comparison(comparison),
        Body::Sweep(sweep) => of_sweep(sweep),
        Body::Bisection(bisection) => of_bisection(bisection),
        Body::Matrix(matrix) => of_matrix(matrix),
        Body::Measured(_) => String::new(),
    }
}

fn of_comparison(comparison: &Comparison) -> String {
    let (spent, budget) = (Nanos(comparison.spent_ns), Nanos(comparison.budget_ns));
    let run = match comparison.trials {
        0 => "none".to_string(),
        trials => format!("{}, {spent} of the {budget} budget", counted(trials.into(), "run")),
    };
    let output = match &comparison.output {
        Sameness::NothingRun => String::new(),
        Sameness::Same => "; both wrote the same output".into(),
        Sameness::SameButForFigures => "; both wrote the same output apart from numbers".into(),
        Sameness::Different => "; they wrote different output".into(),
        Sameness::NotCompared(why) => format!("; their output was not compared: {}", clean(why).trim_end_matches('.')),
    };
    format!("{run}{output}.")
}

fn of_sweep(sweep: &Sweep) -> String {
    let (spent, budget) = (Nanos(sweep.spent_ns), Nanos(sweep.budget_ns));
    match sweep.trials {
        0 => "none.".to_string(),
        trials => format!("{}, {spent} of the {budget} budget.", counted(trials.into(), "run")),
    }
}

fn of_bisection(bisection: &Bisection) -> String {
    let (preparing, spent) = (Nanos(bisection.preparing_ns), Nanos(bisection.spent_ns));
    let probes = counted(bisection.trials.into(), "probe");
    let runs = counted(bisection.runs.into(), "run");
    if bisection.trials == 0 {
        return format!("{runs}, alternating between the worlds; {preparing} to prepare them, {spent} to run.");
    }
    format!("{probes}, {runs} in total; {preparing} to prepare the worlds, {spent} to search.")
}

fn of_matrix(matrix: &Matrix) -> String {
    let (preparing, spent) = (Nanos(matrix.preparing_ns), Nanos(matrix.spent_ns));
    let rounds = counted(matrix.rounds.into(), "round");
    format!("{rounds} of all versions in random order; {preparing} to build, {spent} to run.")
}

/// How many trials there were, what the sham did, and whether the output stayed the same.
fn of_proof(proof: &Proof) -> String {
    let (trials, rounds) = (u64::from(proof.trials), u64::from(proof.rounds));
    let (spent, budget) = (Nanos(proof.spent_ns), Nanos(proof.budget_ns));
    let run = match trials {
        // What was not tried, and why, follows.
        0 => return String::new(),
        _ => format!("{} in {}, {spent} of the {budget} budget", counted(trials, "run"), counted(rounds, "round")),
    };
    let sham = proof.sham.as_ref().map(sham).unwrap_or_default();
    let output = match &proof.output {
        Sameness::NothingRun => String::new(),
        Sameness::Same => " The program's output was always the same.".into(),
        Sameness::SameButForFigures => " The program's output was always the same apart from numbers.".into(),
        Sameness::Different => " The program's output was not always the same.".into(),
        Sameness::NotCompared(why) => {
            format!(" The program's output was not compared: {}.", clean(why).trim_end_matches('.'))
        }
    };
    format!("{run}.{sham}{output}")
}

fn sham(sham: &Measured) -> String {
    let figures = format!("{} ({})", three(sham.ratio), range(sham.low, sham.high));
    let verdict = if sham.low <= 1.0 && sham.high >= 1.0 { "changes nothing measurable" } else { "has an effect" };
    let metric = noun(&sham.metric);
    format!(" The machinery itself {verdict}: {metric} without / with it, inert (sham): {figures}.")
}

/// What was not tried, but for what its finding's paragraph says already.
fn not_tried<'a>(answer: &Answer, proof: &'a Proof) -> Vec<&'a str> {
    let suspected = answer.findings.iter().filter(|finding| finding.status == Status::Suspected);
    let said = suspected.filter_map(|finding| reason(finding, Some(proof))).collect::<Vec<_>>();
    proof.not_tried.iter().map(String::as_str).filter(|why| !said.contains(why)).collect()
}
