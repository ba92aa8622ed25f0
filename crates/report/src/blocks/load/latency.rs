//! How long requests and their parts took, in figures.

use super::words::phase;
use crate::block::{Block, Section};
use crate::document::Document;
use crate::figure::three;
use crate::grid::Row;
use crate::part::{Part, Table, under};
use crate::text::count;
use case::{Latency, Load, Nanos};

/// Requests and their parts.
pub(crate) const BLOCK: Block = Block::of(Section::Lengths, |document: &Document| {
    let Some(found) = document.load() else { return Vec::new() };
    let whole = if found.uncorrected.is_some() { "from the intended start" } else { "whole request" };
    let mut rows = vec![row(whole, &found.latency)];
    rows.extend(found.uncorrected.as_ref().map(|times| row("from the actual start", times)));
    rows.extend(found.phases.iter().map(|one| row(phase(one.phase), &one.time)));
    rows.retain(|row| !row.cells.is_empty());
    table("How long requests and their parts took", rows)
});

/// Each rate of several.
pub(crate) const STEPS: Block =
    Block::of(Section::Lengths, |document: &Document| document.load().map(steps).unwrap_or_default());

pub(crate) const COLUMNS: [&str; 7] = ["count", "mean", "p50", "p90", "p99", "p99.9", "longest"];

fn steps(found: &Load) -> Vec<Part> {
    if found.steps.is_empty() {
        return Vec::new();
    }
    let rows = found.steps.iter().map(|step| row(&format!("{} a second", three(step.rate)), &step.latency));
    table("Rate by rate, from the intended start", rows.collect())
}

fn table(heading: &'static str, rows: Vec<Row>) -> Vec<Part> {
    under(heading, [Part::Table(Table::of("", COLUMNS, rows))])
}

pub(crate) fn row(name: &str, times: &Latency) -> Row {
    if times.count == 0 {
        return Row::new(name, [""; 0]);
    }
    let lengths = [times.mean_ns as u64, times.p50_ns, times.p90_ns, times.p99_ns, times.p999_ns, times.max_ns];
    let lengths = lengths.map(|length| Nanos(length).to_string());
    Row::new(name, [count(times.count)].into_iter().chain(lengths))
}
