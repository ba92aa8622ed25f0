//! The ledgers of all exchanges at once, in few bytes: an account is written once, and an exchange has numbers.
//!
//! Accounts are those of the run's ledger, so that the two join: an account that is small in the run is shown without its
//! object there, and so in each exchange, however large it is in that one.

use super::account::Account;
use super::totals::{round, shown_as};
use super::walk::Walker;
use crate::analysis::Analysis;
use crate::exchange::Exchange;
use case::AccountTime;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The ledgers of all exchanges.
pub struct Breakdown {
    accounts: Vec<(String, case::Account)>,
    parts: Vec<Part>,
    /// Where the parts of each exchange begin, and where the last one's end.
    borders: Vec<u32>,
}

/// What one account has of one exchange.
///
/// Of a million exchanges there are some million: packed, each takes 12 bytes and not 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(Rust, packed(4))]
pub struct Part {
    /// The account's number: see [`Breakdown::account`].
    pub account: u32,
    /// How much, in nanoseconds.
    pub ns: u64,
}

impl Breakdown {
    /// Keeps the breakdown of every exchange; each one's add up to its length.
    pub fn new(analysis: &Analysis) -> Breakdown {
        let mut builder = Builder::new(analysis);
        let mut walker = Walker::new(analysis);
        let mut breakdown = Breakdown { accounts: Vec::new(), parts: Vec::new(), borders: vec![0] };
        for exchange in &analysis.exchanges {
            builder.book(&mut walker, exchange, &mut breakdown.parts);
            breakdown.borders.push(breakdown.parts.len() as u32);
        }
        breakdown.accounts = builder.accounts;
        breakdown
    }

    /// An exchange's accounts, largest first.
    pub fn parts(&self, exchange: usize) -> &[Part] {
        &self.parts[self.borders[exchange] as usize..self.borders[exchange + 1] as usize]
    }

    /// The accounts with their names, in order of their numbers.
    pub fn accounts(&self) -> &[(String, case::Account)] {
        &self.accounts
    }

    /// A part as it is shown.
    pub fn shown(&self, part: Part) -> AccountTime {
        let (name, account) = self.accounts[part.account as usize].clone();
        AccountTime { name, ns: part.ns, account }
    }

    /// The number of an account that goes by a name.
    pub fn number(&self, name: &str) -> Option<u32> {
        number(&self.accounts, name)
    }

    /// How many exchanges.
    pub fn exchanges(&self) -> usize {
        self.borders.len() - 1
    }
}

/// An account as the run's ledger shows it.
pub fn run_account(analysis: &Analysis, account: Account) -> case::Account {
    let length = analysis.accounts.run.get(&account).copied().unwrap_or_default();
    shown_as(account, length, analysis.wall()).fact(analysis)
}

fn number(accounts: &[(String, case::Account)], name: &str) -> Option<u32> {
    accounts.binary_search_by(|(known, _)| known.as_str().cmp(name)).ok().map(|index| index as u32)
}

/// Breakdown one exchange after the other.
struct Builder<'e> {
    analysis: &'e Analysis<'e>,
    /// With their names, in order of the alphabet.
    accounts: Vec<(String, case::Account)>,
    unexplained: u32,
    /// What a booked account is split into: accounts, each with its share.
    split: FxHashMap<Account, Vec<(u32, f64)>>,
    /// The exchange's accounts as they are walked: a handful.
    walked: Vec<(Account, f64)>,
    /// The exchange's time by account, and the accounts it has.
    sums: Vec<f64>,
    had: Vec<u32>,
}

impl<'e> Builder<'e> {
    fn new(analysis: &'e Analysis<'e>) -> Builder<'e> {
        let accounts = analysis.accounts.exchanges.keys().chain(analysis.accounts.run.keys());
        let accounts = accounts.map(|&account| run_account(analysis, account)).chain([case::Account::Unexplained]);
        let accounts: BTreeMap<String, case::Account> = accounts.map(|account| (account.name(), account)).collect();
        let accounts: Vec<(String, case::Account)> = accounts.into_iter().collect();
        let unexplained = number(&accounts, &case::Account::Unexplained.name()).unwrap_or_default();
        let sums = vec![0.0; accounts.len()];
        Builder {
            analysis,
            accounts,
            unexplained,
            split: FxHashMap::default(),
            walked: Vec::new(),
            sums,
            had: Vec::new(),
        }
    }

    fn book(&mut self, walker: &mut Walker, exchange: &Exchange, parts: &mut Vec<Part>) {
        let walked = &mut self.walked;
        walked.clear();
        walker.exchange(exchange, &mut |from, to, account| {
            let length = (to - from) as f64;
            match walked.iter_mut().find(|(known, _)| *known == account) {
                Some((_, sum)) => *sum += length,
                None => walked.push((account, length)),
            }
        });
        let booked: f64 = self.walked.iter().map(|(_, length)| length).sum();
        for index in 0..self.walked.len() {
            let (account, length) = self.walked[index];
            self.divide(account, length);
        }
        let rest = exchange.length() as f64 - booked;
        if rest > 1.0 {
            self.add(self.unexplained, rest);
        }
        self.round(exchange.length(), parts);
    }

    fn divide(&mut self, account: Account, length: f64) {
        let (analysis, accounts) = (self.analysis, &self.accounts);
        let split = self.split.entry(account).or_insert_with(|| {
            let mut split = Vec::new();
            analysis.pools.split(account, 1.0, &mut |account, share| {
                // Every account of an exchange is one of all exchanges'.
                if let Some(number) = number(accounts, &run_account(analysis, account).name()) {
                    split.push((number, share));
                }
            });
            split
        });
        let (sums, had) = (&mut self.sums, &mut self.had);
        for &(account, share) in &*split {
            if !had.contains(&account) {
                had.push(account);
            }
            sums[account as usize] += length * share;
        }
    }

    fn add(&mut self, account: u32, length: f64) {
        if !self.had.contains(&account) {
            self.had.push(account);
        }
        self.sums[account as usize] += length;
    }

    /// Rounds so that the sum is exactly the total, or what was booked where that is more.
    fn round(&mut self, total: u64, parts: &mut Vec<Part>) {
        let first = parts.len();
        self.had.sort_unstable();
        let accounts: Vec<u32> = self.had.drain(..).collect();
        let lengths: Vec<f64> =
            accounts.iter().map(|&account| std::mem::take(&mut self.sums[account as usize])).collect();
        let (rounded, _) = round(&lengths, total);
        parts.extend(accounts.into_iter().zip(rounded).map(|(account, ns)| Part { account, ns }));
        if parts.len() == first {
            parts.push(Part { account: self.unexplained, ns: total });
        }
        let own = &mut parts[first..];
        own.sort_unstable_by_key(|part| (std::cmp::Reverse(part.ns), part.account));
        let shown = own.iter().take_while(|part| part.ns > 0).count();
        parts.truncate(first + shown);
    }
}
