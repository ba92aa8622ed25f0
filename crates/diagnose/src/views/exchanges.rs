//! Accounts of the exchanges, down to single ones.

use super::choice::Chosen;
use super::requests::Requests;
use crate::analysis::Analysis;
use crate::analysis::ledger::Breakdown;
use case::views::{AccountView, ExchangeView, TopExchange};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// The top exchanges of an account, one by one.
const TOP: usize = 10;

/// Accounts, largest first, whose top exchanges are shown; the others are too small for anybody to look into.
const WITH_TOP: usize = 40;

/// The longest exchanges, all shown.
const WORST: usize = 50;

/// The accounts of all exchanges together, largest first; the larger ones with their top exchanges.
pub fn accounts(breakdown: &Breakdown) -> Vec<AccountView> {
    let mut sums: Vec<Sum> = breakdown.accounts().iter().map(|_| Sum::default()).collect();
    for index in 0..breakdown.exchanges() {
        for part in breakdown.parts(index) {
            sums[part.account as usize].add(index, part.ns);
        }
    }
    let views = sums.into_iter().zip(breakdown.accounts()).map(|(sum, (name, account))| sum.view(name, account));
    let mut accounts: Vec<AccountView> = views.filter(|account| account.ns > 0).collect();
    accounts.sort_by(|one, other| other.ns.cmp(&one.ns).then_with(|| one.name.cmp(&other.name)));
    accounts.iter_mut().skip(WITH_TOP).for_each(|account| account.top.clear());
    accounts
}

/// Every exchange that is named anywhere: those shown step by step, the top of the accounts, the longest.
pub fn named(
    analysis: &Analysis,
    breakdown: &Breakdown,
    accounts: &[AccountView],
    chosen: &[Chosen],
    longest_first: &[usize],
) -> Vec<ExchangeView> {
    let mut named: BTreeSet<usize> = chosen.iter().map(|one| one.index).collect();
    named.extend(longest_first.iter().take(WORST));
    let top = accounts.iter().flat_map(|account| &account.top);
    named.extend(top.map(|top| top.number as usize - 1));
    let requests = Requests::new(analysis);
    named.into_iter().map(|index| view(analysis, breakdown, &requests, index)).collect()
}

fn view(analysis: &Analysis, breakdown: &Breakdown, requests: &Requests, index: usize) -> ExchangeView {
    let exchange = &analysis.exchanges[index];
    let parts = breakdown.parts(index).iter();
    ExchangeView {
        number: index as u64 + 1,
        at: exchange.start.saturating_sub(analysis.recording.manifest.start.0),
        length_ns: exchange.length(),
        connection: analysis.connections.row(exchange.connection).id,
        about: requests.about(exchange),
        bytes: exchange.bytes,
        answered: exchange.answered,
        accounts: parts.map(|part| breakdown.shown(*part)).collect(),
    }
}

/// What one account has in all.
#[derive(Default)]
struct Sum {
    ns: u64,
    exchanges: u64,
    /// The exchanges with most of it, that with least on top.
    top: BinaryHeap<Reverse<(u64, Reverse<usize>)>>,
}

impl Sum {
    fn add(&mut self, index: usize, ns: u64) {
        self.ns += ns;
        self.exchanges += 1;
        let this = Reverse((ns, Reverse(index)));
        if self.top.len() < TOP {
            self.top.push(this);
        } else if self.top.peek().is_some_and(|least| this < *least) {
            self.top.pop();
            self.top.push(this);
        }
    }

    fn view(self, name: &str, account: &case::Account) -> AccountView {
        let top = self.top.into_sorted_vec().into_iter();
        let top = top.map(|Reverse((ns, Reverse(index)))| TopExchange { number: index as u64 + 1, ns });
        AccountView {
            account: account.clone(),
            name: name.to_string(),
            ns: self.ns,
            exchanges: self.exchanges,
            top: top.collect(),
        }
    }
}

#[cfg(test)]
mod tests;
