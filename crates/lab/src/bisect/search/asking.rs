//! What was asked, what follows from it, and what needs what.

use super::{Bench, Set};
use crate::error::LabError;
use case::{ProbeKind, ProbeResult};
use std::collections::{BTreeMap, BTreeSet};

/// With how much care something is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// What follows from earlier answers is not asked.
    Usual,
    /// The same, and what was unclear is asked a second time.
    AgainIfUnclear,
    /// Asked unless it was itself asked before; what was unclear is asked a second time.
    Itself,
}

/// How often a set is asked about at most.
const TIMES: u32 = 2;

/// A bench with a memory.
pub struct Asking<'b> {
    bench: &'b mut dyn Bench,
    closures: BTreeMap<Set, Result<Set, String>>,
    answers: BTreeMap<Set, (ProbeResult, u32)>,
}

impl<'b> Asking<'b> {
    /// Nothing was asked yet; that the bad world is bad is known.
    pub fn new(bench: &'b mut dyn Bench) -> Asking<'b> {
        let answers = BTreeMap::from([(Set::new(), (ProbeResult::Bad, TIMES))]);
        let closures = BTreeMap::from([(Set::new(), Ok(Set::new()))]);
        Asking { bench, closures, answers }
    }

    /// As [`Bench::closed`], each set once.
    pub fn closed(&mut self, set: &Set) -> Result<Set, String> {
        if let Some(known) = self.closures.get(set) {
            return known.clone();
        }
        let closed = self.bench.closed(set).map(|closed| &closed | set);
        self.closures.insert(set.clone(), closed.clone());
        closed
    }

    /// What a set is, when closed.
    pub fn ask(&mut self, kind: ProbeKind, asked: &Set, care: Care) -> Result<ProbeResult, LabError> {
        let Ok(closed) = self.closed(asked) else { return Ok(ProbeResult::Untestable) };
        let mut result = self.known(&closed, care);
        while result.is_none() {
            let answer = self.bench.probe(kind, asked, &closed)?;
            let times = self.answers.get(&closed).map_or(1, |(_, times)| times + 1);
            self.answers.insert(closed.clone(), (answer, times));
            result = self.known(&closed, care);
        }
        Ok(result.unwrap_or_default())
    }

    /// The answer that is there, or follows; none where it is to be asked.
    fn known(&self, closed: &Set, care: Care) -> Option<ProbeResult> {
        match self.answers.get(closed) {
            Some((ProbeResult::Unclear, times)) if care != Care::Usual && *times < TIMES => None,
            Some((result, _)) => Some(*result),
            None if care == Care::Itself => None,
            None => self.implied(closed),
        }
    }

    /// What follows from other answers; none where nothing does, or they contradict each other.
    fn implied(&self, closed: &Set) -> Option<ProbeResult> {
        let any = |result: ProbeResult, implies: &dyn Fn(&Set) -> bool| {
            self.answers.iter().any(|(set, answer)| answer.0 == result && implies(set))
        };
        let good = any(ProbeResult::Good, &|set| set.is_subset(closed));
        let bad = any(ProbeResult::Bad, &|set| set.is_superset(closed));
        match (good, bad) {
            (true, false) => Some(ProbeResult::Good),
            (false, true) => Some(ProbeResult::Bad),
            _ => None,
        }
    }

    /// Whether this closed set was itself asked, and good.
    pub fn is_known_good(&self, closed: &Set) -> bool {
        self.answers.get(closed).is_some_and(|(result, _)| *result == ProbeResult::Good)
    }

    /// The smallest set that was asked and good, the first of several.
    pub fn least_good(&self) -> Option<Set> {
        let good = self.answers.iter().filter(|(_, (result, _))| *result == ProbeResult::Good);
        good.map(|(set, _)| set).min_by_key(|set| set.len()).cloned()
    }

    /// What one factor needs, itself included; of one that does not start alone nobody knows, so it may be anything of `all`.
    fn needs(&mut self, factor: usize, all: &Set) -> Set {
        self.closed(&Set::from([factor])).unwrap_or_else(|_| all.clone())
    }

    /// The members of `all` that are not among `left_out` and need none of them.
    pub fn without(&mut self, all: &Set, left_out: &Set) -> Set {
        let rest = all.difference(left_out).copied().collect::<Vec<_>>();
        rest.into_iter().filter(|factor| self.needs(*factor, all).is_disjoint(left_out)).collect()
    }

    /// The members of `all` that can be switched by themselves, with what each needs; those that need each other are one. What
    /// needs little comes first, so that what a unit needs is among those before it.
    pub fn units(&mut self, all: &Set) -> Vec<Set> {
        let mut units = BTreeSet::new();
        for &factor in all {
            let needs = self.needs(factor, all);
            if needs.is_subset(all) {
                let alone = self.closed(&Set::from([factor])).is_ok();
                units.insert((needs.len(), if alone { needs } else { Set::from([factor]) }));
            }
        }
        units.into_iter().map(|(_, unit)| unit).collect()
    }

    /// The members of `all` that none of the others needs, those that need each other together.
    pub fn heads(&mut self, all: &Set) -> BTreeSet<Set> {
        let needs = all.iter().map(|&factor| (factor, self.needs(factor, all))).collect::<BTreeMap<_, _>>();
        let is_each = |one: usize, other: usize| needs[&one].contains(&other) && needs[&other].contains(&one);
        let is_head =
            |one: usize| all.iter().all(|&other| !needs[&other].contains(&one) || needs[&one].contains(&other));
        let heads = all.iter().copied().filter(|&one| is_head(one));
        heads.map(|one| all.iter().copied().filter(|&other| is_each(one, other)).chain([one]).collect()).collect()
    }
}
