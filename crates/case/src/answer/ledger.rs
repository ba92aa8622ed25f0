//! Ledgers: where time went.

use crate::facts::{Account, Reconciled};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where time went. The accounts add up to the total; unexplained time is an account of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ledger {
    /// Always `ns`.
    pub unit: String,
    /// The sum of all accounts.
    pub total: u64,
    /// The accounts, largest first.
    pub accounts: Vec<AccountTime>,
    /// Time that no account explains: that of the account `unexplained` again, for those who look for one figure.
    pub unexplained: u64,
    /// Time that was booked twice: by so much the accounts add up to more than the total. An error of whyslow's.
    #[serde(default)]
    pub overbooked: u64,
    /// How the threads' time compares with what the scheduler counted; none in cases without its sums, and in ledgers that
    /// are not a whole run's.
    #[serde(default)]
    pub reconciled: Option<Reconciled>,
}

impl Ledger {
    /// The accounts that have time and explain it, largest first.
    pub fn explained(&self) -> Vec<&AccountTime> {
        let explains = |one: &&AccountTime| one.ns > 0 && one.account != Account::Unexplained;
        let mut accounts = self.accounts.iter().filter(explains).collect::<Vec<_>>();
        accounts.sort_by_key(|one| std::cmp::Reverse(one.ns));
        accounts
    }
}

/// One account of a ledger.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "WrittenTime")]
pub struct AccountTime {
    /// What the time went into, as people read it: the name of `account`.
    pub name: String,
    /// How much, in nanoseconds.
    pub ns: u64,
    /// What the time went into.
    pub account: Account,
}

impl AccountTime {
    /// An account's time, under the account's name.
    pub fn new(account: Account, ns: u64) -> AccountTime {
        AccountTime { name: account.name(), ns, account }
    }
}

/// The same as files have it: older ones have only the name.
#[derive(Deserialize, JsonSchema)]
struct WrittenTime {
    name: String,
    ns: u64,
    account: Option<Account>,
}

impl From<WrittenTime> for AccountTime {
    fn from(WrittenTime { name, ns, account }: WrittenTime) -> AccountTime {
        let account = account.unwrap_or_else(|| Account::from_name(&name));
        AccountTime { name, ns, account }
    }
}
