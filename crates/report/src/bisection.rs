//! A bisection as text: what makes the difference, what speaks for it, who burns the time, how to get rid of it; then what
//! was measured, what differs, and every probe.

pub(crate) mod axis;
pub(crate) mod burner;
pub(crate) mod cures;
pub(crate) mod factors;
pub(crate) mod grounds;
pub(crate) mod label;
pub(crate) mod probes;
pub(crate) mod sentence;

pub use self::sentence::bisection_sentence;

use crate::command::command;
use crate::comparison::{measured, warnings};
use crate::style::Style;
use crate::text::{clean, counted, whereabouts, wrap};
use case::{Bisection, Nanos, WorldTold};

/// The bisection as text, at most 80 columns wide but for commands to copy and words that are longer.
pub fn bisection(bisection: &Bisection, style: &Style) -> String {
    let style = *style;
    let blocks = [
        summary(bisection, style),
        grounds::grounds(bisection, style),
        cures::cures(bisection, style),
        cures::way_back(bisection, style),
        worlds(bisection, style),
        measured("What was measured", &bisection.baseline, ["good", "bad", "bad/good"], style),
        burner::burner(bisection, style),
        factors::factors(bisection, style),
        probes::probes(bisection, style),
        measured("The control, another command in both", &bisection.control, ["good", "bad", "bad/good"], style),
        not_tried(bisection, style),
        closing(bisection, style),
        whereabouts(&bisection.page, &bisection.case),
    ];
    blocks.into_iter().filter(|block| !block.is_empty()).collect::<Vec<_>>().join("\n")
}

fn summary(bisection: &Bisection, style: Style) -> String {
    wrap(&said(bisection), style.columns(), "", "").lines().map(|line| style.bold(line) + "\n").collect()
}

/// The summary that is kept, or where there is none, what it would be.
pub(crate) fn said(bisection: &Bisection) -> String {
    let summary = clean(&bisection.summary);
    if summary.is_empty() { bisection_sentence(bisection) } else { summary }
}

/// Both worlds and what ran in them.
fn worlds(bisection: &Bisection, style: Style) -> String {
    let mut text = wrap(&world(&bisection.good), style.columns(), "Good: ", "      ");
    text += &wrap(&world(&bisection.bad), style.columns(), "Bad:  ", "      ");
    text += &wrap(&command(&bisection.command), style.columns(), "Ran:  ", "      ");
    if !bisection.server.is_empty() {
        text += &wrap(&command(&bisection.server), style.columns(), "Server: ", "      ");
    }
    text
}

/// A world in a line: how it was asked for, what it is, how much of it is used.
pub(crate) fn world(world: &WorldTold) -> String {
    let (name, title) = (clean(&world.name), clean(&world.title));
    let title = if title.is_empty() || title == name { String::new() } else { format!(" - {title}") };
    let used = match (world.packages, world.used) {
        (0, _) | (_, 0) => String::new(),
        (_, used) if title.is_empty() => format!("; {} used", counted(used.into(), "package")),
        (_, used) => format!("; {used} of them used"),
    };
    format!("{name}{title}{used}")
}

fn not_tried(bisection: &Bisection, style: Style) -> String {
    if bisection.not_tried.is_empty() {
        return String::new();
    }
    let lines = bisection.not_tried.iter().map(|why| wrap(&clean(why), style.columns(), "  - ", "    "));
    format!("Not tried:\n{}", lines.collect::<String>())
}

fn closing(bisection: &Bisection, style: Style) -> String {
    wrap(&measuring(bisection), style.columns(), "Trials: ", "  ") + &warnings(&bisection.warnings, style)
}

/// How it was searched, in a sentence.
pub(crate) fn measuring(bisection: &Bisection) -> String {
    let (preparing, spent) = (Nanos(bisection.preparing_ns), Nanos(bisection.spent_ns));
    let probes = counted(bisection.trials.into(), "probe");
    let runs = counted(bisection.runs.into(), "run");
    if bisection.trials == 0 {
        return format!("{runs} of both worlds in turns; {preparing} for the worlds, {spent} for the runs.");
    }
    format!("{probes} to find it, {runs} in all; {preparing} for the worlds, {spent} for the search.")
}

#[cfg(test)]
pub(crate) mod examples;
#[cfg(test)]
mod tests;
