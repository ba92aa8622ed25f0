//! Runs of a world in turns with the bad one: what every probe is made of.

use super::baseline::Baseline;
use super::question::Asked;
use crate::{Activity, Console};
use case::{Bisection, Probe, ProbeKind, ProbeResult};
use lab::bisect::{Axis, Probed};
use lab::worlds::Ready;
use lab::{LabError, Laboratory, Treatment, World};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The most pairs of runs that a probe takes.
const MOST_PAIRS: u32 = 12;
/// A commit that is not certainly off an end of the axis by more than this is as good as that end.
const SLACK: f64 = 0.05;

/// What probes are made with, and the document they go into.
pub struct Runs<'a, 'l> {
    asked: &'a Asked,
    baseline: &'a Baseline,
    axis: &'a Axis,
    laboratory: RefCell<&'a mut Laboratory<'l>>,
    activity: Activity<'a>,
    begun: Instant,
    /// Files that were mapped in the last probe's runs.
    mapped: RefCell<BTreeSet<PathBuf>>,
    /// Why a run of the last probe does not count; empty where all do.
    failed: RefCell<String>,
    /// The document.
    pub bisection: &'a mut Bisection,
}

impl<'a, 'l> Runs<'a, 'l> {
    /// Nothing probed yet.
    pub fn new(
        asked: &'a Asked,
        (baseline, axis): (&'a Baseline, &'a Axis),
        laboratory: &'a mut Laboratory<'l>,
        console: &'a dyn Console,
        bisection: &'a mut Bisection,
    ) -> Runs<'a, 'l> {
        laboratory.keeps_mapped = Some(asked.terms.end);
        let (activity, mapped, failed) = (Activity::of(console, "searching"), RefCell::default(), RefCell::default());
        let laboratory = RefCell::new(laboratory);
        Runs { asked, baseline, axis, laboratory, activity, begun: Instant::now(), mapped, failed, bisection }
    }

    /// Says what is being done.
    pub fn say(&self, line: &str) {
        self.activity.say(line);
    }

    /// Whether a path was mapped in the last probe's runs.
    pub fn has_mapped(&self, path: &Path) -> bool {
        self.mapped.borrow().contains(path)
    }

    /// Why a run of the last probe does not count; empty where all do.
    pub fn failed(&self) -> String {
        self.failed.borrow().clone()
    }

    /// The time that is left.
    pub fn left(&self) -> Duration {
        self.asked.terms.budget.saturating_sub(self.begun.elapsed())
    }

    /// The deviation of the logarithm of the ratio of a pair of runs.
    pub fn deviation(&self) -> f64 {
        self.axis.deviation
    }

    /// Probes a world; `what` is taken into it, in a few words.
    ///
    /// # Errors
    /// Where the laboratory fails; [`LabError::Interrupted`] where the user wants an end or time is up.
    pub fn probe(&self, world: &World, what: &str) -> Result<Probed, LabError> {
        let bad = self.bad();
        let seed = self.begin(what)?;
        let (mut probe, mut control) = (|| self.measure(world, true), || self.measure(&bad, false));
        lab::bisect::probe(self.axis, MOST_PAIRS, &mut probe, &mut control, seed)
    }

    /// Runs a world in turns with the bad one until `is_enough` says so of the logarithms of its gains, which come along; none
    /// where its runs do not count.
    ///
    /// # Errors
    /// As for a probe.
    pub fn gains(
        &self,
        ready: &Ready,
        what: &str,
        is_enough: &dyn Fn(&[f64]) -> bool,
    ) -> Result<(Probed, Vec<f64>), LabError> {
        let world = ready.world(&self.asked.terms.world, self.asked.terms.end, &[]);
        let bad = self.bad();
        let seed = self.begin(what)?;
        let (mut probe, mut control) = (|| self.measure(&world, true), || self.measure(&bad, false));
        lab::bisect::gains(self.axis, (MOST_PAIRS, SLACK), is_enough, [&mut probe, &mut control], seed)
    }

    fn bad(&self) -> World {
        self.asked.bad.world(&self.asked.terms.world, self.asked.terms.end, &[])
    }

    /// Begins a probe where there is time for one: the seed of its order.
    fn begin(&self, what: &str) -> Result<u64, LabError> {
        let left = self.left();
        if left == Duration::ZERO {
            return Err(LabError::Interrupted);
        }
        self.say(&format!("probe {}: {what}; at most {} s left", self.bisection.probes.len() + 1, left.as_secs()));
        self.mapped.borrow_mut().clear();
        self.failed.borrow_mut().clear();
        Ok(self.baseline.seed.wrapping_add(self.bisection.probes.len() as u64))
    }

    /// Runs once. The metric, where the run is sound.
    fn measure(&self, world: &World, is_probe: bool) -> Result<Option<f64>, LabError> {
        let mut laboratory = self.laboratory.borrow_mut();
        let nothing = Treatment::default();
        let outcome = laboratory.run(&self.asked.terms.subject, world, &nothing, &self.baseline.extent);
        let outcome = match outcome {
            Err(error @ LabError::Interrupted) => return Err(error),
            // A world in which programs cannot be started is no failure of the laboratory's.
            Err(error) if is_probe => return Ok(self.does_not_count(error.to_string())),
            other => other?,
        };
        if is_probe {
            self.mapped.borrow_mut().extend(outcome.mapped.iter().cloned());
        }
        if !outcome.row.problem.is_empty() {
            return Ok(self.does_not_count(outcome.row.problem));
        }
        if let Some(difference) = self.baseline.work.difference(&outcome) {
            return Ok(self.does_not_count(difference));
        }
        if !self.ends_as_ever(outcome.row.exit) {
            return Ok(self.does_not_count(format!("the program exits with status {}", outcome.row.exit)));
        }
        let value = self.baseline.metric.of(&outcome.row);
        Ok(value.or_else(|| self.does_not_count(format!("it has no {}", self.baseline.metric))))
    }

    fn does_not_count(&self, why: String) -> Option<f64> {
        *self.failed.borrow_mut() = why;
        None
    }

    /// Whether a run ended like the recorded one in the bad world, or was cut.
    fn ends_as_ever(&self, exit: i32) -> bool {
        let status = self.baseline.bad_run().answer.subject_exit.unwrap_or(-1);
        exit == status || (self.baseline.extent.window.is_some() && exit == -1)
    }

    /// Adds a probe to the document.
    pub fn add(&mut self, probe: Probe, probed: &Probed) {
        self.bisection.runs += 2 * probed.pairs;
        let is_search = matches!(probe.kind, ProbeKind::All | ProbeKind::Suspect | ProbeKind::Part | ProbeKind::Shrink);
        self.bisection.trials += u32::from(is_search);
        let failed = self.failed();
        let says_why = probe.note.is_empty() && probed.result == ProbeResult::Untestable;
        self.bisection.probes.push(Probe {
            note: if says_why { failed } else { probe.note },
            place: probed.place,
            low: probed.low,
            high: probed.high,
            result: probed.result,
            pairs: probed.pairs,
            ..probe
        });
    }
}
