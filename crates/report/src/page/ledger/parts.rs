//! The parts of a ledger that are drawn one by one: large accounts by themselves, small ones as one, what is unexplained
//! last. They add up to the whole.

use case::{Account, Ledger, Nanos};

/// Accounts below this share are drawn as one.
const LEAST_SHARE: f64 = 0.01;
/// More parts than this cannot be told apart.
const MOST_PARTS: usize = 9;
/// What no account explains.
pub(super) const UNEXPLAINED: &str = "unexplained";

/// One part of the whole.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part<'a> {
    /// Its name, as recorded.
    pub name: String,
    /// Its time.
    pub time: Nanos,
    /// The small accounts that it is made of, largest first; empty for an account of its own.
    pub folded: Vec<&'a Account>,
}

/// The parts of a ledger.
pub(super) fn parts(ledger: &Ledger) -> Vec<Part<'_>> {
    let mut accounts = ledger.accounts.iter().filter(|account| account.ns > 0).collect::<Vec<_>>();
    accounts.sort_by_key(|account| std::cmp::Reverse(account.ns));
    let is_large = |account: &&&Account| Nanos(account.ns).share_of(Nanos(ledger.total)).0 >= LEAST_SHARE;
    let shown = accounts.iter().take(MOST_PARTS).filter(is_large).count();
    // A single small one takes no more room by itself.
    let shown = if accounts.len() == shown + 1 { shown + 1 } else { shown };
    let alone = |account: &&Account| Part { name: account.name.clone(), time: Nanos(account.ns), folded: Vec::new() };
    let mut parts = accounts[..shown].iter().map(alone).collect::<Vec<_>>();
    let rest = accounts[shown..].to_vec();
    if !rest.is_empty() {
        let time = rest.iter().map(|account| Nanos(account.ns)).sum();
        parts.push(Part { name: format!("{} small accounts", rest.len()), time, folded: rest });
    }
    parts.push(Part { name: UNEXPLAINED.into(), time: Nanos(ledger.unexplained), folded: Vec::new() });
    parts
}
