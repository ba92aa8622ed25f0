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
    ledger(analysis, &analysis.accounts.run, analysis.wall())
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

/// Names, rounds and sorts accounts; what they lack to the total is unexplained.
pub fn ledger(analysis: &Analysis, accounts: &BTreeMap<Account, f64>, total: u64) -> Ledger {
    // By name: that is the order in which equal times are shown.
    let mut named: BTreeMap<(String, case::Account), f64> = BTreeMap::new();
    let mut booked = 0.0;
    for (&account, &length) in accounts {
        *named.entry(with_name(shown_as(account, length, total).fact(analysis))).or_default() += length;
        booked += length;
    }
    let rest = total as f64 - booked;
    // Sums of fractions are good to a few nanoseconds in a million; only more than that is missing.
    if rest > 1.0 + total as f64 * 1e-9 {
        *named.entry(with_name(case::Account::Unexplained)).or_default() += rest;
    }
    let rounded = round(named.into_iter().collect(), total);
    let is_unexplained = |(key, _): &&((_, case::Account), u64)| key.1 == case::Account::Unexplained;
    let unexplained = rounded.iter().find(is_unexplained).map_or(0, |&(_, ns)| ns);
    let booked = rounded.into_iter().filter(|&(_, ns)| ns > 0);
    let mut accounts: Vec<AccountTime> =
        booked.map(|((name, account), ns)| AccountTime { name, ns, account }).collect();
    accounts.sort_by(|one, other| other.ns.cmp(&one.ns).then_with(|| one.name.cmp(&other.name)));
    Ledger { unit: "ns".to_string(), total, accounts, unexplained }
}

fn with_name(account: case::Account) -> (String, case::Account) {
    (account.name(), account)
}

/// What an account is shown as: itself, or without its object where it is a small part of the whole.
pub(super) fn shown_as(account: Account, length: f64, total: u64) -> Account {
    if length < SMALL * total as f64 { account.without_object() } else { account }
}

/// Rounds so that the sum is exactly the total: the largest account takes what rounding left over.
fn round(parts: Vec<((String, case::Account), f64)>, total: u64) -> Vec<((String, case::Account), u64)> {
    let mut left = total;
    let mut rounded = Vec::with_capacity(parts.len());
    for (key, length) in parts {
        let ns = (length.max(0.0).round() as u64).min(left);
        left -= ns;
        rounded.push((key, ns));
    }
    if let Some(largest) = (0..rounded.len()).max_by_key(|&index| (rounded[index].1, std::cmp::Reverse(index))) {
        rounded[largest].1 += left;
    } else if total > 0 {
        rounded.push((with_name(case::Account::Unexplained), total));
    }
    rounded
}
