//! Which exchanges are shown step by step.

use crate::analysis::Analysis;
use crate::analysis::ledger::Breakdown;
use case::views::{AccountView, Why};
use std::collections::BTreeMap;

/// Exchanges shown step by step at most.
const SHOWN: usize = 9;

/// An account of at least this share of the exchanges' time gets an exchange that shows it.
const LARGE: f64 = 0.05;

/// An account in which the exchanges spend most is typical where at least this share of them has it as the largest: the
/// account of a few very long ones is not.
const COMMON: f64 = 0.25;

/// An exchange that is shown step by step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Why.
    pub why: Why,
    /// Its index among the exchanges.
    pub index: usize,
}

/// A typical, a worst and a best exchange, then one for each large account; none of them twice. Of one exchange that is
/// `typical`, of two the `worst` and the `best`.
pub fn ladders(
    analysis: &Analysis,
    breakdown: &Breakdown,
    accounts: &[AccountView],
    longest_first: &[usize],
) -> Vec<Chosen> {
    let (worst, rest) = match longest_first {
        [] => return Vec::new(),
        [one] => return vec![chosen(Why::Typical, *one)],
        [worst, rest @ ..] => (*worst, rest),
    };
    let answered = rest.iter().rev().find(|&&index| analysis.exchanges[index].answered);
    let best = answered.or(rest.last()).copied().unwrap_or(worst);
    let candidates: Vec<usize> = rest.iter().rev().copied().filter(|&index| index != best).collect();
    let typical = typical(analysis, breakdown, accounts, candidates);
    let mut shown: Vec<Chosen> = typical.map(|index| chosen(Why::Typical, index)).into_iter().collect();
    shown.extend([chosen(Why::Worst, worst), chosen(Why::Best, best)]);
    add_top(accounts, &mut shown);
    shown
}

fn chosen(why: Why, index: usize) -> Chosen {
    Chosen { why, index }
}

/// The exchange that resembles most others: set up or not as most are, its time in the account where most of theirs is,
/// and among such the one of middle length. The candidates come in order of their lengths.
fn typical(
    analysis: &Analysis,
    breakdown: &Breakdown,
    accounts: &[AccountView],
    mut candidates: Vec<usize>,
) -> Option<usize> {
    let set_up = |index: &usize| analysis.exchanges[*index].set_up.is_some();
    let mostly_set_up = candidates.iter().filter(|index| set_up(index)).count() * 2 > candidates.len();
    candidates.retain(|index| set_up(index) == mostly_set_up);
    let largest = |index: &usize| breakdown.parts(*index).first().map(|part| part.account);
    let mut counts: BTreeMap<Option<u32>, usize> = BTreeMap::new();
    for index in &candidates {
        *counts.entry(largest(index)).or_default() += 1;
    }
    let common = |account: &Option<u32>| {
        counts.get(account).is_some_and(|&count| count as f64 >= COMMON * candidates.len() as f64)
    };
    let number = |account: &AccountView| breakdown.number(&account.name);
    let of_the_whole = accounts.first().map(number).filter(common);
    let most_frequent = || counts.iter().max_by_key(|&(_, count)| count).map(|(account, _)| *account);
    let account = of_the_whole.or_else(most_frequent)?;
    candidates.retain(|index| largest(index) == account);
    candidates.get(candidates.len() / 2).copied()
}

/// Adds, for each large account, the exchange with most of it.
fn add_top(accounts: &[AccountView], shown: &mut Vec<Chosen>) {
    let whole: u64 = accounts.iter().map(|account| account.ns).sum();
    for account in accounts.iter().filter(|account| account.ns as f64 >= LARGE * whole as f64) {
        let top = account.top.first().map(|top| top.number as usize - 1);
        if let Some(index) = top.filter(|index| shown.iter().all(|one| one.index != *index))
            && shown.len() < SHOWN
        {
            shown.push(chosen(Why::MostOf { account: account.account.clone() }, index));
        }
    }
}

#[cfg(test)]
mod tests;
