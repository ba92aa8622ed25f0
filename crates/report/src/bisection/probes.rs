//! Every probe in the order made, on the axis from bad to good.

use super::axis::{drawn, place};
use super::label::{MOST_NAMES, is_of_commits, names};
use crate::grid::{Align, Row, grid};
use crate::style::Style;
use crate::text::{clean, counted};
use case::{Bisection, Probe, ProbeKind, ProbeResult};

/// How a probe's note begins that only lists what was mapped.
const LOADED: &str = "loaded: ";

/// The table; empty where nothing was probed.
pub(super) fn probes(bisection: &Bisection, style: Style) -> String {
    if bisection.probes.is_empty() {
        return String::new();
    }
    let heading = Row::new("", ["", "bad                   good", "place", ""]);
    let rows = bisection.probes.iter().enumerate().map(|(index, probe)| row(index, probe));
    let rows = [heading].into_iter().chain(rows).collect::<Vec<_>>();
    let what = if is_of_commits(bisection) { "Commits, as built" } else { "Probes, in the order made" };
    let title = format!("{what} (0: as the bad world, 1: as the good one):\n");
    title + &grid(&rows, &[Align::Left; 4], " ", style)
}

fn row(index: usize, probe: &Probe) -> Row {
    let cells = [kind(probe.kind).to_string(), drawn(probe), place(probe), result(probe.result).to_string()];
    Row { note: taken(probe), ..Row::new((index + 1).to_string(), cells) }
}

/// What was taken from the good world for a probe, on how many pairs it rests, and what else there is to say.
pub(crate) fn taken(probe: &Probe) -> String {
    let with = probe.taken.iter().filter(|name| !probe.asked.contains(name)).cloned().collect::<Vec<_>>();
    let mut text = match (probe.kind, probe.asked.is_empty()) {
        (ProbeKind::All, false) if probe.asked.len() > 1 => {
            format!("all {} that can be taken", probe.asked.len())
        }
        // A part of nearly all is told by its size: the tree and the JSON have the names.
        (ProbeKind::Removal, false) if probe.asked.len() > MOST_NAMES => format!("{} others", probe.asked.len()),
        (_, false) => names(&probe.asked),
        (_, true) => String::new(),
    };
    if !with.is_empty() {
        let word = if probe.kind == ProbeKind::Apt { ", which brings" } else { "; with" };
        text += &format!("{word} {}", names(&with));
    }
    let pairs = if probe.pairs > 0 { format!("({})", counted(probe.pairs.into(), "pair")) } else { String::new() };
    // Of many, a list of what was mapped says nothing more.
    let is_noise = probe.taken.len() > MOST_NAMES && probe.place.is_some() && probe.note.starts_with(LOADED);
    let note = if is_noise { String::new() } else { clean(&probe.note) };
    let parts = [text, pairs, if note.is_empty() { note } else { format!("- {note}") }];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// What a probe was for, in a word.
pub(crate) fn kind(kind: ProbeKind) -> &'static str {
    match kind {
        ProbeKind::All => "all",
        ProbeKind::Suspect => "suspect",
        ProbeKind::Part => "part",
        ProbeKind::Shrink => "fewer",
        ProbeKind::Removal => "others",
        ProbeKind::Split => "version",
        ProbeKind::Apt => "install",
    }
}

/// What a probe says, in a word or two.
pub(crate) fn result(result: ProbeResult) -> &'static str {
    match result {
        ProbeResult::Good => "fast",
        ProbeResult::Bad => "slow",
        ProbeResult::Unclear => "unclear",
        ProbeResult::Untestable => "not testable",
    }
}
