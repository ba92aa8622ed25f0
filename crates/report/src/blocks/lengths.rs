//! how long requests took: how that is distributed, and how it went over time. The longest is never left out.

mod distribution;
mod over_time;
mod sentence;

use super::ladder;
use crate::block::{Block, Section};
use crate::document::{Document, SideViews};
use crate::figure::three;
use crate::sheet::{Cell, Column, Sheet};
use crate::text::{clean, count};
use askama::Template;
use case::Nanos;
use case::views::Lengths;

pub(crate) const BLOCK: Block = Block::drawn(Section::Lengths, html);

/// More curves than this in one picture cannot be distinguished.
const MOST_SIDES: usize = 5;
/// Percentiles of fewer requests are nothing but the longest.
const LEAST_FOR_P95: u64 = 20;
/// The same for the 99th.
const LEAST_FOR_P99: u64 = 100;

#[derive(Template)]
#[template(path = "blocks/lengths.html")]
struct Drawn {
    sides: Vec<SideLengths>,
    is_compared: bool,
    left_out: usize,
    charts: String,
}

/// The lengths of one recording.
struct SideLengths {
    name: String,
    class: usize,
    sentence: String,
    figures: Vec<String>,
    over_time: String,
    worst: String,
    /// Requests that are drawn step by step.
    step_by_step: Vec<Linked>,
}

/// A request that is drawn step by step.
struct Linked {
    number: String,
    /// Why it was chosen: `worst`.
    why: String,
    anchor: String,
}

/// The section's HTML; nothing where there were no requests.
fn html(document: &Document) -> String {
    let has_any = |side: &&SideViews| side.views.lengths.count > 0 && longest(&side.views.lengths) > 0;
    let with_any = document.sides.iter().filter(has_any).collect::<Vec<_>>();
    let shown = &with_any[..with_any.len().min(MOST_SIDES)];
    if shown.is_empty() {
        return String::new();
    }
    let lengths = shown.iter().map(|side| &side.views.lengths).collect::<Vec<_>>();
    let page = Drawn {
        sides: shown.iter().enumerate().map(|(index, side)| drawn(index, side, document.sides.len() > 1)).collect(),
        is_compared: shown.len() > 1,
        left_out: with_any.len() - shown.len(),
        // One request alone has no distribution.
        charts: if lengths.iter().all(|one| one.count < 2) { String::new() } else { distribution::charts(&lengths) },
    };
    page.render().unwrap_or_default()
}

fn drawn(index: usize, side: &SideViews, several: bool) -> SideLengths {
    let lengths = &side.views.lengths;
    let figures = points(lengths).map(|(_, ns)| ns.map_or(String::new(), |ns| Nanos(ns).to_string()));
    SideLengths {
        name: clean(&side.name),
        class: index,
        sentence: sentence::sentence(lengths),
        figures: std::iter::once(count(lengths.count)).chain(figures).collect(),
        over_time: over_time::chart(index, lengths),
        worst: worst(lengths),
        step_by_step: step_by_step(side, several),
    }
}

/// The requests that have a drawing of their own.
fn step_by_step(side: &SideViews, several: bool) -> Vec<Linked> {
    let mut linked: Vec<Linked> = Vec::new();
    for one in ladder::shown(side, several) {
        let (number, why, anchor) =
            (count(one.number), ladder::short(&one.why), ladder::anchor(&side.name, one.number));
        match linked.iter_mut().find(|known| known.anchor == anchor) {
            Some(known) => known.why = format!("{}, {why}", known.why),
            None => linked.push(Linked { number, why, anchor }),
        }
    }
    linked
}

/// The points of a distribution that have names; none where there are too few requests for one.
fn points(lengths: &Lengths) -> [(&'static str, Option<u64>); 4] {
    let from = |least: u64, share: f64| (lengths.count >= least).then(|| quantile(lengths, share));
    [
        ("median", Some(quantile(lengths, 0.5))),
        ("p95", from(LEAST_FOR_P95, 0.95)),
        ("p99", from(LEAST_FOR_P99, 0.99)),
        ("longest", Some(longest(lengths))),
    ]
}

/// The length that this share of requests did not exceed.
fn quantile(lengths: &Lengths, share: f64) -> u64 {
    // A share is computed: 95 of 100 can be a last digit below 0.95.
    let step = lengths.quantiles.iter().find(|step| step.share >= share - 1e-9);
    step.map_or_else(|| longest(lengths), |step| step.ns)
}

/// The longest of all, wherever it is listed.
fn longest(lengths: &Lengths) -> u64 {
    let listed = lengths.worst.iter().map(|one| one.length_ns);
    listed.chain(lengths.quantiles.iter().map(|step| step.ns)).max().unwrap_or(0)
}

/// The table of the longest, one by one.
fn worst(lengths: &Lengths) -> String {
    if lengths.worst.len() < 2 {
        return String::new();
    }
    let median = quantile(lengths, 0.5).max(1);
    let columns = vec![
        Column::figures("Request").meaning("Its number, in the order in which they began"),
        Column::figures("Took"),
        Column::figures("Times the median"),
        Column::figures("Ended").meaning("Since recording began"),
    ];
    let rows = lengths.worst.iter().map(|one| {
        let times = one.length_ns as f64 / median as f64;
        vec![
            Cell::count(one.number),
            Cell::time(one.length_ns),
            Cell { text: three(times), value: Some(times.to_string()) },
            Cell { text: Nanos(one.at).to_string(), value: Some(one.at.to_string()) },
        ]
    });
    Sheet { of: "requests", columns, rows: rows.collect() }.html()
}

#[cfg(test)]
mod tests;
