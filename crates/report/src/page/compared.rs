//! Section: A against B: what was asked of it, every metric on one axis of ratios, and in which code and calls they
//! differ. Where time went, and the trials one by one, are other sections.

mod contrasts;
mod ratios;

use super::{Material, Told};
use crate::command::command;
use crate::comparison::gates::line;
use crate::comparison::sides::particulars;
use crate::text::{clean, counted};
use askama::Template;
use case::{Comparison, Contrast, GateState, Nanos};

#[derive(Template)]
#[template(path = "page/compared.html")]
struct Compared {
    gates: Vec<Gate>,
    both: String,
    a: Vec<String>,
    b: Vec<String>,
    metrics: String,
    is_noise: bool,
    contrasts: String,
    output: String,
    trials: String,
    warnings: Vec<String>,
}

/// A condition, and what came of it.
struct Gate {
    class: &'static str,
    text: String,
}

/// The section's HTML; nothing where nothing was compared.
pub(super) fn section(material: &Material) -> String {
    let Told::Comparison(comparison) = material.told else { return String::new() };
    let differs = |outcome: Contrast| matches!(outcome, Contrast::More | Contrast::Less);
    let (a, b) = (&comparison.a, &comparison.b);
    let page = Compared {
        gates: comparison.gates.iter().map(|gate| Gate { class: state(gate.state), text: line(gate) }).collect(),
        both: if a.command == b.command { command(&a.command) } else { String::new() },
        a: particulars(a, b),
        b: particulars(b, a),
        metrics: ratios::table(&comparison.metrics),
        is_noise: !comparison.metrics.iter().any(|one| differs(one.outcome)),
        contrasts: contrasts::tables(comparison),
        output: output(comparison),
        trials: trials(comparison),
        warnings: comparison.warnings.iter().map(|warning| clean(warning)).collect(),
    };
    page.render().unwrap_or_default()
}

fn state(state: GateState) -> &'static str {
    match state {
        GateState::Failed => "failed",
        GateState::Passed => "passed",
        GateState::Open => "open",
    }
}

/// Whether both wrote the same.
fn output(comparison: &Comparison) -> String {
    match comparison.output.as_str() {
        "" => String::new(),
        "same" => "A and B wrote the same.".into(),
        "same but for figures" => "A and B wrote the same but for figures.".into(),
        "different" => "A and B wrote different things: they may not have done the same work.".into(),
        why => format!("What they wrote was not compared: {}.", clean(why).trim_end_matches('.')),
    }
}

fn trials(comparison: &Comparison) -> String {
    let (spent, budget) = (Nanos(comparison.spent_ns), Nanos(comparison.budget_ns));
    match comparison.trials {
        0 => "There were no trials.".into(),
        trials => format!("{}, A and B in turns: {spent} of the {budget} allowed.", counted(trials.into(), "run")),
    }
}

#[cfg(test)]
mod tests;
