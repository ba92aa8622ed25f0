//! What the walk through each exchange booked, in few bytes: the run is broken down from it, and each exchange by itself.

use super::account::Account;
use rustc_hash::FxHashMap;

/// What one account has of one exchange.
///
/// Of a million exchanges there are some million: packed, each takes 12 bytes and not 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(Rust, packed(4))]
pub struct Part {
    /// The account's number, in [`Booked::accounts`] or in those of a [`super::Breakdown`].
    pub account: u32,
    /// How much, in nanoseconds.
    pub ns: u64,
}

/// The accounts that each exchange booked, as they were walked: not split yet, nor rounded.
#[derive(Default)]
pub struct Booked {
    /// By their numbers.
    pub accounts: Vec<Account>,
    numbers: FxHashMap<Account, u32>,
    parts: Vec<Part>,
    /// Where the parts of each exchange that has ended end.
    ends: Vec<u32>,
}

impl Booked {
    /// Adds to what an account has of the exchange that is walked. Returns the account's number.
    pub fn add(&mut self, account: Account, ns: u64) -> u32 {
        let first = self.ends.last().copied().unwrap_or_default() as usize;
        let accounts = &self.accounts;
        // A handful: nearly always found sooner than in a table.
        if let Some(part) = self.parts[first..].iter_mut().find(|part| accounts[part.account as usize] == account) {
            part.ns += ns;
            return part.account;
        }
        let number = self.number(account);
        self.parts.push(Part { account: number, ns });
        number
    }

    fn number(&mut self, account: Account) -> u32 {
        *self.numbers.entry(account).or_insert_with(|| {
            self.accounts.push(account);
            self.accounts.len() as u32 - 1
        })
    }

    /// Adds the exchanges that follow. Returns the numbers that their accounts have here.
    pub fn append(&mut self, following: &Booked) -> Vec<u32> {
        let numbers: Vec<u32> = following.accounts.iter().map(|&account| self.number(account)).collect();
        let first = self.parts.len() as u32;
        self.ends.extend(following.ends.iter().map(|end| first + end));
        let parts = following.parts.iter();
        self.parts.extend(parts.map(|part| Part { account: numbers[part.account as usize], ns: part.ns }));
        numbers
    }

    /// What is added from now on is the next exchange's.
    pub fn end_exchange(&mut self) {
        self.ends.push(self.parts.len() as u32);
    }

    /// What an exchange booked, in the order in which it was walked. The accounts are those of [`Booked::accounts`].
    pub fn parts(&self, exchange: usize) -> &[Part] {
        let first = exchange.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.parts[first as usize..self.ends[exchange] as usize]
    }
}
