//! Probes of factors: the bad world with some of them taken from the good one.

use super::question::Asked;
use super::runs::Runs;
use case::{Bisection, Probe, ProbeKind, ProbeResult};
use lab::LabError;
use lab::bisect::{Bench, Closures, Difference, Layers, Probed, Set};
use std::collections::{BTreeMap, BTreeSet};

/// The most loaded libraries that are named.
const MOST_NAMED: usize = 5;

/// Why putting a factor into the bad world did not try it.
const IDLE: &str = "nothing in the bad world reads its files";

/// What factors are probed with.
pub struct Trials<'a, 'l> {
    asked: &'a Asked,
    differences: &'a [Difference],
    layers: &'a Layers,
    closures: Closures<'a>,
    known: BTreeMap<Set, Probed>,
    /// What probes are made with.
    pub runs: Runs<'a, 'l>,
}

impl<'a, 'l> Trials<'a, 'l> {
    /// Nothing probed yet.
    pub fn new(
        asked: &'a Asked,
        (differences, layers): (&'a [Difference], &'a Layers),
        closures: Closures<'a>,
        runs: Runs<'a, 'l>,
    ) -> Trials<'a, 'l> {
        Trials { asked, differences, layers, closures, known: BTreeMap::new(), runs }
    }

    /// The names of factors, in order.
    pub fn names(&self, set: &Set) -> Vec<String> {
        let mut names = set.iter().map(|factor| self.differences[*factor].factor.name.clone()).collect::<Vec<_>>();
        names.sort();
        names
    }

    /// The place of a set that was probed.
    pub fn place(&self, set: &Set) -> Option<&Probed> {
        self.known.get(set)
    }

    /// The document so far.
    pub fn bisection(&mut self) -> &mut Bisection {
        self.runs.bisection
    }

    /// Lists all factors, with what each needs.
    pub fn add_factors(&mut self) {
        let testable = self.layers.all_testable();
        for (number, difference) in self.differences.iter().enumerate() {
            let mut factor = difference.factor.clone();
            if testable.contains(&number) {
                match self.closures.closed(&Set::from([number])) {
                    Ok(closed) => factor.needs = self.names(&closed.into_iter().filter(|one| *one != number).collect()),
                    Err(why) => factor.untestable = why,
                }
            }
            self.bisection().factors.push(factor);
        }
    }

    /// Leaves out factors that did not take effect although they were switched with all others: that it stayed slow says
    /// nothing about them.
    pub fn leave_out_idle(&mut self) {
        let all = self.known.iter().max_by_key(|(set, _)| set.len()).map(|(set, _)| set.clone()).unwrap_or_default();
        let active = self.closures.loaded(&all);
        let is_idle = |one: &usize| !active.contains(one) && !self.layers.files(*one).is_empty();
        let idle = all.iter().copied().filter(is_idle).filter(|one| {
            // What was loaded by name at run time is known from the run only.
            !self.layers.files(*one).iter().any(|path| self.runs.has_mapped(path))
        });
        for number in idle.collect::<Vec<_>>() {
            self.leave_out(number, IDLE);
        }
    }

    /// Notes why a factor was left out.
    pub fn leave_out(&mut self, number: usize, why: &str) {
        if let Some(factor) = self.bisection().factors.get_mut(number) {
            factor.untestable = why.to_string();
        }
    }

    /// Which of the libraries of a set were really mapped, by their names.
    fn loaded(&self, set: &Set) -> String {
        let files = set.iter().flat_map(|factor| self.layers.files(*factor)).filter(|path| self.runs.has_mapped(path));
        let names = files.filter_map(|path| path.file_name()).map(|name| name.to_string_lossy().into_owned());
        let names = names.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>();
        let more = names.len().saturating_sub(MOST_NAMED);
        let named = names[..names.len() - more].join(", ");
        match (names.len(), more) {
            (0, _) => String::new(),
            (_, 0) => format!("loaded: {named}"),
            (_, more) => format!("loaded: {named} and {more} more"),
        }
    }
}

impl Bench for Trials<'_, '_> {
    fn closed(&mut self, set: &Set) -> Result<Set, String> {
        self.closures.closed(set)
    }

    fn probe(&mut self, kind: ProbeKind, asked: &Set, closed: &Set) -> Result<ProbeResult, LabError> {
        let terms = &self.asked.terms;
        let world = self.layers.world(closed, &self.asked.bad, &terms.world, terms.end);
        let what = match (kind, asked.len()) {
            (ProbeKind::All, _) => "everything from the good world".to_string(),
            (ProbeKind::Removal, _) => "everything except the answer".to_string(),
            (_, 1..=3) => self.names(asked).join(", "),
            (_, many) => format!("{many} differences from the good world"),
        };
        let probed = self.runs.probe(&world, &what)?;
        let (asked, taken, note) = (self.names(asked), self.names(closed), self.loaded(closed));
        self.runs.add(Probe { kind, asked, taken, note, ..Probe::default() }, &probed);
        let result = probed.result;
        self.known.insert(closed.clone(), probed);
        Ok(result)
    }
}
