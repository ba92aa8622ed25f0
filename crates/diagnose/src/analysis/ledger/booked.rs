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

/// The accounts that each of some exchanges in a row booked, as they were walked: not split yet, nor rounded.
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
            part.ns = part.ns.saturating_add(ns);
            return part.account;
        }
        let number = *self.numbers.entry(account).or_insert_with(|| {
            self.accounts.push(account);
            self.accounts.len() as u32 - 1
        });
        self.parts.push(Part { account: number, ns });
        number
    }

    /// What is added from now on is the next exchange's.
    pub fn end_exchange(&mut self) {
        self.ends.push(self.parts.len() as u32);
    }

    /// Nothing is added any more: what it has no use for is given back.
    pub fn end(&mut self) {
        self.numbers = FxHashMap::default();
        self.parts.shrink_to_fit();
    }

    /// What each exchange booked, in the order in which it was walked. The accounts are those of [`Booked::accounts`].
    pub fn exchanges(&self) -> impl Iterator<Item = &[Part]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.parts[start as usize..end as usize])
    }
}
