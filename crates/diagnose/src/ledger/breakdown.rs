//! The ledgers of all exchanges at once, in few bytes: a name is written once, and an exchange has numbers.
//!
//! Names are those of the run's ledger, so that the two join: an account that is small in the run is shown without its
//! object there, and so in each exchange, however large it is in that one.

use super::account::Account;
use super::totals::shown_as;
use super::walk::Walker;
use crate::analysis::Analysis;
use crate::exchange::Exchange;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The ledgers of all exchanges.
pub struct Breakdown {
    names: Vec<String>,
    parts: Vec<Part>,
    /// Where the parts of each exchange begin, and where the last one's end.
    borders: Vec<usize>,
}

/// What one account has of one exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The account's name, as [`Breakdown::name`] tells it.
    pub name: u32,
    /// How much, in nanoseconds.
    pub ns: u64,
}

impl Breakdown {
    /// Keeps the breakdown of every exchange; each one's add up to its length.
    pub fn new(analysis: &Analysis) -> Breakdown {
        let mut builder = Builder::new(analysis);
        let mut walker = Walker::new(analysis);
        let mut breakdown = Breakdown { names: Vec::new(), parts: Vec::new(), borders: vec![0] };
        for exchange in &analysis.exchanges {
            builder.book(&mut walker, exchange, &mut breakdown.parts);
            breakdown.borders.push(breakdown.parts.len());
        }
        breakdown.names = builder.names;
        breakdown
    }

    /// An exchange's accounts, largest first.
    pub fn parts(&self, exchange: usize) -> &[Part] {
        &self.parts[self.borders[exchange]..self.borders[exchange + 1]]
    }

    /// The names of the accounts, in order of their numbers.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The name of a part's account.
    pub fn name(&self, part: Part) -> &str {
        &self.names[part.name as usize]
    }

    /// How many exchanges.
    pub fn exchanges(&self) -> usize {
        self.borders.len() - 1
    }
}

/// How the run's ledger calls an account.
pub fn run_name(analysis: &Analysis, account: Account) -> String {
    let length = analysis.accounts.run.get(&account).copied().unwrap_or_default();
    shown_as(account, length, analysis.wall()).name(analysis)
}

/// Breakdown one exchange after the other.
struct Builder<'e> {
    analysis: &'e Analysis<'e>,
    /// In order of the alphabet.
    names: Vec<String>,
    unexplained: u32,
    /// What a booked account is split into: names, each with its share.
    split: FxHashMap<Account, Vec<(u32, f64)>>,
    /// The exchange's accounts as they are walked: a handful.
    walked: Vec<(Account, f64)>,
    /// The exchange's time by name, and the names it has.
    sums: Vec<f64>,
    had: Vec<u32>,
}

impl<'e> Builder<'e> {
    fn new(analysis: &'e Analysis<'e>) -> Builder<'e> {
        let accounts = analysis.accounts.exchanges.keys().chain(analysis.accounts.run.keys());
        let mut names: BTreeSet<String> = accounts.map(|&account| run_name(analysis, account)).collect();
        let unexplained = run_name(analysis, Account::Unexplained);
        names.insert(unexplained.clone());
        let names: Vec<String> = names.into_iter().collect();
        let unexplained = names.binary_search(&unexplained).unwrap_or_default() as u32;
        let sums = vec![0.0; names.len()];
        Builder { analysis, names, unexplained, split: FxHashMap::default(), walked: Vec::new(), sums, had: Vec::new() }
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
        let (analysis, names) = (self.analysis, &self.names);
        let split = self.split.entry(account).or_insert_with(|| {
            let mut split = Vec::new();
            analysis.pools.split(account, 1.0, &mut |account, share| {
                // Every account of an exchange is one of all exchanges'.
                if let Ok(name) = names.binary_search(&run_name(analysis, account)) {
                    split.push((name as u32, share));
                }
            });
            split
        });
        let (sums, had) = (&mut self.sums, &mut self.had);
        for &(name, share) in &*split {
            if !had.contains(&name) {
                had.push(name);
            }
            sums[name as usize] += length * share;
        }
    }

    fn add(&mut self, name: u32, length: f64) {
        if !self.had.contains(&name) {
            self.had.push(name);
        }
        self.sums[name as usize] += length;
    }

    /// Rounds so that the sum is exactly the total: the largest account takes what rounding left over.
    fn round(&mut self, total: u64, parts: &mut Vec<Part>) {
        let first = parts.len();
        self.had.sort_unstable();
        let mut left = total;
        for name in self.had.drain(..) {
            let length = std::mem::take(&mut self.sums[name as usize]);
            let ns = (length.round() as u64).min(left);
            left -= ns;
            parts.push(Part { name, ns });
        }
        if parts.len() == first {
            parts.push(Part { name: self.unexplained, ns: 0 });
        }
        let own = &mut parts[first..];
        own.sort_unstable_by_key(|part| (std::cmp::Reverse(part.ns), part.name));
        own[0].ns += left;
        let shown = own.iter().take_while(|part| part.ns > 0).count();
        parts.truncate(first + shown);
    }
}
