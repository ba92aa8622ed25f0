//! The ledgers of a sweep, a bisection or a matrix: one bar for each recorded stretch of values, world or version, each
//! drawn as a whole of its own.

use super::Ledger;
use super::bar::{Bar, segment};
use super::entry::entry;
use crate::page::{Material, SideViews};
use crate::text::{clean, counted};
use case::Nanos;

/// Accounts that are drawn one by one; the others are one.
const MOST_PARTS: usize = 8;
/// The account of all others.
const OTHERS: &str = "other accounts";

/// One bar a side, each the recorded run `of` what is said; none where no requests were recorded.
pub(super) fn ledger(material: &Material, of: &str) -> Option<Ledger> {
    let sides = material.sides.iter().filter(|side| total(side) > Nanos(0)).collect::<Vec<_>>();
    if sides.is_empty() {
        return None;
    }
    let names = names(&sides);
    let bars = sides.iter().map(|side| Bar {
        name: clean(&side.name),
        total: said(side),
        width: "100".into(),
        segments: names
            .iter()
            .enumerate()
            .filter(|(_, name)| part(side, name, &names) > Nanos(0))
            .map(|(index, name)| segment(index + 1, name, part(side, name, &names), total(side)))
            .collect(),
    });
    let entries = names.iter().enumerate().map(|(index, name)| {
        let shares = sides.iter().map(|side| part(side, name, &names).share_of(total(side)).to_string());
        entry(index + 1, name, shares.collect())
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
fn names(sides: &[&SideViews]) -> Vec<String> {
    let mut shares: Vec<(String, f64)> = Vec::new();
    for side in sides {
        for account in &side.views.accounts {
            let share = Nanos(account.ns).share_of(total(side)).0;
            match shares.iter_mut().find(|(name, _)| *name == account.name) {
                Some((_, most)) => *most = most.max(share),
                None => shares.push((account.name.clone(), share)),
            }
        }
    }
    shares.sort_by(|one, other| other.1.total_cmp(&one.1));
    let more = shares.len() > MOST_PARTS + 1;
    let shown = if more { MOST_PARTS } else { shares.len() };
    let names = shares.into_iter().take(shown).map(|(name, _)| name);
    names.chain(more.then(|| OTHERS.to_string())).collect()
}

/// A side's time in an account, or in all that have none of their own.
fn part(side: &SideViews, name: &str, names: &[String]) -> Nanos {
    let accounts = side.views.accounts.iter();
    let belongs = |own: &String| if name == OTHERS { !names.contains(own) } else { own == name };
    accounts.filter(|account| belongs(&account.name)).map(|account| Nanos(account.ns)).sum()
}
