//! Accounts of the exchanges, down to single ones.

use super::choice::Chosen;
use super::lengths::longest_first;
use super::requests::Requests;
use crate::evidence::Evidence;
use case::Ledger;
use case::exhibits::{AccountExhibit, Dearest, ExchangeExhibit};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// The dearest exchanges of an account, one by one.
const DEAREST: usize = 10;

/// Accounts, largest first, whose dearest exchanges are shown; the others are too small for anybody to look into.
const WITH_DEAREST: usize = 40;

/// The longest exchanges, all shown.
const WORST: usize = 50;

/// The accounts of all exchanges together, each with its dearest exchanges; and every exchange that is named.
pub fn accounts(
    evidence: &Evidence,
    ledgers: &[Ledger],
    chosen: &[Chosen],
) -> (Vec<AccountExhibit>, Vec<ExchangeExhibit>) {
    let accounts = totals(ledgers);
    let mut named: BTreeSet<usize> = chosen.iter().map(|one| one.index).collect();
    named.extend(longest_first(evidence).into_iter().take(WORST));
    let dearest = accounts.iter().flat_map(|account| &account.dearest);
    named.extend(dearest.map(|dearest| dearest.number as usize - 1));
    let requests = Requests::new(evidence);
    let shown = named.into_iter().map(|index| exhibit(evidence, &requests, &ledgers[index], index)).collect();
    (accounts, shown)
}

fn exhibit(evidence: &Evidence, requests: &Requests, ledger: &Ledger, index: usize) -> ExchangeExhibit {
    let exchange = &evidence.exchanges[index];
    ExchangeExhibit {
        number: index as u64 + 1,
        at: exchange.start.saturating_sub(evidence.recording.manifest.start.0),
        length_ns: exchange.length(),
        connection: evidence.connections.row(exchange.connection).id,
        about: requests.about(exchange),
        bytes: exchange.bytes,
        answered: exchange.answered,
        accounts: ledger.accounts.clone(),
    }
}

/// What one account has in all.
#[derive(Default)]
struct Sum {
    ns: u64,
    exchanges: u64,
    /// The exchanges with most of it, that with least on top.
    dearest: BinaryHeap<Reverse<(u64, Reverse<usize>)>>,
}

impl Sum {
    fn add(&mut self, index: usize, ns: u64) {
        self.ns += ns;
        self.exchanges += 1;
        self.dearest.push(Reverse((ns, Reverse(index))));
        if self.dearest.len() > DEAREST {
            self.dearest.pop();
        }
    }

    fn exhibit(self, name: &str) -> AccountExhibit {
        let dearest = self.dearest.into_sorted_vec().into_iter();
        let dearest = dearest.map(|Reverse((ns, Reverse(index)))| Dearest { number: index as u64 + 1, ns });
        AccountExhibit { name: name.to_string(), ns: self.ns, exchanges: self.exchanges, dearest: dearest.collect() }
    }
}

/// The accounts of all ledgers together, largest first; the larger ones with their dearest exchanges.
pub fn totals(ledgers: &[Ledger]) -> Vec<AccountExhibit> {
    let mut sums: FxHashMap<&str, Sum> = FxHashMap::default();
    for (index, ledger) in ledgers.iter().enumerate() {
        for account in &ledger.accounts {
            sums.entry(&account.name).or_default().add(index, account.ns);
        }
    }
    let mut totals: Vec<AccountExhibit> = sums.into_iter().map(|(name, sum)| sum.exhibit(name)).collect();
    totals.sort_by(|one, other| other.ns.cmp(&one.ns).then_with(|| one.name.cmp(&other.name)));
    totals.iter_mut().skip(WITH_DEAREST).for_each(|account| account.dearest.clear());
    totals
}

#[cfg(test)]
mod tests;
