//! What a budget allows: which arms can have their first look, and how long a trial takes.

use super::{FIRST_LOOK, Proving, is_reference};
use crate::arms::Arm;
use crate::error::LabError;
use crate::experiment::{Attempt, SHAM};
use crate::extent::Extent;
use crate::prove::soundness;
use case::facts::{NotTried, WhyNot};
use case::{Nanos, Purpose};
use std::time::Duration;

/// How much of a trial is left where its cause is switched off, as a guess.
const CURED: f64 = 0.5;
/// What an arm's machinery may add to starting and ending the programs, as a factor: the run that shows what that takes has
/// nothing attached.
const WITH_MACHINERY: f64 = 1.5;

/// After so many pairs ranks decide, and one that is odd no longer does. A whole run is cut off from nothing that delays it.
const STEADY_LOOK: u32 = 8;

impl Proving<'_, '_> {
    /// Runs the program once with nothing attached: what starting it takes, and whether a trial that is cut shows what
    /// the recorded run showed. Where its exchanges are of another length than those of the run, the run has phases, and
    /// only whole runs can be compared.
    pub(super) fn pilot(&mut self) -> Result<(), LabError> {
        (self.terms.say)("proving: one run with nothing attached, to see how long a trial takes");
        let bare = self.bare();
        let (result, took) = self.state.timed(None, || (self.execute)(&bare, &self.extent));
        let pilot = match result {
            Err(LabError::Interrupted) => return Err(LabError::Interrupted),
            // What is wrong will show in the trials, where it is reported.
            Err(_) => return Ok(()),
            Ok(pilot) => pilot,
        };
        self.overhead = took.saturating_sub(Duration::from_nanos(pilot.row.wall.0)).mul_f64(WITH_MACHINERY);
        if let Some(base) = &self.base {
            self.state.presume(SHAM, base.without + self.overhead);
        }
        if self.extent.window.is_some() && !soundness::stands_for(&pilot.row, self.answer) {
            self.extent = Extent::whole(Duration::from_nanos(self.answer.wall_ns));
            self.experiment.extent = Some(self.extent);
            if soundness::is_shorter(&pilot.row, self.answer) {
                self.whole()?;
            }
        }
        Ok(())
    }

    /// How long a trial takes by itself. Where it is whole, that is seen from one with nothing attached, if there was any: a program
    /// of many short calls takes far longer while it is recorded.
    pub(super) fn length(&self) -> Duration {
        let wholes = self.wholes.iter().map(|whole| Duration::from_nanos(whole.row.wall.0));
        let seen = wholes.max().filter(|_| self.extent.window.is_none());
        seen.unwrap_or_else(|| self.extent.expected(self.answer))
    }

    /// The arms for which a first look is affordable: doses are given up first, then what only repeats a proof, then
    /// the arm with nothing attached, then controls, and the proof itself last.
    pub(super) fn affordable(&mut self, arms: &[Arm], budget: Duration) -> Vec<Arm> {
        let trial = self.expected();
        let mut kept = arms.to_vec();
        while self.first_look(&kept) > budget {
            let worst = |purpose| kept.iter().rposition(|arm| self.is_for(arm, purpose));
            let repeated = || kept.iter().rposition(|arm| self.is_for(arm, Purpose::Cause) && self.repeats(arm, &kept));
            // What nothing is compared with only shows what the machinery costs.
            let is_idle = |arm: &Arm| is_reference(arm) && !self.is_compared_with(&arm.name, &kept);
            let plain = || kept.iter().position(is_idle);
            // What could refute a proof is worth more than what would repeat it.
            let given_up = worst(Purpose::Dose).or_else(repeated).or_else(plain).or_else(|| worst(Purpose::Control));
            let Some(index) = given_up.or_else(|| worst(Purpose::Cause)) else { break };
            let arm = kept.remove(index);
            self.experiment.attempts.retain(|attempt| attempt.arm != arm.name);
            if !is_reference(&arm) {
                let sentence = format!(
                    "{}: a trial takes about {}, and {FIRST_LOOK} of each arm do not fit into {} (--budget)",
                    arm.name,
                    Nanos(trial.as_nanos() as u64),
                    Nanos(budget.as_nanos() as u64)
                );
                let why = NotTried::of_all(WhyNot::Budget, sentence);
                self.experiment.not_tried.push(NotTried { intervention: arm.name, ..why });
            }
        }
        kept
    }

