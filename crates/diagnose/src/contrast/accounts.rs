//! The difference of two ledgers, account by account.

use super::aliases::{Aliases, without_figures};
use crate::analysis::Analysis;
use crate::connections::End;
use crate::ledger::{Account, Object};
use crate::units::Units;
use case::AccountContrast;
use std::collections::{BTreeMap, BTreeSet};

/// A difference under this share of the whole is left out.
const SMALL: f64 = 0.01;

/// Accounts by name, in nanoseconds.
pub type Named = BTreeMap<String, f64>;

/// The accounts of the run's ledger under names that another recording would give them too.
pub fn named(analysis: &Analysis, rename: &dyn Fn(&str) -> String) -> Named {
    let mut named = Named::new();
    let mut booked = 0.0;
    for (&account, &length) in &analysis.accounts.run {
        *named.entry(name(analysis, account, rename)).or_default() += length;
        booked += length;
    }
    let rest = analysis.wall() as f64 - booked;
    if rest > 0.0 {
        *named.entry(Account::Unexplained.name(analysis)).or_default() += rest;
    }
    named
}

/// An account's name, its module's common to both sides; clients have another port each time.
fn name(analysis: &Analysis, account: Account, rename: &dyn Fn(&str) -> String) -> String {
    let name = account.name(analysis);
    match account {
        Account::Module(_, module) | Account::OutsideCpu(module) => {
            let module = analysis.code.module_name(module);
            name.strip_suffix(module).map_or_else(|| name.clone(), |before| before.to_string() + &rename(module))
        }
        Account::Blocked(_, _, Object::Connection(slot)) | Account::OutsideBlocked(_, Object::Connection(slot)) => {
            let slot = slot as usize;
            match analysis.connections.all()[slot].end {
                Some(End::Server) => name.replace(&analysis.connections.remote(slot), "a client"),
                _ => name,
            }
        }
        _ => name,
    }
}

/// The accounts of programs without any exchange, which have nothing to be outside of.
pub fn of_runs(mut accounts: Vec<AccountContrast>) -> Vec<AccountContrast> {
    for account in &mut accounts {
        let name = account.name.strip_prefix("outside exchanges: ").unwrap_or(&account.name);
        account.name = name.replacen(" outside exchanges", "", 1);
    }
    accounts
}

/// The accounts that differ, largest difference first.
pub fn contrast<'n>(
    a: impl Iterator<Item = &'n Named>,
    b: impl Iterator<Item = &'n Named>,
    units: Units,
    whole: f64,
) -> Vec<AccountContrast> {
    let (a, b) = (sum(a), sum(b));
    let names = |side: &Named| -> BTreeSet<String> { side.keys().cloned().collect() };
    let aliases = Aliases::pair(&names(&a), &names(&b), without_figures);
    let mut both: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for (name, length) in &a {
        both.entry(aliases.in_a(name)).or_default().0 += length / units.a;
    }
    for (name, length) in &b {
        both.entry(aliases.in_b(name)).or_default().1 += length / units.b;
    }
    let mut both: Vec<(String, (f64, f64))> = both.into_iter().collect();
    both.retain(|(_, (a, b))| (b - a).abs() >= (SMALL * whole).max(1.0));
    both.sort_by(|(_, (a, b)), (_, (c, d))| (d - c).abs().total_cmp(&(b - a).abs()));
    both.into_iter()
        .map(|(name, (a, b))| AccountContrast { name, a_ns: a.round() as u64, b_ns: b.round() as u64 })
        .collect()
}

fn sum<'n>(recordings: impl Iterator<Item = &'n Named>) -> Named {
    let mut sum = Named::new();
    for (name, length) in recordings.flatten() {
        *sum.entry(name.clone()).or_default() += length;
    }
    sum
}
