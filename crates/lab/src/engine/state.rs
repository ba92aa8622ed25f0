//! How far a study has come: rounds, trials, and the time that they took.

use crate::error::LabError;
use crate::outcome::Outcome;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// What a study keeps of its trials; the engine counts and times in its state.
pub trait Study {
    /// How far it has come.
    fn state(&self) -> &State;
    /// The same, to be counted on.
    fn state_mut(&mut self) -> &mut State;
    /// What its trials say by now, in a few words, for whoever watches; empty where that is nothing.
    fn so_far(&self) -> String {
        String::new()
    }
}

/// How far a study has come, over all its experiments.
#[derive(Clone, Debug, Default)]
pub struct State {
    budget: Duration,
    round: u32,
    trials: u32,
    spent: Duration,
    costs: BTreeMap<String, (Duration, u32)>,
}

impl State {
    /// Nothing was run yet, and this is the time for all of it.
    pub fn new(budget: Duration) -> State {
        State { budget, ..State::default() }
    }

    /// The number of the round that runs, or comes next, from 0.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// Trials that had a turn.
    pub fn trials(&self) -> u32 {
        self.trials
    }

    /// Time spent on trials.
    pub fn spent(&self) -> Duration {
        self.spent
    }

    /// What is left of the study's budget.
    pub fn left(&self) -> Duration {
        self.budget.saturating_sub(self.spent)
    }

    /// How long a trial of an arm took, on average; none where none was run.
    pub fn cost(&self, arm: &str) -> Option<Duration> {
        self.costs.get(arm).map(|(took, trials)| *took / (*trials).max(1))
    }

    /// Counts time; that of an arm's trial as its, too.
    pub fn book(&mut self, arm: Option<&str>, took: Duration) {
        self.spent += took;
        if let Some(arm) = arm {
            self.presume(arm, took);
        }
    }

    /// Counts a trial of an arm that somebody else timed.
    pub fn presume(&mut self, arm: &str, took: Duration) {
        let cost = self.costs.entry(arm.to_string()).or_default();
        *cost = (cost.0 + took, cost.1 + 1);
    }

    /// Runs a trial (of an arm, or besides) and counts its time. Of a run that was made up, or made elsewhere, only the outcome
    /// knows how long it took.
    pub fn timed(
        &mut self,
        arm: Option<&str>,
        run: impl FnOnce() -> Result<Outcome, LabError>,
    ) -> (Result<Outcome, LabError>, Duration) {
        let begun = Instant::now();
        let result = run();
        let took = result.as_ref().map_or(Duration::ZERO, |outcome| outcome.took).max(begun.elapsed());
        self.book(arm, took);
        (result, took)
    }

    /// What is run from now on is of the next round.
    pub fn end_round(&mut self) {
        self.round += 1;
    }

    /// The place of the next trial among all.
    pub(super) fn next_position(&mut self) -> u32 {
        self.trials += 1;
        self.trials - 1
    }
}
