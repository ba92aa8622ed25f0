//! The ledgers of all exchanges at once, in few bytes: an account is written once, and an exchange has numbers.
//!
//! Accounts are those of the run's ledger, so that the two join: an account that is small in the run is shown without its
//! object there, and so in each exchange, however large it is in that one.

use super::account::Account;
use super::booked::{Booked, Part};
use super::totals::{round, shown_as};
use crate::analysis::Analysis;
use crate::exchange::Exchange;
use case::AccountTime;
use std::collections::BTreeMap;

/// The ledgers of all exchanges.
pub struct Breakdown {
    accounts: Vec<(String, case::Account)>,
    parts: Vec<Part>,
    /// Where the parts of each exchange begin, and where the last one's end.
    borders: Vec<u32>,
}

impl Breakdown {
    /// Keeps the breakdown of every exchange; each one's add up to its length.
    pub fn new(analysis: &Analysis, booked: Vec<Booked>) -> Breakdown {
        let mut builder = Builder::new(analysis);
        let mut breakdown = Breakdown { accounts: Vec::new(), parts: Vec::new(), borders: vec![0] };
        let mut exchanges = analysis.exchanges.iter();
        // What has been taken from is let go at once.
        for some in booked {
            let splits = builder.splits(analysis, &some);
            for (parts, exchange) in some.exchanges().zip(&mut exchanges) {
                builder.book(parts, &splits, exchange, &mut breakdown.parts);
                breakdown.borders.push(breakdown.parts.len() as u32);
            }
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

/// Accounts by their numbers, each with its share.
type Split = Vec<(u32, f64)>;

/// Breakdown one exchange after the other.
struct Builder {
    /// With their names, in order of the alphabet.
    accounts: Vec<(String, case::Account)>,
    unexplained: u32,
    /// The exchange's time by account, and the accounts it has.
    sums: Vec<f64>,
    had: Vec<u32>,
}

impl Builder {
    fn new(analysis: &Analysis) -> Builder {
        let accounts = analysis.accounts.exchanges.keys().chain(analysis.accounts.run.keys());
        let accounts = accounts.map(|&account| run_account(analysis, account)).chain([case::Account::Unexplained]);
        let accounts: BTreeMap<String, case::Account> = accounts.map(|account| (account.name(), account)).collect();
        let accounts: Vec<(String, case::Account)> = accounts.into_iter().collect();
        let unexplained = number(&accounts, &case::Account::Unexplained.name()).unwrap_or_default();
        let sums = vec![0.0; accounts.len()];
        Builder { accounts, unexplained, sums, had: Vec::new() }
    }

    /// What each booked account is split into: accounts, each with its share.
    fn splits(&self, analysis: &Analysis, booked: &Booked) -> Vec<Split> {
        let split = |&account: &Account| {
            let mut split = Split::new();
            analysis.pools.split(account, 1.0, &mut |account, share| {
                // Every account of an exchange is one of all exchanges'.
                if let Some(number) = number(&self.accounts, &run_account(analysis, account).name()) {
                    split.push((number, share));
                }
            });
            split
        };
        booked.accounts.iter().map(split).collect()
    }

    fn book(&mut self, booked: &[Part], splits: &[Split], exchange: &Exchange, parts: &mut Vec<Part>) {
        for part in booked {
            for &(account, share) in &splits[part.account as usize] {
                self.add(account, part.ns as f64 * share);
            }
        }
        let rest = exchange.length() as f64 - booked.iter().map(|part| part.ns as f64).sum::<f64>();
        if rest > 1.0 {
            self.add(self.unexplained, rest);
        }
        self.round(exchange.length(), parts);
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
