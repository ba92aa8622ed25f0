//! The other way round: all is good but what was found. That has to be bad, or there is more to it.

use super::asking::{Asking, Care};
use super::least::least;
use super::{Found, Set};
use crate::error::LabError;
use case::{Bond, ProbeKind, ProbeResult};
use std::collections::BTreeSet;

/// What was found, with what makes good bad.
///
/// What cannot start without what was found stays bad with it: it is listed as `forced`.
pub fn confirmed(found: Found, all: &Set, asking: &mut Asking) -> Result<Found, LabError> {
    let heads = asking.heads(&found.cure).into_iter().flatten().collect::<Set>();
    match removed(&heads, all, asking)? {
        // Where everything hangs on it, this is the bad world itself, and says nothing.
        (ProbeResult::Bad, left) if left == *all && found.cure != *all => Ok(found),
        (ProbeResult::Bad, left) => Ok(with_cause(found, left, &heads)),
        (ProbeResult::Good, _) => together(found, &heads, all, asking),
        _ => Ok(found),
    }
}

/// Whether everything without some factors and what they need is good or bad, and what is from the bad world then. Not
/// testable where closing brings them back.
///
/// What they need is left out too: a library that nobody loads any more says nothing when it alone is put back.
fn removed(some: &Set, all: &Set, asking: &mut Asking) -> Result<(ProbeResult, Set), LabError> {
    let needed = asking.closed(some).unwrap_or_else(|_| some.clone());
    let asked = &asking.without(all, some) - &needed;
    let Ok(closed) = asking.closed(&asked) else { return Ok((ProbeResult::Untestable, Set::new())) };
    if !closed.is_disjoint(some) {
        return Ok((ProbeResult::Untestable, Set::new()));
    }
    let result = asking.ask(ProbeKind::Removal, &asked, Care::Itself)?;
    Ok((result, all.difference(&closed).copied().collect()))
}

fn with_cause(found: Found, cause: Set, known: &Set) -> Found {
    let own = known | &found.cure;
    Found { forced: cause.difference(&own).copied().collect(), cause, ..found }
}

/// Those that are slow only together: the least set that makes good bad, with what was found, searched among the rest.
fn together(found: Found, heads: &Set, all: &Set, asking: &mut Asking) -> Result<Found, LabError> {
    let rest = all.difference(heads).copied().collect::<Set>();
    let mut units = BTreeSet::new();
    for factor in rest {
        let stays = all.difference(&asking.without(all, &Set::from([factor]))).copied().collect::<Set>();
        units.insert((stays.len(), stays));
    }
    let units = units.into_iter().map(|(_, unit)| unit).collect::<Vec<_>>();
    let picked = least(&units, &mut |set, care| is_bad_without(&(heads | set), all, asking, care))?;
    let mut cause = picked.iter().flatten().copied().chain(heads.iter().copied()).collect::<Set>();
    cause = asking.left_by(&cause, all);
    for factor in cause.clone() {
        let fewer = cause.iter().copied().filter(|&other| other != factor).collect::<Set>();
        let left = asking.left_by(&fewer, all);
        if !left.is_empty() && !left.contains(&factor) && is_bad_without(&left, all, asking, Care::Usual)? {
            cause = left;
        }
    }
    let own = asking.tails(&cause, all);
    let (ProbeResult::Bad, cause) = removed(&own, all, asking)? else { return Ok(found) };
    let cure = least_cure(&own, asking)?.unwrap_or(found.cure.clone());
    let known = asking.closed(&own).unwrap_or(own);
    Ok(with_cause(Found { cure, bond: Bond::Together, ..found }, cause, &known))
}

fn is_bad_without(some: &Set, all: &Set, asking: &mut Asking, care: Care) -> Result<bool, LabError> {
    let asked = asking.without(all, some);
    Ok(asking.ask(ProbeKind::Removal, &asked, care)? == ProbeResult::Bad)
}

/// The smallest set that cures by one of these alone.
fn least_cure(some: &Set, asking: &mut Asking) -> Result<Option<Set>, LabError> {
    let mut candidates = BTreeSet::new();
    for &factor in some {
        if let Ok(closed) = asking.closed(&Set::from([factor])) {
            candidates.insert((closed.len(), closed));
        }
    }
    for (_, closed) in candidates {
        if asking.ask(ProbeKind::Shrink, &closed, Care::Itself)? == ProbeResult::Good {
            return Ok(Some(closed));
        }
    }
    Ok(None)
}

impl Asking<'_> {
    /// What is bad when these are: they, and those that need them.
    fn left_by(&mut self, some: &Set, all: &Set) -> Set {
        all.difference(&self.without(all, some)).copied().collect()
    }

    /// The members of a set that no other member forces to be in it; of those that force each other, all.
    fn tails(&mut self, set: &Set, all: &Set) -> Set {
        let forces = set.iter().map(|&one| (one, self.left_by(&Set::from([one]), all))).collect::<Vec<_>>();
        let of = |one: usize| forces.iter().find(|(other, _)| *other == one).map(|(_, forced)| forced);
        let is_free = |one: usize| {
            let by_another = |(other, forced): &(usize, Set)| {
                forced.contains(&one) && !of(one).is_some_and(|forced| forced.contains(other))
            };
            !forces.iter().any(by_another)
        };
        set.iter().copied().filter(|&one| is_free(one)).collect()
    }
}
