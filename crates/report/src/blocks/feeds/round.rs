//! What came of the feeds of the last round, what went wrong, and who was slow.

use super::words::fault;
use crate::block::{Block, Section};
use crate::document::Document;
use crate::grid::Row;
use crate::part::{Part, Table, under};
use crate::text::{clean, count};
use case::{FeedRound, Nanos, Share};

pub(crate) const ERRORS: Block = Block::of(Section::Round, |document| last(document).map(errors).unwrap_or_default());

pub(crate) const OUTCOMES: Block =
    Block::of(Section::Round, |document| last(document).map(outcomes).unwrap_or_default());

pub(crate) const SLOWEST: Block = Block::of(Section::Round, |document| last(document).map(slowest).unwrap_or_default());

/// The last of the rounds.
pub(super) fn last<'a>(document: &Document<'a>) -> Option<&'a FeedRound> {
    document.refresh()?.rounds.last()
}

fn errors(round: &FeedRound) -> Vec<Part> {
    let row = |one: &case::FeedError| {
        Row::new(fault(one.fault), [count(one.count)]).with_note(format!("for example {}", clean(&one.example)))
    };
    under("What went wrong", [Part::Table(Table::of("", ["feeds"], round.errors.iter().map(row).collect()))])
}

fn outcomes(round: &FeedRound) -> Vec<Part> {
    let outcomes = &round.outcomes;
    let all = outcomes.all();
    let rows = [
        ("unchanged (304)", outcomes.unchanged),
        ("sent again, nothing new", outcomes.without_news),
        ("with new entries", outcomes.with_news),
        ("gone for good (410)", outcomes.gone),
        ("put off as asked (Retry-After)", outcomes.put_off),
        ("not allowed by robots.txt", outcomes.disallowed),
        ("failed", outcomes.failed),
    ];
    let share = |number: u64| Share(number as f64 / all.max(1) as f64);
    let rows = rows.into_iter().filter(|(_, number)| *number > 0);
    let rows = rows.map(|(name, number)| {
        Row::new(name, [count(number), share(number).to_string()]).with_bar("#", share(number).0)
    });
    let table = Part::Table(Table::of("", ["feeds", "share"], rows.collect()));
    let statuses = round.statuses.iter().map(|one| format!("{} ({})", one.status, count(one.count)));
    let statuses = Part::Labelled("Statuses", statuses.collect::<Vec<_>>().join(", "));
    under("Outcomes", [table, statuses])
}

fn slowest(round: &FeedRound) -> Vec<Part> {
    let row = |one: &case::SlowOrigin| {
        Row::new(
            clean(&one.origin),
            [count(one.feeds), Nanos(one.longest_ns).to_string(), Nanos(one.all_ns).to_string()],
        )
    };
    let rows = round.slowest.iter().map(row).collect();
    under("The slowest origins", [Part::Table(Table::of("", ["feeds", "longest", "all"], rows))])
}
