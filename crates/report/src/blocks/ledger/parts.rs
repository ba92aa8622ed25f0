//! The parts of a ledger that are drawn one by one: large accounts by themselves, small ones as one, what is unexplained
//! last. They add up to the whole.

use case::{Account, AccountTime, Ledger, Nanos};

/// Accounts below this share are drawn as one.
const LEAST_SHARE: f64 = 0.01;
/// More parts than this cannot be distinguished.
const MOST_PARTS: usize = 9;

/// One part of the whole.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part<'a> {
    /// Its name, as recorded.
    pub name: String,
    /// The account; none for several small ones.
    pub account: Option<Account>,
    /// Its time.
    pub time: Nanos,
    /// The small accounts that it is made of, largest first; empty for an account of its own.
    pub folded: Vec<&'a AccountTime>,
}

/// The parts of a ledger.
pub(super) fn parts(ledger: &Ledger) -> Vec<Part<'_>> {
    let accounts = ledger.explained();
    let is_large = |account: &&&AccountTime| Nanos(account.ns).share_of(Nanos(ledger.total)).0 >= LEAST_SHARE;
    let shown = accounts.iter().take(MOST_PARTS).filter(is_large).count();
    // A single small one takes no more room by itself.
    let shown = if accounts.len() == shown + 1 { shown + 1 } else { shown };
    let alone = |one: &&AccountTime| part(one.name.clone(), &one.account, one.ns);
    let mut parts = accounts[..shown].iter().map(alone).collect::<Vec<_>>();
    let rest = accounts[shown..].to_vec();
    if !rest.is_empty() {
        let time = rest.iter().map(|account| Nanos(account.ns)).sum();
        parts.push(Part { name: format!("{} small accounts", rest.len()), account: None, time, folded: rest });
    }
    parts.push(part(Account::Unexplained.name(), &Account::Unexplained, ledger.unexplained));
    parts
}

fn part<'a>(name: String, account: &Account, ns: u64) -> Part<'a> {
    Part { name, account: Some(account.clone()), time: Nanos(ns), folded: Vec::new() }
}
