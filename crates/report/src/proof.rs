//! How the findings were tried: one closing line, and what was not tried.

use crate::certainty::reason;
use crate::figure::{noun, range, three};
use crate::style::Style;
use crate::text::{clean, counted, wrap};
use case::{Answer, Measured, Nanos, Proof, Status};

/// The closing line and the list; empty where nothing was tried.
pub(crate) fn proof(answer: &Answer, style: Style) -> String {
    let Some(proof) = &answer.proof else { return String::new() };
    let mut text = wrap(&told(proof), style.columns(), "Trials: ", "  ");
    let left = not_tried(answer, proof);
    if !left.is_empty() {
        text += "Not tried:\n";
        for why in left {
            text += &wrap(&clean(why), style.columns(), "  - ", "    ");
        }
    }
    text
}

/// How many trials there were, what the sham did, and whether the output stayed the same.
pub(crate) fn told(proof: &Proof) -> String {
    let (trials, rounds) = (u64::from(proof.trials), u64::from(proof.rounds));
    let (spent, budget) = (Nanos(proof.spent_ns), Nanos(proof.budget_ns));
    let run = match trials {
        0 => "none".to_string(),
        _ => format!("{} in {}, {spent} of the {budget} allowed", counted(trials, "run"), counted(rounds, "round")),
    };
    let sham = proof.sham.as_ref().map(sham).unwrap_or_default();
    let output = match proof.output.as_str() {
        "" => String::new(),
        "same" => "; the program's output was the same".into(),
        "same but for figures" => "; the program's output was the same but for figures".into(),
        "different" => "; the program's output was different".into(),
        why => format!("; the program's output was not compared: {}", clean(why).trim_end_matches('.')),
    };
    format!("{run}{sham}{output}.")
}

fn sham(sham: &Measured) -> String {
    let figures = format!("{} ({})", three(sham.ratio), range(sham.low, sham.high));
    format!("; {} with nothing attached / with the sham (all attached, inert): {figures}", noun(&sham.metric))
}

/// What was not tried, but for what its finding's paragraph says already.
pub(crate) fn not_tried<'a>(answer: &Answer, proof: &'a Proof) -> Vec<&'a str> {
    let suspected = answer.findings.iter().filter(|finding| finding.status == Status::Suspected);
    let said = suspected.filter_map(|finding| reason(finding, Some(proof))).collect::<Vec<_>>();
    proof.not_tried.iter().map(String::as_str).filter(|why| !said.contains(why)).collect()
}
