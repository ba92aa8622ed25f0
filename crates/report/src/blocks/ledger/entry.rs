//! One line of the list beneath the bars, and what it opens to.

use super::bar::{Thin, thin};
use super::meaning::{class, sentence};
use crate::text::{clean, count};
use case::views::{AccountView, ExchangeView, Views};
use case::{Account, Nanos};

/// Requests shown for one account.
const MOST_TOP: usize = 6;

/// One line of the list.
#[derive(Default)]
pub(super) struct Entry {
    /// Its number, counted from 1: its anchor, and the label of its boxes.
    pub number: usize,
    /// Its look.
    pub class: String,
    /// Its name.
    pub name: String,
    /// Its figures, column by column.
    pub figures: Vec<String>,
    /// What it means; empty where that is not known.
    pub meaning: String,
    /// How many requests have any of it, and a difference in words; empty where there is nothing to say.
    pub said: String,
    /// The requests with most of it.
    pub top: Vec<TopRow>,
    /// The small accounts in it: name and figures.
    pub folded: Vec<(String, Vec<String>)>,
}

/// A request that has much of an account.
pub(super) struct TopRow {
    /// Its number.
    pub number: u64,
    /// The number as it is read.
    pub shown: String,
    /// Whether it is drawn step by step on this page.
    pub has_ladder: bool,
    /// What was asked.
    pub about: String,
    /// When it began.
    pub at: String,
    /// How long it took.
    pub length: String,
    /// Its part of the account.
    pub part: String,
    /// Its own ledger.
    pub own: Thin,
}

/// A line without what it opens to.
pub(super) fn entry(number: usize, (name, account): (&str, Option<&Account>), figures: Vec<String>) -> Entry {
    let meaning = account.map(sentence).unwrap_or_default();
    Entry { number, class: class(account), name: clean(name), figures, meaning, ..Entry::default() }
}

/// The requests with most of an account.
pub(super) fn top(account: &AccountView, views: &Views) -> Vec<TopRow> {
    let known = account.top.iter().filter_map(|top| {
        let exchange = views.exchanges.iter().find(|one| one.number == top.number)?;
        Some(view(exchange, Nanos(top.ns), views))
    });
    known.take(MOST_TOP).collect()
}

fn view(exchange: &ExchangeView, part: Nanos, views: &Views) -> TopRow {
    let length = Nanos(exchange.length_ns);
    TopRow {
        number: exchange.number,
        shown: count(exchange.number),
        has_ladder: views.ladders.iter().any(|ladder| ladder.number == exchange.number),
        about: clean(&exchange.about),
        at: Nanos(exchange.at).to_string(),
        length: length.to_string(),
        part: format!("{part} ({})", part.share_of(length)),
        own: thin(&exchange.accounts),
    }
}
