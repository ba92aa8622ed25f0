//! Which exchanges are shown step by step.

use super::exchanges::totals;
use super::lengths::longest_first;
use crate::evidence::Evidence;
use case::Ledger;
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
    /// Why: `typical`, `worst`, `best`, or the account that it has most of.
    pub why: String,
    /// Its index among the exchanges.
    pub index: usize,
}

/// A typical, a worst and a best exchange, then one for each large account; none of them twice. Of one exchange that is
/// `typical`, of two the `worst` and the `best`.
pub fn ladders(evidence: &Evidence, ledgers: &[Ledger]) -> Vec<Chosen> {
    let longest_first = longest_first(evidence);
    let Some(&worst) = longest_first.first() else { return Vec::new() };
    if longest_first.len() == 1 {
        return vec![chosen("typical", worst)];
    }
    let answered = |index: &&usize| evidence.exchanges[**index].answered && **index != worst;
    let shortest = longest_first.iter().rev().find(answered).or(longest_first.last());
    let best = shortest.copied().unwrap_or(worst);
    let rest: Vec<usize> =
        longest_first.iter().rev().copied().filter(|&index| index != worst && index != best).collect();
    let mut shown = Vec::new();
    shown.extend(typical(evidence, ledgers, rest).map(|index| chosen("typical", index)));
    shown.extend([chosen("worst", worst), chosen("best", best)]);
    add_dearest(ledgers, &mut shown);
    shown
}

fn chosen(why: &str, index: usize) -> Chosen {
    Chosen { why: why.to_string(), index }
}

/// The exchange that resembles most others: set up or not as most are, its time in the account where most of theirs is,
/// and among such the one of middle length. The candidates come in order of their lengths.
fn typical(evidence: &Evidence, ledgers: &[Ledger], mut candidates: Vec<usize>) -> Option<usize> {
    let set_up = |index: &usize| evidence.exchanges[*index].set_up.is_some();
    let mostly_set_up = candidates.iter().filter(|index| set_up(index)).count() * 2 > candidates.len();
    candidates.retain(|index| set_up(index) == mostly_set_up);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for &index in &candidates {
        *counts.entry(largest(&ledgers[index])).or_default() += 1;
    }
    let common = |name: &str| counts.get(name).is_some_and(|&count| count as f64 >= COMMON * candidates.len() as f64);
    let dearest = totals(ledgers).into_iter().next().map(|account| account.name).filter(|name| common(name));
    let most_frequent = || counts.iter().max_by_key(|&(_, count)| count).map(|(name, _)| (*name).to_string());
    let account = dearest.or_else(most_frequent)?;
    candidates.retain(|&index| largest(&ledgers[index]) == account);
    candidates.get(candidates.len() / 2).copied()
}

/// The name of a ledger's largest account.
fn largest(ledger: &Ledger) -> &str {
    ledger.accounts.first().map_or("", |account| &account.name)
}

/// Adds, for each large account, the exchange with most of it.
fn add_dearest(ledgers: &[Ledger], shown: &mut Vec<Chosen>) {
    let whole: u64 = ledgers.iter().map(|ledger| ledger.total).sum();
    for account in totals(ledgers) {
        if shown.len() >= SHOWN || (account.ns as f64) < LARGE * whole as f64 {
            break;
        }
        let dearest = account.dearest.first().map(|dearest| dearest.number as usize - 1);
        if let Some(index) = dearest.filter(|index| shown.iter().all(|one| one.index != *index)) {
            shown.push(chosen(&account.name, index));
        }
    }
}

#[cfg(test)]
mod tests;
