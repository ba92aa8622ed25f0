//! The verdict in a few words: the page's one headline, and the title of its tab.

use crate::blocks::findings::head_word;
use crate::blocks::lead::in_brief;
use crate::conclusion::{Conclusion, conclusion, sweep_conclusion};
use crate::document::Body;
use crate::figure::{is_better, noun, power, three};
use crate::label::who;
use crate::ranking::{measured, worst};
use crate::text::clean;
use crate::value::{heading, label, standing};
use case::{
    Answer, Bisection, BisectionOutcome, Compared, Comparison, Contrast, GateState, Matrix, Share, Status, Sweep,
};

/// The verdict in a few words.
pub(super) fn headline(body: Body) -> String {
    match body {
        Body::Answer(answer) => of_answer(answer),
        Body::Comparison(comparison) => of_comparison(comparison),
        Body::Sweep(sweep) => of_sweep(sweep),
        Body::Bisection(bisection) => of_bisection(bisection),
        Body::Matrix(matrix) => of_matrix(matrix),
        Body::Measured(measured) => measured.shown().headline,
    }
}

fn of_answer(answer: &Answer) -> String {
    let what_hurts = what_hurts(answer);
    // What none of the findings explains is said before them, unless one is proved.
    let is_proved = answer.findings.iter().any(|finding| finding.status == Status::Confirmed);
    if let Some(what_hurts) = what_hurts.as_ref().filter(|_| !is_proved && conclusion(answer) == Conclusion::Findings) {
        return what_hurts.clone();
    }
    for word in ["Confirmed", "Suspected", "Observed"] {
        let findings = answer.findings.iter().filter(|finding| head_word(finding) == word).collect::<Vec<_>>();
        match (&findings[..], unique(findings.iter().map(|finding| clean(&finding.name)))) {
            ([], _) => (),
            // One is said in words; several by their names.
            ([one], _) if !one.what.is_empty() => return format!("{word}: {}", clean(&one.what)),
            (_, names) => return format!("{word}: {}", names.join(", ")),
        }
    }
    match (conclusion(answer), what_hurts) {
        (Conclusion::Inconclusive(_), _) => "Inconclusive".into(),
        (_, Some(what_hurts)) if answer.leading_line().is_some() || answer.one_wait().is_some() => what_hurts,
        _ => "No cause found".into(),
    }
}

/// What most of the time goes into, where no finding explains it.
fn what_hurts(answer: &Answer) -> Option<String> {
    let line =
        || answer.leading_line().map(|line| format!("Requests wait in line for {} of their time", Share(line.share())));
    line().or_else(|| answer.leading_account().map(|account| in_brief(account, answer)))
}

fn of_comparison(comparison: &Comparison) -> String {
    if let Some(failed) = comparison.gates.iter().find(|gate| gate.state == GateState::Failed) {
        return format!("Failed: {}", clean(&failed.condition));
    }
    match (comparison.outcome, comparison.metrics.first()) {
        (Contrast::More | Contrast::Less, Some(first)) => against(first),
        (Contrast::Same, _) => "A and B do not differ".into(),
        _ => "Undecided whether A and B differ".into(),
    }
}

/// What the first metric says, as a factor over 1.
fn against(first: &Compared) -> String {
    let is_more = first.outcome == Contrast::More;
    let times = three(if is_more { first.ratio } else { first.ratio.recip() });
    match (&first.metric, is_more) {
        (metric, true) if metric.is_processor() => format!("B uses {times} times more CPU time than A"),
        (metric, false) if metric.is_processor() => format!("B uses {times} times less CPU time than A"),
        (metric, true) if metric.is_of_the_program() => format!("B's {} is {times} times higher", noun(metric)),
        (metric, false) if metric.is_of_the_program() => format!("B's {} is {times} times lower", noun(metric)),
        (_, true) => format!("B is {times} times slower than A"),
        (_, false) => format!("B is {times} times faster than A"),
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
        return format!("Superlinear: grows with {parameter} to the power of {}", power(growth.exponent));
    }
    let suspects = sweep.regimes.iter().flat_map(standing).map(|finding| clean(&finding.name));
    match (sweep_conclusion(sweep), unique(suspects)) {
        (Conclusion::Inconclusive(_), _) => "Inconclusive".into(),
        (_, names) if !names.is_empty() => format!("Suspected: {}", names.join(", ")),
        _ => format!("No cliff and no superlinear growth with {parameter}"),
    }
}

fn of_bisection(bisection: &Bisection) -> String {
    let who = bisection.culprit.as_ref().map(|culprit| who(bisection, culprit)).unwrap_or_default();
    match bisection.outcome {
        BisectionOutcome::Confirmed => format!("Confirmed: {who}"),
        BisectionOutcome::Found => format!("Found: {who}"),
        BisectionOutcome::NoEffect if bisection.baseline.first().is_some_and(is_better) => {
            "The bad world is faster".into()
        }
        BisectionOutcome::NoEffect => "The worlds do not differ".into(),
        BisectionOutcome::NotSeparable => "No single change makes the difference".into(),
        BisectionOutcome::Undecided => "Undecided: the cause was not pinned down".into(),
    }
}

fn of_matrix(matrix: &Matrix) -> String {
    let (library, first) = (clean(&matrix.library), measured(matrix).next().map(|first| clean(&first.version)));
    let (Some(first), true) = (first, measured(matrix).count() > 1) else {
        return "Undecided: fewer than two versions were measured".into();
    };
    match worst(matrix) {
        Some((version, compared)) => {
            let (version, ratio) = (clean(&version.version), three(compared.ratio.max(compared.ratio.recip())));
            let what = noun(&compared.metric);
            let how = if compared.ratio > 1.0 { "higher" } else { "lower" };
            format!("{library} {version}: {what} {ratio} times {how} than with {first}")
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
