//! Single exchanges, and the accounts that they add up to.

use crate::answer::AccountTime;
use crate::facts::Account;
use serde::{Deserialize, Serialize};

/// One exchange.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExchangeView {
    /// Its place among all exchanges in order of their starts, counted from 1.
    pub number: u64,
    /// When it began.
    pub at: u64,
    /// How long it took, in nanoseconds.
    pub length_ns: u64,
    /// Its connection, as tables name it.
    pub connection: u32,
    /// What was asked, where that could be read: `POST /orders`, with the answer's status; empty otherwise.
    pub about: String,
    /// Bytes written and read.
    pub bytes: u64,
    /// Whether an answer came.
    pub answered: bool,
    /// Its own ledger, largest account first; adds up to its length.
    pub accounts: Vec<AccountTime>,
}

/// One account of all exchanges together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AccountView {
    /// What the time went into.
    pub account: Account,
    /// Its name in the answer's ledger.
    pub name: String,
    /// How much, in nanoseconds: a part of the sum of all exchanges' lengths.
    pub ns: u64,
    /// Exchanges that have any of it.
    pub exchanges: u64,
    /// The exchanges with most of it, most first; each is among [`Views::exchanges`](super::Views).
    pub top: Vec<TopExchange>,
}

/// What an account has from one exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopExchange {
    /// The exchange's number.
    pub number: u64,
    /// Its part of the account, in nanoseconds.
    pub ns: u64,
}
