//! The search: pure over a [`Bench`], so that tests make worlds up.
//!
//! It supposes that taking more from the good world never makes it slower, and asks nothing that follows from an answer it
//! has: what holds a good set is good, what lies in a bad set is bad. What it names was asked itself. In order:
//!
//! 1. everything: is the difference among it?
//! 2. the most suspected, each alone with what it needs;
//! 3. halving ([`least`]): about log2(n) + 1 probes a culprit, what needs little first;
//! 4. what was found without each of its members, where that does not follow already;
//! 5. everything but what was found ([`removal`]). Where that is good still, it is slow only together with others.
//!
//! A single culprit takes at most log2(n) + 6 probes (rounded up), a pair 2 log2(n) + 8.

mod asking;
mod least;
mod removal;

use crate::error::LabError;
use asking::{Asking, Care};
use case::{Bond, ProbeKind, ProbeResult};
use std::collections::BTreeSet;

/// Factors by their numbers.
pub type Set = BTreeSet<usize>;

/// So many of the suspected are tried alone. Where the profile is right, the culprit is among its first; where it is not, each
/// try more is a probe lost.
const SUSPECTS: usize = 3;

/// What can be asked about factors.
pub trait Bench {
    /// The factors that have to be taken from the good world with these, so that programs start: these and what they need. Costs
    /// no trial.
    ///
    /// # Errors
    /// Why programs do not start, whatever is added: one sentence without a full stop.
    fn closed(&mut self, set: &Set) -> Result<Set, String>;

    /// Runs the subject with these factors (a closed set) taken from the good world and all others from the bad one. The
    /// search asks a closed set once, and a second time only where the first answer was unclear and something hangs on
    /// it: then it is to be run anew.
    ///
    /// # Errors
    /// Where the laboratory fails, or the user wants an end.
    fn probe(&mut self, kind: ProbeKind, asked: &Set, closed: &Set) -> Result<ProbeResult, LabError>;
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The least closed set that makes bad good; of several that do so (those slow only together), the smallest.
    pub cure: Set,
    /// The least set that makes good bad when all else is good; empty where that could not be tried or is not clear.
    pub cause: Set,
    /// Members of `cause` that are in it only because they do not start without the others: nothing is said of them.
    pub forced: Set,
    /// How they belong together.
    pub bond: Bond,
    /// Those that were left out, because programs do not start with them, and why.
    pub untestable: Vec<(usize, String)>,
}

/// Searches; none where not even all factors together make bad good. `order` has each factor once, the most suspected first:
/// the answer does not depend on it, only the number of probes does.
///
/// # Errors
/// As [`Bench::probe`].
pub fn search(order: &[usize], bench: &mut dyn Bench) -> Result<Option<Found>, LabError> {
    let mut asking = Asking::new(bench);
    let (testable, untestable) = testable(&order.iter().copied().collect(), &mut asking);
    let Some(all) = asking.closed(&testable).ok().filter(|all| !all.is_empty()) else { return Ok(None) };
    if asking.ask(ProbeKind::All, &testable, Care::AgainIfUnclear)? != ProbeResult::Good {
        return Ok(None);
    }
    let within = suspected(order, &all, &mut asking)?.unwrap_or_else(|| all.clone());
    let units = asking.units(&within);
    let picked =
        least::least(&units, &mut |set, care| Ok(asking.ask(ProbeKind::Part, set, care)? == ProbeResult::Good))?;
    let cure = shrunk(&picked.iter().flatten().copied().collect(), &mut asking)?;
    let cure = if asking.is_known_good(&cure) { cure } else { asking.least_good().unwrap_or(all.clone()) };
    let groups = asking.heads(&cure).len();
    let bond = match (groups, cure.len()) {
        (_, 1) => Bond::Single,
        (1, _) => Bond::Bundle,
        _ => Bond::Each,
    };
    let found = Found { cure, cause: Set::new(), forced: Set::new(), bond, untestable };
    removal::confirmed(found, &all, &mut asking).map(Some)
}

/// The factors that can be switched together, and why the others cannot.
fn testable(all: &Set, asking: &mut Asking) -> (Set, Vec<(usize, String)>) {
    if asking.closed(all).is_ok() {
        return (all.clone(), Vec::new());
    }
    let mut untestable = Vec::new();
    let mut alone = Vec::new();
    for &factor in all {
        match asking.closed(&Set::from([factor])) {
            Ok(closed) => alone.push((closed.len(), factor)),
            Err(why) => untestable.push((factor, why)),
        }
    }
    let together = alone.iter().map(|(_, factor)| *factor).collect::<Set>();
    if asking.closed(&together).is_ok() {
        return (together, untestable);
    }
    alone.sort_unstable();
    let mut kept = Set::new();
    for (_, factor) in alone {
        let mut more = kept.clone();
        more.insert(factor);
        match asking.closed(&more) {
            Ok(_) => kept = more,
            Err(why) => untestable.push((factor, why)),
        }
    }
    untestable.sort();
    (kept, untestable)
}

/// The closed set of the first of the most suspected that is good by itself.
fn suspected(order: &[usize], all: &Set, asking: &mut Asking) -> Result<Option<Set>, LabError> {
    let mut tried = BTreeSet::from([all.clone()]);
    for &factor in order.iter().filter(|factor| all.contains(factor)) {
        let alone = Set::from([factor]);
        let Ok(closed) = asking.closed(&alone) else { continue };
        if !tried.insert(closed.clone()) {
            continue;
        }
        if tried.len() > SUSPECTS + 1 {
            break;
        }
        if asking.ask(ProbeKind::Suspect, &alone, Care::Usual)? == ProbeResult::Good {
            return Ok(Some(closed));
        }
    }
    Ok(None)
}

/// A good set without what it can do without: each member in turn, by its number, with those that need it.
fn shrunk(found: &Set, asking: &mut Asking) -> Result<Set, LabError> {
    let mut kept = asking.closed(found).unwrap_or_else(|_| found.clone());
    loop {
        let before = kept.clone();
        for factor in &before {
            let without = asking.without(&kept, &Set::from([*factor]));
            let Ok(closed) = asking.closed(&without) else { continue };
            if closed.contains(factor) || closed.is_empty() || !closed.is_subset(&kept) {
                continue;
            }
            if asking.ask(ProbeKind::Shrink, &without, Care::Usual)? == ProbeResult::Good {
                kept = closed;
            }
        }
        if kept == before {
            return Ok(kept);
        }
    }
}

#[cfg(test)]
mod tests;
