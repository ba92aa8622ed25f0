//! Accounts of the exchanges, down to single ones.

use super::choice::Chosen;
use super::requests::Requests;
use crate::evidence::Evidence;
use crate::ledger::Books;
use case::Account;
use case::exhibits::{AccountExhibit, Dearest, ExchangeExhibit};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// The dearest exchanges of an account, one by one.
const DEAREST: usize = 10;

/// Accounts, largest first, whose dearest exchanges are shown; the others are too small for anybody to look into.
const WITH_DEAREST: usize = 40;

/// The longest exchanges, all shown.
const WORST: usize = 50;

/// The accounts of all exchanges together, largest first; the larger ones with their dearest exchanges.
pub fn accounts(books: &Books) -> Vec<AccountExhibit> {
    let mut sums: Vec<Sum> = books.names().iter().map(|_| Sum::default()).collect();
    for index in 0..books.exchanges() {
        for part in books.parts(index) {
            sums[part.name as usize].add(index, part.ns);
        }
    }
    let exhibits = sums.into_iter().zip(books.names()).map(|(sum, name)| sum.exhibit(name));
    let mut accounts: Vec<AccountExhibit> = exhibits.filter(|account| account.ns > 0).collect();
    accounts.sort_by(|one, other| other.ns.cmp(&one.ns).then_with(|| one.name.cmp(&other.name)));
    accounts.iter_mut().skip(WITH_DEAREST).for_each(|account| account.dearest.clear());
    accounts
}

/// Every exchange that is named anywhere: those shown step by step, the dearest of the accounts, the longest.
pub fn named(
    evidence: &Evidence,
    books: &Books,
    accounts: &[AccountExhibit],
    chosen: &[Chosen],
    longest_first: &[usize],
) -> Vec<ExchangeExhibit> {
    let mut named: BTreeSet<usize> = chosen.iter().map(|one| one.index).collect();
    named.extend(longest_first.iter().take(WORST));
    let dearest = accounts.iter().flat_map(|account| &account.dearest);
    named.extend(dearest.map(|dearest| dearest.number as usize - 1));
    let requests = Requests::new(evidence);
    named.into_iter().map(|index| exhibit(evidence, books, &requests, index)).collect()
}

fn exhibit(evidence: &Evidence, books: &Books, requests: &Requests, index: usize) -> ExchangeExhibit {
    let exchange = &evidence.exchanges[index];
    let parts = books.parts(index).iter();
    ExchangeExhibit {
        number: index as u64 + 1,
        at: exchange.start.saturating_sub(evidence.recording.manifest.start.0),
        length_ns: exchange.length(),
        connection: evidence.connections.row(exchange.connection).id,
        about: requests.about(exchange),
        bytes: exchange.bytes,
        answered: exchange.answered,
        accounts: parts.map(|part| Account { name: books.name(*part).to_string(), ns: part.ns }).collect(),
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
        let this = Reverse((ns, Reverse(index)));
        if self.dearest.len() < DEAREST {
            self.dearest.push(this);
        } else if self.dearest.peek().is_some_and(|least| this < *least) {
            self.dearest.pop();
            self.dearest.push(this);
        }
    }

    fn exhibit(self, name: &str) -> AccountExhibit {
        let dearest = self.dearest.into_sorted_vec().into_iter();
        let dearest = dearest.map(|Reverse((ns, Reverse(index)))| Dearest { number: index as u64 + 1, ns });
        AccountExhibit { name: name.to_string(), ns: self.ns, exchanges: self.exchanges, dearest: dearest.collect() }
    }
}

#[cfg(test)]
mod tests;
