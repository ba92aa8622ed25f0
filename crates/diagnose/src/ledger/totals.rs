//! From books to a ledger that is shown: named, rounded so that the sum is exact, sorted.

use super::account::Account;
use super::walk::Walker;
use crate::evidence::Evidence;
use crate::exchange::Exchange;
use case::Ledger;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Accounts of named objects below this share of the whole are shown together, without the name.
const SMALL: f64 = 0.001;

/// The run's ledger: its total is the wall time.
pub fn of_run(evidence: &Evidence) -> Ledger {
    ledger(evidence, &evidence.accounts.run, evidence.wall())
}

/// The ledger of all exchanges together: its total is the sum of their lengths.
pub fn of_exchanges(evidence: &Evidence) -> Ledger {
    let total = evidence.exchanges.iter().map(Exchange::length).sum();
    ledger(evidence, &evidence.accounts.exchanges, total)
}

/// The ledger of one exchange: its total is its length.
pub fn of_exchange(walker: &mut Walker, exchange: &Exchange) -> Ledger {
    let evidence = walker.evidence;
    let split = books_of_exchange(walker, exchange);
    ledger(evidence, &split, exchange.length())
}

/// The ledger of one exchange with the names that the run's ledger gives its accounts, so that the two join.
pub fn of_exchange_in_run(walker: &mut Walker, exchange: &Exchange, names: &RunNames) -> Ledger {
    let split = books_of_exchange(walker, exchange);
    named_ledger(&split, exchange.length(), |account, _| names.name(account))
}

fn books_of_exchange(walker: &mut Walker, exchange: &Exchange) -> BTreeMap<Account, f64> {
    let evidence = walker.evidence;
    let mut whole: BTreeMap<Account, f64> = BTreeMap::new();
    walker.exchange(exchange, &mut |from, to, account| *whole.entry(account).or_default() += (to - from) as f64);
    let mut split: BTreeMap<Account, f64> = BTreeMap::new();
    for (account, length) in whole {
        evidence.pools.split(account, length, &mut |account, part| *split.entry(account).or_default() += part);
    }
    split
}

/// The names of accounts as the run's ledger shows them: one that is small in the run has no object's name, however
/// large it is in a single exchange.
pub struct RunNames<'e> {
    evidence: &'e Evidence<'e>,
    names: FxHashMap<Account, String>,
}

impl<'e> RunNames<'e> {
    /// The names of every account that the run or an exchange has.
    pub fn new(evidence: &'e Evidence<'e>) -> RunNames<'e> {
        let (run, wall) = (&evidence.accounts.run, evidence.wall());
        let accounts = evidence.accounts.exchanges.keys().chain(run.keys());
        let shown = |&account: &Account| {
            let length = run.get(&account).copied().unwrap_or_default();
            (account, shown_as(account, length, wall).name(evidence))
        };
        RunNames { evidence, names: accounts.map(shown).collect() }
    }

    /// How the run's ledger calls an account.
    pub fn name(&self, account: Account) -> String {
        self.names.get(&account).cloned().unwrap_or_else(|| account.without_object().name(self.evidence))
    }
}

/// What an account is shown as: itself, or one without its object where it is a small part of the whole.
fn shown_as(account: Account, length: f64, total: u64) -> Account {
    if length < SMALL * total as f64 { account.without_object() } else { account }
}

/// Names, rounds and sorts accounts; what they lack to the total is unexplained.
pub fn ledger(evidence: &Evidence, accounts: &BTreeMap<Account, f64>, total: u64) -> Ledger {
    named_ledger(accounts, total, |account, length| shown_as(account, length, total).name(evidence))
}

fn named_ledger(accounts: &BTreeMap<Account, f64>, total: u64, name: impl Fn(Account, f64) -> String) -> Ledger {
    let mut named: BTreeMap<String, f64> = BTreeMap::new();
    let mut booked = 0.0;
    for (&account, &length) in accounts {
        *named.entry(name(account, length)).or_default() += length;
        booked += length;
    }
    let rest = total as f64 - booked;
    // Sums of fractions are good to a few nanoseconds in a million; only more than that is missing.
    if rest > 1.0 + total as f64 * 1e-9 {
        *named.entry(name(Account::Unexplained, rest)).or_default() += rest;
    }
    let rounded = round(named.into_iter().collect(), total);
    let unexplained_name = name(Account::Unexplained, 0.0);
    let unexplained = rounded.iter().find(|(name, _)| *name == unexplained_name).map_or(0, |&(_, ns)| ns);
    let mut accounts: Vec<case::Account> =
        rounded.into_iter().filter(|&(_, ns)| ns > 0).map(|(name, ns)| case::Account { name, ns }).collect();
    accounts.sort_by(|one, other| other.ns.cmp(&one.ns).then_with(|| one.name.cmp(&other.name)));
    Ledger { unit: "ns".to_string(), total, accounts, unexplained }
}

/// Rounds so that the sum is exactly the total: the largest account takes what rounding left over.
fn round(parts: Vec<(String, f64)>, total: u64) -> Vec<(String, u64)> {
    let mut left = total;
    let mut rounded: Vec<(String, u64)> = Vec::with_capacity(parts.len());
    for (name, length) in parts {
        let ns = (length.max(0.0).round() as u64).min(left);
        left -= ns;
        rounded.push((name, ns));
    }
    if let Some(largest) = (0..rounded.len()).max_by_key(|&index| (rounded[index].1, std::cmp::Reverse(index))) {
        rounded[largest].1 += left;
    } else if total > 0 {
        rounded.push(("unexplained".to_string(), total));
    }
    rounded
}
