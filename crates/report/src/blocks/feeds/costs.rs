//! What the last round spent CPU time on, and how long the parts of its requests took.

use super::round::last;
use super::words::cost;
use crate::block::{Block, Section};
use crate::blocks::load::latency::{COLUMNS, row};
use crate::blocks::load::words::phase;
use crate::grid::Row;
use crate::part::{Part, Table, under};
use case::{FeedCost, FeedRound, Nanos};

pub(crate) const BLOCK: Block = Block::of(Section::Round, |document| last(document).map(costs).unwrap_or_default());

pub(crate) const PHASES: Block = Block::of(Section::Round, |document| last(document).map(phases).unwrap_or_default());

fn costs(round: &FeedRound) -> Vec<Part> {
    let whole = Nanos(round.cpu_ns);
    let row = |one: &FeedCost| {
        let share = Nanos(one.cpu_ns).share_of(whole);
        let cells = [Nanos(one.cpu_ns).to_string(), Nanos(one.each_ns).to_string(), share.to_string()];
        Row::new(cost(one.phase), cells).with_bar("#", share.0)
    };
    let rows = round.costs.iter().filter(|one| one.cpu_ns > 0).map(row).collect();
    under("What took CPU time", [Part::Table(Table::of("", ["total", "a feed", "share"], rows))])
}

fn phases(round: &FeedRound) -> Vec<Part> {
    let rows = round.phases.iter().map(|one| row(phase(one.phase), &one.time)).collect();
    under("How long the parts of requests took", [Part::Table(Table::of("", COLUMNS, rows))])
}
