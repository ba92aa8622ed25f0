//! The ledgers of A and B, one above the other on the same scale.

use super::Ledger;
use super::bar::{Bar, segment};
use super::entry::{Entry, entry};
use crate::contrast::{per, signed};
use case::{Account, AccountContrast, Comparison, Nanos};

/// Differences smaller than this part of the longer bar are not put into words.
const LEAST_SHOWN: f64 = 0.001;

/// Both bars and the list; none where nothing was recorded of either.
pub(super) fn ledger(comparison: &Comparison) -> Option<Ledger> {
    let total = |of: fn(&AccountContrast) -> u64| comparison.ledger.iter().map(|one| Nanos(of(one))).sum::<Nanos>();
    let (a, b) = (total(|one| one.a_ns), total(|one| one.b_ns));
    let most = a.max(b);
    if most == Nanos(0) {
        return None;
    }
    let per = per(comparison);
    let shown_as = shown_as(comparison);
    let bar = |name: &str, whole: Nanos, of: fn(&AccountContrast) -> u64| Bar {
        name: name.into(),
        total: format!("{whole} {per}"),
        width: format!("{:.3}", whole.share_of(most).0 * 100.0),
        segments: comparison
            .ledger
            .iter()
            .enumerate()
            .filter(|(_, one)| of(one) > 0)
            .map(|(index, one)| segment(index + 1, (&one.name, Some(&shown_as[index])), Nanos(of(one)), whole))
            .collect(),
    };
    let entries = comparison.ledger.iter().enumerate().map(|(index, one)| {
        let entry = entry(index + 1, (&one.name, Some(&shown_as[index])), figures(one));
        Entry { said: difference(one, most, per), ..entry }
    });
    Some(Ledger {
        intro: format!("Where the time went in A and in B, {per}, on the same scale; the largest differences first."),
        bars: vec![bar("A", a, |one| one.a_ns), bar("B", b, |one| one.b_ns)],
        columns: vec!["A".into(), "B".into(), "B - A".into()],
        entries: entries.collect(),
    })
}

/// What each account is shown as: where no exchange was seen, there is nothing to be outside of.
fn shown_as(comparison: &Comparison) -> Vec<Account> {
    let has_exchanges = comparison.a.exchanges > 0.0 || comparison.b.exchanges > 0.0;
    let shown_as = |one: &AccountContrast| if has_exchanges { one.account.clone() } else { one.account.of_run() };
    comparison.ledger.iter().map(shown_as).collect()
}

fn figures(one: &AccountContrast) -> Vec<String> {
    vec![Nanos(one.a_ns).to_string(), Nanos(one.b_ns).to_string(), signed(one.a_ns, one.b_ns)]
}

fn difference(one: &AccountContrast, most: Nanos, per: &str) -> String {
    let by = Nanos(one.a_ns.abs_diff(one.b_ns));
    let (a, b) = (Nanos(one.a_ns), Nanos(one.b_ns));
    match (by.share_of(most).0 < LEAST_SHOWN, one.b_ns > one.a_ns) {
        (true, _) => format!("About the same in both, {a} and {b} {per}."),
        (false, true) => format!("B spends {by} more on this {per}: {b} against {a}."),
        (false, false) => format!("B spends {by} less on this {per}: {b} against {a}."),
    }
}
