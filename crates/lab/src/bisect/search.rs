//! The search: pure over a [`Bench`], so that tests make worlds up.

use crate::error::LabError;
use case::{Bond, ProbeKind, ProbeResult};
use std::collections::BTreeSet;

/// Factors by their numbers.
pub type Set = BTreeSet<usize>;

/// What can be asked about factors.
pub trait Bench {
    /// The factors that have to be taken from the good world with these, so that programs start: these and what they need. Costs
    /// no trial.
    ///
    /// # Errors
    /// Why programs do not start, whatever is added: one sentence without a full stop.
    fn closed(&mut self, set: &Set) -> Result<Set, String>;

    /// Runs the subject with these factors (a closed set) taken from the good world and all others from the bad one. What
    /// was asked before is not run again.
    ///
    /// # Errors
    /// Where the laboratory fails, or the user wants an end.
    fn probe(&mut self, kind: ProbeKind, asked: &Set, closed: &Set) -> Result<ProbeResult, LabError>;
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The least closed set that makes bad good.
    pub cure: Set,
    /// The least set that makes good bad when all else is good; empty where that could not be tried.
    pub cause: Set,
    /// How they belong together.
    pub bond: Bond,
}

/// Searches; none where not even all factors together make bad good. `order` has each factor once, the most suspected first.
///
/// # Errors
/// As [`Bench::probe`].
pub fn search(order: &[usize], bench: &mut dyn Bench) -> Result<Option<Found>, LabError> {
    let all = order.iter().copied().collect::<Set>();
    let Ok(closed) = bench.closed(&all) else { return Ok(None) };
    match bench.probe(ProbeKind::All, &all, &closed)? {
        ProbeResult::Good => Ok(Some(Found { cure: closed, cause: Set::new(), bond: Bond::Bundle })),
        _ => Ok(None),
    }
}
