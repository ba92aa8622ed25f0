//! Every probe of a bisection in the order made, on the axis from bad to good; and how the search split what differs.

mod axis;
mod tree;

use crate::block::{Block, Section};
use crate::document::Document;
use crate::grid::Row;
use crate::label::{MOST_NAMES, is_of_commits, names};
use crate::part::{self, Part, Table, under};
use crate::place::{drawn, figure_at, place};
use crate::text::{clean, counted};
use case::{Bisection, Probe, ProbeKind, ProbeResult};

pub(crate) const BLOCK: Block = Block {
    text: Some(|document, style| {
        part::text::of(&table(document, ["", "bad                   good", "place", ""], text_row), style)
    }),
    html: Some(|document| document.bisection().map_or(String::new(), |one| axis::axis(one) + &tree::tree(one))),
    ..Block::of(Section::Bisection, |document| {
        table(document, ["For", "place (95 % interval)", "about", "Result"], row)
    })
};

/// How a probe's note begins that only lists what was mapped.
const LOADED: &str = "loaded: ";

fn table(document: &Document, columns: [&str; 4], row: fn(&Bisection, (usize, &Probe)) -> Row) -> Vec<Part> {
    let Some(bisection) = document.bisection() else { return Vec::new() };
    let rows = bisection.probes.iter().enumerate().map(|probe| row(bisection, probe)).collect();
    let what = if is_of_commits(bisection) { "Commits, as built" } else { "Probes, in the order made" };
    let table = Table::of("", columns, rows).words(1).words(2).words(3).words(4);
    under(format!("{what} (0: as the bad world, 1: as the good one)"), [Part::Table(table)])
}

/// With the probe drawn in letters.
fn text_row(_: &Bisection, (index, probe): (usize, &Probe)) -> Row {
    let cells = [kind(probe.kind).to_string(), drawn(probe), place(probe), result(probe).to_string()];
    Row::new((index + 1).to_string(), cells).with_note(taken(probe))
}

/// With its figure.
fn row(bisection: &Bisection, (index, probe): (usize, &Probe)) -> Row {
    let figure = figure_at(bisection, probe.place).unwrap_or_default();
    let cells = [kind(probe.kind).to_string(), place(probe), figure, result(probe).to_string()];
    Row::new(format!("{}. {}", index + 1, taken(probe)), cells)
}

/// What was taken from the good world for a probe, on how many pairs it rests, and what else there is to say.
fn taken(probe: &Probe) -> String {
    let with = probe.taken.iter().filter(|name| !probe.asked.contains(name)).cloned().collect::<Vec<_>>();
    let mut text = match (probe.kind, probe.asked.is_empty()) {
        (ProbeKind::All, false) if probe.asked.len() > 1 => {
            format!("all {} that can be taken", probe.asked.len())
        }
        // A part of nearly all is named by its size: the tree and the JSON have the names.
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
fn kind(kind: ProbeKind) -> &'static str {
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
fn result(probe: &Probe) -> &'static str {
    // Whatever is taken from the good world has a kind of its own: only commits are asked about and nothing taken.
    let is_commit = probe.taken.is_empty() && probe.place.is_some();
    match probe.result {
        ProbeResult::Good => "fast",
        ProbeResult::Bad => "slow",
        ProbeResult::Unclear if is_commit && probe.kind == ProbeKind::Part => "in between",
        ProbeResult::Unclear => "unclear",
        ProbeResult::Untestable => "not testable",
    }
}
