//! A sweep as text: what it comes down to, why the cliffs are where they are, a plot, the points, what each stretch of
//! values was found to suffer from, and what grows.

mod growth;
mod plot;
pub(crate) mod points;
pub(crate) mod regimes;
mod sentence;
pub(crate) mod value;

pub use self::sentence::sweep_sentence;

use self::value::{heading, label};
use crate::command::command;
use crate::comparison::warnings;
use crate::figure::noun;
use crate::style::Style;
use crate::text::{clean, counted, whereabouts, wrap};
use case::{Cliff, Nanos, Sweep};

/// The sweep as text, at most 80 columns wide but for words that are longer.
pub fn sweep(sweep: &Sweep, style: &Style) -> String {
    let style = *style;
    let blocks = [
        summary(sweep, style),
        reasons(sweep, style),
        varied(sweep, style),
        plot::plot(sweep, style),
        points::points(sweep, style),
        regimes::regimes(sweep, style),
        growth::growth(sweep, style),
        closing(sweep, style),
        whereabouts(&sweep.page, &sweep.case),
    ];
    blocks.into_iter().filter(|block| !block.is_empty()).collect::<Vec<_>>().join("\n")
}

fn summary(sweep: &Sweep, style: Style) -> String {
    let summary = clean(&sweep.summary);
    let said = if summary.is_empty() { sweep_sentence(sweep) } else { summary };
    wrap(&said, style.columns(), "", "").lines().map(|line| style.bold(line) + "\n").collect()
}

/// Why each cliff is where it is.
fn reasons(sweep: &Sweep, style: Style) -> String {
    let one = |cliff: &Cliff| {
        let (below, above) = (label(sweep, cliff.below), label(sweep, cliff.above));
        wrap(&format!("Why at {below} to {above}: {}", reason(sweep, cliff)), style.columns(), "", "  ")
    };
    sweep.cliffs.iter().map(one).collect()
}

pub(crate) fn reason(sweep: &Sweep, cliff: &Cliff) -> String {
    if !cliff.reason.is_empty() {
        return clean(&cliff.reason);
    }
    match cliff.segment {
        None => "it is not known.".into(),
        Some(tie) => format!(
            "a segment of the connection holds {} bytes, {} of which are not of the {}: the last that fits one segment \
             is {}.",
            tie.mss,
            tie.overhead,
            heading(sweep),
            tie.predicted
        ),
    }
}

/// What was varied, in what.
fn varied(sweep: &Sweep, style: Style) -> String {
    let mut text =
        wrap(&format!("{} in {}", heading(sweep), command(&sweep.command)), style.columns(), "Varied: ", "  ");
    if !sweep.server.is_empty() {
        text += &wrap(&command(&sweep.server), style.columns(), "Server: ", "  ");
    }
    // The table has no room for a figure's whole name.
    if sweep.metric.starts_with("stdout") {
        text += &wrap(&noun(&sweep.metric), style.columns(), "Measured: ", "  ");
    }
    text
}

fn closing(sweep: &Sweep, style: Style) -> String {
    wrap(&measuring(sweep), style.columns(), "Trials: ", "  ") + &warnings(&sweep.warnings, style)
}

/// How it was measured, in a sentence.
pub(crate) fn measuring(sweep: &Sweep) -> String {
    let (spent, budget) = (Nanos(sweep.spent_ns), Nanos(sweep.budget_ns));
    match sweep.trials {
        0 => "none.".to_string(),
        trials => format!("{}, {spent} of the {budget} allowed.", counted(trials.into(), "run")),
    }
}

#[cfg(test)]
pub(crate) mod examples;
#[cfg(test)]
mod tests;
