//! The difference of two ledgers, account by account.

use super::aliases::{Aliases, without_figures};
use crate::analysis::Analysis;
use crate::analysis::ledger::{Account, Object};
use crate::connections::End;
use crate::units::Units;
use case::AccountContrast;
use case::facts::Object as Thing;
use std::collections::{BTreeMap, BTreeSet};

/// A difference under this share of the whole is left out.
const SMALL: f64 = 0.01;

/// Accounts, in nanoseconds.
pub type Accounts = BTreeMap<case::Account, f64>;

/// The accounts of the run's ledger under names that another recording would give them too.
pub fn of_run(analysis: &Analysis, rename: &dyn Fn(&str) -> String) -> Accounts {
    let mut accounts = Accounts::new();
    let mut booked = 0.0;
    for (&account, &length) in &analysis.accounts.run {
        *accounts.entry(common(analysis, account, rename)).or_default() += length;
        booked += length;
    }
    let rest = analysis.wall() as f64 - booked;
    if rest > 0.0 {
        *accounts.entry(case::Account::Unexplained).or_default() += rest;
    }
    accounts
}

/// An account with its module's name common to both sides; clients have another port each time.
fn common(analysis: &Analysis, account: Account, rename: &dyn Fn(&str) -> String) -> case::Account {
    let mut fact = account.fact(analysis);
    match &mut fact {
        case::Account::UserCpu { module: Some(module), .. } | case::Account::CpuOutside { module: Some(module) } => {
            *module = rename(module);
        }
        case::Account::Blocked { object, .. } | case::Account::BlockedOutside { object, .. }
            if is_of_client(analysis, account) =>
        {
            *object = Some(Thing::Client);
        }
        _ => {}
    }
    fact
}

/// Whether a server was blocked on one of its clients.
fn is_of_client(analysis: &Analysis, account: Account) -> bool {
    let (Account::Blocked(_, _, Object::Connection(slot)) | Account::OutsideBlocked(_, Object::Connection(slot))) =
        account
    else {
        return false;
    };
    analysis.connections.all()[slot as usize].end == Some(End::Server)
}

/// How accounts are called: with exchanges seen, and without any, when there is nothing to be outside of.
pub type Naming = fn(&case::Account) -> String;

/// The accounts that differ, largest difference first.
pub fn contrast<'n>(
    a: impl Iterator<Item = &'n Accounts>,
    b: impl Iterator<Item = &'n Accounts>,
    naming: Naming,
    units: Units,
    whole: f64,
) -> Vec<AccountContrast> {
    let (a, b) = (sum(a), sum(b));
    let names = |side: &Accounts| -> BTreeSet<String> { side.keys().map(naming).collect() };
    let aliases = Aliases::pair(&names(&a), &names(&b), without_figures);
    let mut both: BTreeMap<String, Both> = BTreeMap::new();
    for (account, length) in a {
        both.entry(aliases.in_a(&naming(&account))).or_insert_with(|| of(account)).a += length / units.a;
    }
    for (account, length) in b {
        both.entry(aliases.in_b(&naming(&account))).or_insert_with(|| of(account)).b += length / units.b;
    }
    let mut both: Vec<(String, Both)> = both.into_iter().collect();
    both.retain(|(_, one)| (one.b - one.a).abs() >= (SMALL * whole).max(1.0));
    both.sort_by(|(_, one), (_, other)| (other.b - other.a).abs().total_cmp(&(one.b - one.a).abs()));
    let shown = both.into_iter().map(|(name, one)| AccountContrast {
        name,
        a_ns: one.a.round() as u64,
        b_ns: one.b.round() as u64,
        account: one.account,
    });
    shown.collect()
}

/// An account's time of both sides, in nanoseconds an exchange (or a run).
struct Both {
    account: case::Account,
    a: f64,
    b: f64,
}

fn of(account: case::Account) -> Both {
    Both { account, a: 0.0, b: 0.0 }
}

fn sum<'n>(recordings: impl Iterator<Item = &'n Accounts>) -> Accounts {
    let mut sum = Accounts::new();
    for (account, length) in recordings.flatten() {
        *sum.entry(account.clone()).or_default() += length;
    }
    sum
}
