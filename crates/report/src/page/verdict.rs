//! Section: the verdict. What it comes down to in sentences, the largest gain drawn, then each finding on a card.

mod card;
mod cured;
mod gain;
mod switched;

use super::{Material, Told};
use crate::bisection::grounds::{both_ways, cleared};
use crate::bisection::measuring as searched;
use crate::comparison::{contrast_sentence, gates, measuring as compared_how};
use crate::live::is_said_elsewhere;
use crate::proof::{not_tried, told};
use crate::sweep::{measuring as swept_how, reason, sweep_sentence, value::label};
use crate::terminal::{opening, ordered};
use crate::text::clean;
use crate::together;
use askama::Template;
use card::Card;
use case::{Answer, Bisection, Comparison, GateState, Matrix, Status, Sweep};
use gain::Gain;
use switched::SwitchedView;

#[derive(Default, Template)]
#[template(path = "page/verdict.html")]
struct Verdict {
    gates: Vec<GateLine>,
    lead: String,
    /// Where all of the time went, where the lead says how sure the causes are.
    whole: String,
    gain: Option<Gain>,
    reasons: Vec<String>,
    together: String,
    cards: Vec<Card>,
    switched: Vec<SwitchedView>,
    trials: String,
    not_tried: Vec<String>,
    warnings: Vec<String>,
}

/// A condition that must not be met, and what came of it.
struct GateLine {
    badge: &'static str,
    line: String,
}

/// The section's HTML.
pub(super) fn section(material: &Material) -> String {
    let verdict = match material.told {
        Told::Answer(answer) => of_answer(answer, material),
        Told::Comparison(comparison) => of_comparison(comparison),
        Told::Sweep(sweep) => of_sweep(sweep),
        Told::Bisection(bisection) => of_bisection(bisection, material),
        Told::Matrix(matrix) => of_matrix(matrix),
    };
    verdict.render().unwrap_or_default()
}

fn of_answer(answer: &Answer, material: &Material) -> Verdict {
    let summary = clean(&answer.summary);
    let standing = standing(answer);
    let whole = if standing.is_empty() { String::new() } else { clean(without_standing(answer)) };
    let lead = opening(answer).map_or_else(|| summary.clone(), |opening| format!("{opening} {summary}"));
    let lead = if standing.is_empty() { lead } else { standing };
    let shown = answer.live.iter().filter(|one| !is_said_elsewhere(one, answer));
    Verdict {
        lead,
        whole,
        gain: gain::of_answer(answer),
        together: together::sentence(&answer.together).map(|said| capitalised(&said)).unwrap_or_default(),
        cards: ordered(answer).map(|finding| card::card(finding, answer, material)).collect(),
        switched: shown.map(|one| switched::view(one, answer)).collect(),
        trials: answer.proof.as_ref().map(told).unwrap_or_default(),
        not_tried: answer.proof.iter().flat_map(|proof| not_tried(answer, proof)).map(clean).collect(),
        ..Verdict::default()
    }
}

/// The summary without how the findings stand, which the headline and the cards say.
fn without_standing(answer: &Answer) -> &str {
    answer.summary.strip_prefix(&case::standing(&answer.findings)).unwrap_or(&answer.summary)
}

/// How far the causes have got; empty where none is proved, for which the summary has the words.
fn standing(answer: &Answer) -> String {
    let count = |status: Status| answer.findings.iter().filter(|finding| finding.status == status).count();
    let of_trials = if answer.live.is_empty() {
        "switched off from outside, and the program was measured again"
    } else {
        "switched off in the running program, and what it did was measured"
    };
    let proved = match count(Status::Confirmed) {
        0 => return String::new(),
        1 => format!("One cause is proved: it was {of_trials}."),
        several => format!("{several} causes are proved: each was {of_trials}."),
    };
    match count(Status::Suspected) + count(Status::Undecided) {
        0 => proved,
        1 => format!("{proved} One more is suspected."),
        several => format!("{proved} {several} more are suspected."),
    }
}

fn of_comparison(comparison: &Comparison) -> Verdict {
    let gates = comparison.gates.iter().map(|gate| GateLine {
        badge: match gate.state {
            GateState::Failed => "bad",
            GateState::Passed => "good",
            GateState::Open => "warn",
        },
        line: gates::line(gate),
    });
    let summary = clean(&comparison.summary);
    Verdict {
        gates: gates.collect(),
        lead: if summary.is_empty() { contrast_sentence(comparison) } else { summary },
        gain: gain::of_comparison(comparison),
        trials: compared_how(comparison),
        warnings: comparison.warnings.iter().map(|warning| clean(warning)).collect(),
        ..Verdict::default()
    }
}

fn of_sweep(sweep: &Sweep) -> Verdict {
    let summary = clean(&sweep.summary);
    let reasons = sweep.cliffs.iter().map(|cliff| {
        let (below, above) = (label(sweep, cliff.below), label(sweep, cliff.above));
        format!("Why at {below} to {above}: {}", reason(sweep, cliff))
    });
    Verdict {
        lead: if summary.is_empty() { sweep_sentence(sweep) } else { summary },
        reasons: reasons.collect(),
        trials: swept_how(sweep),
        warnings: sweep.warnings.iter().map(|warning| clean(warning)).collect(),
        ..Verdict::default()
    }
}

fn of_bisection(bisection: &Bisection, material: &Material) -> Verdict {
    let mut reasons = Vec::new();
    if let Some(culprit) = &bisection.culprit {
        reasons.push(both_ways(bisection, culprit));
        reasons.extend(culprit.reasons.iter().map(|reason| clean(reason)));
        reasons.extend(culprit.cleared.iter().map(|one| format!("Cleared: {}", cleared(one))));
    }
    Verdict {
        lead: crate::bisection::said(bisection),
        gain: gain::of_bisection(bisection),
        reasons,
        cards: cured::cards(bisection, material),
        trials: searched(bisection),
        not_tried: bisection.not_tried.iter().map(|why| clean(why)).collect(),
        warnings: bisection.warnings.iter().map(|warning| clean(warning)).collect(),
        ..Verdict::default()
    }
}

fn of_matrix(matrix: &Matrix) -> Verdict {
    Verdict {
        lead: crate::matrix::said(matrix),
        trials: crate::matrix::measuring(matrix),
        warnings: matrix.warnings.iter().map(|warning| clean(warning)).collect(),
        ..Verdict::default()
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
