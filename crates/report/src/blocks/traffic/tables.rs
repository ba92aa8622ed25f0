//! Who asked, from where, and for what.

use super::words::{answering, bytes, called, kind};
use crate::block::{Block, Section};
use crate::document::Document;
use crate::grid::Row;
use crate::part::{Part, Table, under};
use crate::text::count;
use case::{AgentFamily, Demand, Ranked, Share, Traffic};

/// Rows that are shown at once.
const MOST_ROWS: usize = 10;

/// Families of agents.
pub(crate) const AGENTS: Block = Block::of(Section::Asked, |document: &Document| {
    let Some(traffic) = document.traffic() else { return Vec::new() };
    let row = |family: &AgentFamily| {
        let errors = family.statuses[4] + family.statuses[5];
        let errors = if errors == 0 { String::new() } else { share(errors, family.demand.requests) };
        let figures = figures(&family.demand, traffic);
        let cells = [kind(family.kind).to_string()].into_iter().chain(figures).chain([errors]);
        Row::new(called(&family.name, family.claim), cells)
    };
    let rows = traffic.agents.iter().map(row).collect();
    let columns = ["kind", "requests", "share", "bytes", time(traffic), "4xx, 5xx"];
    under("Who asked", [Part::Table(Table::of("agent", columns, rows).words(1).most(MOST_ROWS))])
});

/// Networks.
pub(crate) const NETWORKS: Block = Block::of(Section::Asked, |document: &Document| {
    let Some(traffic) = document.traffic() else { return Vec::new() };
    under("From where", [ranked("network", &traffic.networks, traffic)])
});

/// Routes.
pub(crate) const ROUTES: Block = Block::of(Section::Asked, |document: &Document| {
    let Some(traffic) = document.traffic() else { return Vec::new() };
    under("For what", [ranked("route", &traffic.routes, traffic)])
});

fn ranked(title: &str, rows: &[Ranked], traffic: &Traffic) -> Part {
    let row = |one: &Ranked| {
        let missed = match one.missed {
            0 => String::new(),
            missed => format!("and at most {} more", count(missed)),
        };
        Row::new(one.name.clone(), figures(&one.demand, traffic)).with_note(missed)
    };
    let columns = ["requests", "share", "bytes", time(traffic)];
    Part::Table(Table::of(title, columns, rows.iter().map(row).collect()).most(MOST_ROWS))
}

/// The head of the column of times; empty where the logs do not say them.
fn time(traffic: &Traffic) -> &'static str {
    if traffic.timed == 0 { "" } else { "time" }
}

fn figures(demand: &Demand, traffic: &Traffic) -> [String; 4] {
    let time = if demand.took_ns == 0 { String::new() } else { answering(demand.took_ns) };
    [count(demand.requests), share(demand.requests, traffic.total.requests), bytes(demand), time]
}

fn share(part: u64, whole: u64) -> String {
    Share(if whole == 0 { 0.0 } else { part as f64 / whole as f64 }).to_string()
}