    /// Whether an arm is what another of these is compared with.
    fn is_compared_with(&self, name: &str, arms: &[Arm]) -> bool {
        let is_kept = |attempt: &&Attempt| arms.iter().any(|arm| arm.name == attempt.arm);
        self.base.is_some() || self.experiment.attempts.iter().filter(is_kept).any(|attempt| attempt.reference == name)
    }

    /// What it takes until the first look. A cause that is switched off is expected to shorten its trials.
    fn first_look(&self, arms: &[Arm]) -> Duration {
        let window = self.length();
        let cured = |arm: &Arm| if self.is_for(arm, Purpose::Cause) { window.mul_f64(CURED) } else { window };
        let expected = |arm: &Arm| self.state.cost(&arm.name).unwrap_or_else(|| cured(arm) + self.overhead);
        arms.iter().map(expected).sum::<Duration>() * FIRST_LOOK
    }

    /// Whether every finding that an arm is to prove has another arm for that.
    fn repeats(&self, arm: &Arm, arms: &[Arm]) -> bool {
        let causes = |name: &str| {
            let attempts = self.experiment.attempts.iter().filter(move |attempt| attempt.purpose == Purpose::Cause);
            attempts.filter(|attempt| attempt.arm == name).map(|attempt| attempt.finding.clone()).collect::<Vec<_>>()
        };
        let others = arms.iter().filter(|other| other.name != arm.name).flat_map(|other| causes(&other.name));
        let others = others.collect::<Vec<_>>();
        causes(&arm.name).iter().all(|finding| others.contains(finding))
    }

    /// Takes their turn from arms that can be spared, where the first look at the cause would not fit into the budget with them, or
    /// another round: doses first, then what only shows what the machinery costs, what repeats a proof, and controls.
    pub(super) fn make_room(&self, arms: &[Arm], open: &mut [bool], first: u32, budget: Duration) {
        let done = self.state.round() - first;
        let mut spare = |look: u32, can_be_spared: &dyn Fn(usize, &Arm) -> bool| {
            if self.is_short_of_time(arms, open, done, look, budget) {
                let arms = arms.iter().enumerate();
                open.iter_mut().zip(arms).for_each(|(open, (place, arm))| *open &= !can_be_spared(place, arm));
            }
        };
        // A whole run is cut off from nothing that delays it: there the look counts that bears one odd pair.
        let steady = if self.extent.window.is_none() { STEADY_LOOK } else { FIRST_LOOK };
        spare(steady, &|_, arm| self.is_for(arm, Purpose::Dose));
        spare(FIRST_LOOK, &|_, arm| is_reference(arm) && !self.is_compared_with(&arm.name, arms));
        // Of two that repeat each other the first stays.
        spare(FIRST_LOOK, &|place, arm| self.is_for(arm, Purpose::Cause) && self.repeats(arm, &arms[..place]));
        spare(FIRST_LOOK, &|_, arm| self.is_for(arm, Purpose::Control));
    }

    /// Whether the rounds that are left until a look, or one where it is past, take longer than the budget allows. Before the first
    /// round nobody knows.
    fn is_short_of_time(&self, arms: &[Arm], open: &[bool], done: u32, look: u32, budget: Duration) -> bool {
        let round: Duration =
            arms.iter().zip(open).filter(|(_, open)| **open).map(|(arm, _)| self.usual_cost(arm)).sum();
        done > 0 && round * look.saturating_sub(done).max(1) > budget.saturating_sub(self.state.spent())
    }

    /// Whether an arm is for this, and for nothing that is worth more.
    pub(super) fn is_for(&self, arm: &Arm, purpose: Purpose) -> bool {
        let mut attempts = self.experiment.attempts.iter().filter(|attempt| attempt.arm == arm.name).peekable();
        attempts.peek().is_some()
            && attempts.all(|attempt| attempt.purpose == purpose || attempt.purpose == Purpose::Dose)
    }
}
