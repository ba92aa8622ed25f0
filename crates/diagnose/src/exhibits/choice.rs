//! Which exchanges are shown step by step.

use crate::evidence::Evidence;
use case::Ledger;

/// An exchange that is shown step by step.
pub struct Chosen {
    /// Why: `typical`, `worst`, `best`, or the account that it has most of.
    pub why: String,
    /// Its index among the exchanges.
    pub index: usize,
}

/// A typical, a worst and a best exchange.
pub fn ladders(evidence: &Evidence, _ledgers: &[Ledger]) -> Vec<Chosen> {
    let mut order: Vec<usize> = (0..evidence.exchanges.len()).collect();
    order.sort_by_key(|&index| (evidence.exchanges[index].length(), index));
    let (Some(&best), Some(&worst)) = (order.first(), order.last()) else { return Vec::new() };
    let chosen = [("typical", order[order.len() / 2]), ("worst", worst), ("best", best)];
    chosen.into_iter().map(|(why, index)| Chosen { why: why.to_string(), index }).collect()
}
