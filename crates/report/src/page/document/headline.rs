//! The verdict in a few words: the page's one headline, and the title of its tab.

use super::super::Told;
use crate::bisection::sentence::{is_better, who};
use crate::figure::{power, three};
use crate::finding::head_word;
use crate::matrix::{measured, worst};
use crate::outcome::{Outcome, outcome, sweep_outcome};
use crate::sweep::regimes::standing;
use crate::sweep::value::{heading, label};
use crate::text::clean;
use case::{Answer, Bisection, BisectionOutcome, Compared, Comparison, Contrast, GateState, Matrix, Status, Sweep};

/// The verdict in a few words.
pub(in crate::page) fn headline(told: Told) -> String {
    match told {
        Told::Answer(answer) => of_answer(answer),
        Told::Comparison(comparison) => of_comparison(comparison),
        Told::Sweep(sweep) => of_sweep(sweep),
        Told::Bisection(bisection) => of_bisection(bisection),
        Told::Matrix(matrix) => of_matrix(matrix),
    }
}

fn of_answer(answer: &Answer) -> String {
    for status in [Status::Confirmed, Status::Suspected] {
        let findings = answer.findings.iter().filter(|finding| finding.status == status);
        let names = unique(findings.map(|finding| clean(&finding.name)));
        if !names.is_empty() {
            return format!("{}: {}", head_word(status), names.join(", "));
        }
    }
    match outcome(answer) {
        Outcome::Inconclusive(_) => "Inconclusive".into(),
        _ => "No cause found".into(),
    }
}

fn of_comparison(comparison: &Comparison) -> String {
    if let Some(failed) = comparison.gates.iter().find(|gate| gate.state == GateState::Failed) {
        return format!("Failed: {}", clean(&failed.condition));
    }
    match (comparison.outcome, comparison.metrics.first()) {
        (Contrast::More | Contrast::Less, Some(first)) => against(first),
        (Contrast::Same, _) => "A and B take the same".into(),
        _ => "Undecided whether A and B differ".into(),
    }
}

/// What the first metric says, as a factor over 1.
fn against(first: &Compared) -> String {
    let Compared { ratio, outcome, .. } = *first;
    if first.metric.starts_with("stdout") {
        return format!("B's figure is {} times A's", three(ratio));
    }
    let kind = if first.metric.starts_with("cpu_ns") { "of A's processor time" } else { "as long as A" };
    match outcome {
        Contrast::More => format!("B takes {} times {kind}", three(ratio)),
        _ => format!("B is faster: A takes {} times as long", three(ratio.recip())),
    }
}

fn of_sweep(sweep: &Sweep) -> String {
    let parameter = heading(sweep);
    if let [cliff, more @ ..] = &sweep.cliffs[..] {
        let (below, above) = (label(sweep, cliff.below), label(sweep, cliff.above));
        let more = if more.is_empty() { String::new() } else { format!(", and {} more", more.len()) };
        return format!("A cliff between {parameter} {below} and {above}{more}");
    }
    if let Some(growth) = sweep.growth.as_ref().filter(|growth| growth.out_of_hand) {
        return format!("Out of hand: it grows with {parameter} to the power of {}", power(growth.exponent));
    }
    let suspects = sweep.regimes.iter().flat_map(standing).map(|finding| clean(&finding.name));
    match (sweep_outcome(sweep), unique(suspects)) {
        (Outcome::Inconclusive(_), _) => "Inconclusive".into(),
        (_, names) if !names.is_empty() => format!("Suspected: {}", names.join(", ")),
        _ => format!("No cliff, and no growth out of hand, with {parameter}"),
    }
}

fn of_bisection(bisection: &Bisection) -> String {
    let who = bisection.culprit.as_ref().map(|culprit| who(bisection, culprit)).unwrap_or_default();
    match bisection.outcome {
        BisectionOutcome::Confirmed => format!("Confirmed: {who}"),
        BisectionOutcome::Found => format!("Found: {who}"),
        BisectionOutcome::NoEffect if bisection.baseline.first().is_some_and(is_better) => {
            "The bad world is the faster one".into()
        }
        BisectionOutcome::NoEffect => "The worlds do not differ".into(),
        BisectionOutcome::NotSeparable => "Nothing that can be switched alone makes the difference".into(),
        BisectionOutcome::Undecided => "Undecided what makes the difference".into(),
    }
}

fn of_matrix(matrix: &Matrix) -> String {
    let (library, first) = (clean(&matrix.library), measured(matrix).next().map(|first| clean(&first.version)));
    let (Some(first), true) = (first, measured(matrix).count() > 1) else {
        return "Undecided: fewer than two versions were measured".into();
    };
    match worst(matrix) {
        Some((version, compared)) => {
            let (version, ratio) = (clean(&version.version), three(compared.ratio));
            format!("{library} {version} takes {ratio} times what {first} takes")
        }
        None => format!("No version of {library} is slower than {first}"),
    }
}

fn unique(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut unique: Vec<String> = Vec::new();
    for name in names {
        if !unique.contains(&name) {
            unique.push(name);
        }
    }
    unique
}
