//! The loop.

use super::budget::Begun;
use super::design::Design;
use super::state::Study;
use crate::arms::Arm;
use crate::error::LabError;
use crate::outcome::Outcome;
use case::Stopped;

/// One trial's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The arm, by its number in the design.
    pub arm: usize,
    /// Its round, over all experiments of the study.
    pub round: u32,
    /// Its place among all trials.
    pub position: u32,
}

/// What becomes of a trial whose programs do not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failing {
    /// It is a trial that failed: an arm whose programs never start fails alone.
    Counts,
    /// In the first round it ends the experiment: what never started is the user's to mend.
    EndsTheFirstRound,
}

impl Turn {
    /// What a trial of this turn came to, with its row completed.
    ///
    /// # Errors
    /// Where the user wants an end, or the failure ends the experiment.
    pub fn outcome(&self, arm: &Arm, result: Result<Outcome, LabError>, failing: Failing) -> Result<Outcome, LabError> {
        match result {
            Ok(outcome) => Ok(outcome.of_arm(arm, self.round, self.position)),
            Err(LabError::Interrupted) => Err(LabError::Interrupted),
            Err(error) if failing == Failing::EndsTheFirstRound && self.round == 0 => Err(error),
            Err(error) => Ok(Outcome::not_started(&error, arm, self.round, self.position)),
        }
    }
}

/// Runs an experiment to its end; why it went no further. What the user ends early is no error: what there is counts. `trial`
/// runs one trial and puts what came of it into the study.
///
/// # Errors
/// As the trials.
pub fn run<S: Study>(
    design: &Design<S>,
    study: &mut S,
    trial: &mut dyn FnMut(&mut S, &Turn) -> Result<(), LabError>,
) -> Result<Stopped, LabError> {
    let mut orders = design.order.rounds(design.arms.len(), design.most_rounds);
    let begun = Begun { round: study.state().round(), spent: study.state().spent() };
    loop {
        if let Some(stopped) = (design.stop.at_rounds)(study) {
            return Ok(stopped);
        }
        let Some(order) = orders.next() else { return Ok(Stopped::MostRounds) };
        let open = (design.open)(study);
        if !design.has_question(&open) {
            return Ok(Stopped::Answered);
        }
        let names = open.iter().map(|arm| design.arms[*arm].name.as_str());
        if !design.budget.holds_round(names, study.state(), begun) {
            return Ok(Stopped::BudgetSpent);
        }
        let order = order.into_iter().filter(|arm| open.contains(arm));
        if let Some(stopped) = round(design, study, order, trial)? {
            return Ok(stopped);
        }
        study.state_mut().end_round();
    }
}

/// The turns of one round; why it went no further, where it did not come to its end.
fn round<S: Study>(
    design: &Design<S>,
    study: &mut S,
    order: impl Iterator<Item = usize>,
    trial: &mut dyn FnMut(&mut S, &Turn) -> Result<(), LabError>,
) -> Result<Option<Stopped>, LabError> {
    for arm in order {
        if let Some(stopped) = (design.stop.at_trials)(study) {
            return Ok(Some(stopped));
        }
        let name = design.arms[arm].name.as_str();
        if !design.budget.holds_trial(name, study.state()) {
            continue;
        }
        let (round, left) = (study.state().round(), design.budget.time.saturating_sub(study.state().spent()));
        let turn = Turn { arm, round, position: study.state_mut().next_position() };
        let (doing, trials, left) = (design.doing, turn.position + 1, left.as_secs());
        let so_far = study.so_far();
        let so_far = if so_far.is_empty() { so_far } else { format!("; so far {so_far}") };
        let line = format!("{doing}: round {}, trial {trials}, {name}; at most {left} s to go{so_far}", round + 1);
        (design.say)(&line);
        match trial(study, &turn) {
            Ok(()) => {}
            Err(LabError::Interrupted) => return Ok(Some(Stopped::Interrupted)),
            Err(error) => return Err(error),
        }
    }
    Ok((design.stop.at_trials)(study))
}
