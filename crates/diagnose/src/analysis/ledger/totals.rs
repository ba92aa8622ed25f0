//! From breakdown to a ledger that is shown: named, rounded so that the sum is exact, sorted.

use super::account::Account;
use super::walk::Walker;
use crate::analysis::Analysis;
use crate::exchange::Exchange;
use case::{AccountTime, Ledger};
use std::collections::BTreeMap;

/// Accounts of named objects below this share of the whole are shown together, without the name.
const SMALL: f64 = 0.001;

/// The run's ledger: its total is the wall time.
pub fn of_run(analysis: &Analysis) -> Ledger {
    let reconciled = analysis.reconciliation.facts.clone();
    Ledger { reconciled, ..ledger(analysis, &analysis.accounts.run, analysis.wall()) }
}

/// The ledger of all exchanges together: its total is the sum of their lengths.
pub fn of_exchanges(analysis: &Analysis) -> Ledger {
    let total = analysis.exchanges.iter().map(Exchange::length).sum();
    ledger(analysis, &analysis.accounts.exchanges, total)
}

/// The ledger of one exchange: its total is its length.
pub fn of_exchange(walker: &mut Walker, exchange: &Exchange) -> Ledger {
    let analysis = walker.analysis;
    let mut whole: BTreeMap<Account, f64> = BTreeMap::new();
    walker.exchange(exchange, &mut |from, to, account| *whole.entry(account).or_default() += (to - from) as f64);
    let mut split: BTreeMap<Account, f64> = BTreeMap::new();
    for (account, length) in whole {
        analysis.pools.split(account, length, &mut |account, part| *split.entry(account).or_default() += part);
    }
    ledger(analysis, &split, exchange.length())
}

/// Names, rounds and sorts accounts; what they lack to the total is unexplained, what they have more is overbooked.
pub fn ledger(analysis: &Analysis, accounts: &BTreeMap<Account, f64>, total: u64) -> Ledger {
    // By name: that is the order in which equal times are shown.
    let mut named: BTreeMap<(String, case::Account), f64> = BTreeMap::new();
    let mut booked = 0.0;
    for (&account, &length) in accounts {
        *named.entry(with_name(shown_as(account, length, total).fact(analysis))).or_default() += length;
        booked += length;
    }
    let rest = total as f64 - booked;
    if rest > inexact(total) {
        *named.entry(with_name(case::Account::Unexplained)).or_default() += rest;
    }
    let named: Vec<((String, case::Account), f64)> = named.into_iter().collect();
    let (rounded, overbooked) = round(&named.iter().map(|&(_, length)| length).collect::<Vec<_>>(), total);
    let mut rounded: Vec<((String, case::Account), u64)> = named.into_iter().map(|(key, _)| key).zip(rounded).collect();
    if rounded.is_empty() && total > 0 {
        rounded.push((with_name(case::Account::Unexplained), total));
    }
    let is_unexplained = |(key, _): &&((_, case::Account), u64)| key.1 == case::Account::Unexplained;
    let unexplained = rounded.iter().find(is_unexplained).map_or(0, |&(_, ns)| ns);
    let booked = rounded.into_iter().filter(|&(_, ns)| ns > 0);
    let mut accounts: Vec<AccountTime> =
        booked.map(|((name, account), ns)| AccountTime { name, ns, account }).collect();
    accounts.sort_by(|one, other| other.ns.cmp(&one.ns).then_with(|| one.name.cmp(&other.name)));
    Ledger { unit: "ns".to_string(), total, accounts, unexplained, overbooked, reconciled: None }
}

fn with_name(account: case::Account) -> (String, case::Account) {
    (account.name(), account)
}

/// What an account is shown as: itself, or without its object where it is a small part of the whole.
pub(super) fn shown_as(account: Account, length: f64, total: u64) -> Account {
    if length < SMALL * total as f64 { account.without_object() } else { account }
}

/// Sums of fractions are good to a few nanoseconds in a million; only more than that is missing, or too much.
fn inexact(total: u64) -> f64 {
    1.0 + total as f64 * 1e-9
}

/// Rounds so that the sum is exactly the total: the largest account takes what rounding left over. Where accounts add up to
/// more than the total, time was booked twice: they stay as they are, and how much it is comes with them.
pub(super) fn round(lengths: &[f64], total: u64) -> (Vec<u64>, u64) {
    let over = lengths.iter().sum::<f64>() - total as f64;
    let overbooked = if over > inexact(total) { over.round() as u64 } else { 0 };
    let mut left = total.saturating_add(overbooked);
    let mut rounded = Vec::with_capacity(lengths.len());
    for length in lengths {
        let ns = (length.max(0.0).round() as u64).min(left);
        left -= ns;
        rounded.push(ns);
    }
    if let Some(largest) = (0..rounded.len()).max_by_key(|&index| (rounded[index], std::cmp::Reverse(index))) {
        rounded[largest] += left;
    }
    (rounded, overbooked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::ledger::account::Phase;
    use crate::fixture::{US, keep_alive};

    #[test]
    fn time_that_is_booked_twice_is_counted_and_not_cut_off() {
        let recording = keep_alive(2, 300 * US).end();
        let analysis = Analysis::new(&recording);
        let accounts = BTreeMap::from([
            (Account::SetUp(Phase::Lookup, None), 700.0),
            (Account::SetUp(Phase::Connect, None), 500.4),
        ]);
        let ledger = ledger(&analysis, &accounts, 1_000);
        let booked: Vec<u64> = ledger.accounts.iter().map(|one| one.ns).collect();
        assert_eq!((booked, ledger.total, ledger.overbooked), (vec![700, 500], 1_000, 200));
        assert_eq!(ledger.unexplained, 0);
    }

    #[test]
    fn rounding_is_no_overbooking() {
        assert_eq!(round(&[0.5, 0.5, 0.5, 1.5], 3), (vec![1, 1, 1, 0], 0));
        assert_eq!(round(&[2.4, 7.4], 10), (vec![2, 8], 0));
        assert_eq!(round(&[6.0, 6.0], 10), (vec![6, 6], 2));
    }
}
