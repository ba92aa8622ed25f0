//! A story that was run: what came of its tellings, and whether that is what was declared.

use super::check::Check;
use super::declaration::{Story, Telling};
use super::telling::Outcome;

/// A story that was run.
pub struct StoryRun<'a> {
    /// The story.
    pub story: &'a Story,
    /// Its tellings, and what came of each.
    pub tellings: Vec<(&'a Telling, Outcome)>,
    /// What was checked.
    pub checks: Vec<Check>,
    /// How long it took.
    pub seconds: f64,
}

/// How a story came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// As declared.
    Held,
    /// Otherwise.
    Failed,
    /// Nothing of it could be told.
    Skipped,
}

impl State {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            State::Held => "held",
            State::Failed => "failed",
            State::Skipped => "skipped",
        }
    }
}

impl StoryRun<'_> {
    /// How it came out.
    pub fn state(&self) -> State {
        match (self.checks.is_empty(), self.checks.iter().all(|check| check.holds)) {
            (true, _) => State::Skipped,
            (false, true) => State::Held,
            (false, false) => State::Failed,
        }
    }
}

/// How many variants could not be told.
pub fn variants_skipped(done: &[StoryRun]) -> usize {
    let outcomes = done.iter().flat_map(|run| &run.tellings);
    outcomes.filter(|(_, outcome)| matches!(outcome, Outcome::Skipped)).count()
}
