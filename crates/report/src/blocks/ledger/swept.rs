//! The ledgers of a sweep, a bisection or a matrix: one bar for each recorded stretch of values, world or version, each
//! drawn as a whole of its own.

use super::Ledger;
use super::bar::{Bar, segment};
use super::entry::entry;
use crate::document::{Document, SideViews};
use crate::text::{clean, counted};
use case::views::AccountView;
use case::{Account, Nanos};

/// Accounts that are drawn one by one; the others are one.
const MOST_PARTS: usize = 8;
/// The account of all others.
const OTHERS: &str = "other accounts";

/// What is drawn: an account, or none for all others.
type Drawn<'a> = Option<&'a AccountView>;

/// One bar a side, each the recorded run `of` what is said; none where no requests were recorded.
pub(super) fn ledger(document: &Document, of: &str) -> Option<Ledger> {
    let sides = document.sides.iter().filter(|side| total(side) > Nanos(0)).collect::<Vec<_>>();
    if sides.is_empty() {
        return None;
    }
    let drawn = drawn(&sides);
    let bars = sides.iter().map(|side| Bar {
        name: clean(&side.name),
        total: said(side),
        width: "100".into(),
        segments: drawn
            .iter()
            .enumerate()
            .filter(|(_, one)| part(side, **one, &drawn) > Nanos(0))
            .map(|(index, one)| segment(index + 1, named(*one), part(side, *one, &drawn), total(side)))
            .collect(),
    });
    let entries = drawn.iter().enumerate().map(|(index, one)| {
        let shares = sides.iter().map(|side| part(side, *one, &drawn).share_of(total(side)).to_string());
        entry(index + 1, named(*one), shares.collect())
    });
    Some(Ledger {
        intro: format!("Where the time of requests went in the recorded run {of}; each bar is a whole of its own."),
        bars: bars.collect(),
        columns: sides.iter().map(|side| clean(&side.name)).collect(),
        entries: entries.collect(),
    })
}

/// The mean request of a side, in words.
fn said(side: &SideViews) -> String {
    let count = side.views.lengths.count;
    match total(side).0.checked_div(count) {
        Some(mean) => format!("{}, {} each", counted(count, "request"), Nanos(mean)),
        None => total(side).to_string(),
    }
}

fn total(side: &SideViews) -> Nanos {
    side.views.accounts.iter().map(|account| Nanos(account.ns)).sum()
}

/// The accounts that are drawn, by the largest share that they have anywhere.
fn drawn<'a>(sides: &[&'a SideViews]) -> Vec<Drawn<'a>> {
    let mut shares: Vec<(&AccountView, f64)> = Vec::new();
    for side in sides {
        for account in &side.views.accounts {
            let share = Nanos(account.ns).share_of(total(side)).0;
            match shares.iter_mut().find(|(known, _)| is_same(known, account)) {
                Some((_, most)) => *most = most.max(share),
                None => shares.push((account, share)),
            }
        }
    }
    shares.sort_by(|one, other| other.1.total_cmp(&one.1));
    let more = shares.len() > MOST_PARTS + 1;
    let shown = if more { MOST_PARTS } else { shares.len() };
    let accounts = shares.into_iter().take(shown).map(|(account, _)| Some(account));
    accounts.chain(more.then_some(None)).collect()
}

fn named(drawn: Drawn<'_>) -> (&str, Option<&Account>) {
    drawn.map_or((OTHERS, None), |one| (&one.name, Some(&one.account)))
}

fn is_same(one: &AccountView, other: &AccountView) -> bool {
    one.account == other.account && one.name == other.name
}

/// A side's time in an account, or in all that have none of their own.
fn part(side: &SideViews, one: Drawn, drawn: &[Drawn]) -> Nanos {
    let accounts = side.views.accounts.iter();
    let belongs = |own: &AccountView| match one {
        Some(one) => is_same(one, own),
        None => !drawn.iter().flatten().any(|one| is_same(one, own)),
    };
    accounts.filter(|own| belongs(own)).map(|own| Nanos(own.ns)).sum()
}
