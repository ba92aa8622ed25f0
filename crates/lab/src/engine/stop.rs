//! When an experiment is over.

use crate::error::LabError;
use case::Stopped;

/// Trials in which an arm may fail to take effect, or break the program, before it is given up: one can be a disturbance.
pub const MOST_FAILURES: usize = 2;
/// The last planned look of [`stats::Looks::standard`]: rounds after which whatever is open stays open.
pub const MOST_ROUNDS: u32 = 128;

/// Whether an arm is given up that failed so often in so many trials: twice, and more often than not.
pub fn is_given_up(failures: usize, trials: usize) -> bool {
    failures >= MOST_FAILURES && failures * 2 > trials
}

/// As an error where the user ended it, for studies of several experiments.
///
/// # Errors
/// [`LabError::Interrupted`].
pub fn unless_interrupted(stopped: Stopped) -> Result<Stopped, LabError> {
    if stopped == Stopped::Interrupted { Err(LabError::Interrupted) } else { Ok(stopped) }
}

/// A rule that is asked between rounds. It may take in what a round brought.
type AtRounds<'d, S> = Box<dyn Fn(&mut S) -> Option<Stopped> + 'd>;
/// A rule that is asked before each trial, and after the last one.
type AtTrials<'d, S> = Box<dyn Fn(&S) -> Option<Stopped> + 'd>;

/// The rules that end an experiment, besides its budget and its most rounds.
pub struct Stop<'d, S> {
    pub(super) at_rounds: AtRounds<'d, S>,
    pub(super) at_trials: AtTrials<'d, S>,
}

impl<'d, S> Stop<'d, S> {
    /// No rule but the others.
    pub fn never() -> Stop<'d, S> {
        Stop { at_rounds: Box::new(|_| None), at_trials: Box::new(|_| None) }
    }

    /// One that is asked between rounds.
    pub fn at_rounds(rule: impl Fn(&mut S) -> Option<Stopped> + 'd) -> Stop<'d, S> {
        Stop { at_rounds: Box::new(rule), ..Stop::never() }
    }

    /// One that is asked before each trial, and after the last one.
    pub fn at_trials(rule: impl Fn(&S) -> Option<Stopped> + 'd) -> Stop<'d, S> {
        Stop { at_trials: Box::new(rule), ..Stop::never() }
    }

    /// And this one before each trial.
    #[must_use]
    pub fn or_at_trials(self, rule: impl Fn(&S) -> Option<Stopped> + 'd) -> Stop<'d, S> {
        Stop { at_trials: Box::new(rule), ..self }
    }
}

/// An interval as wide as this part of the effect itself (in logarithms) is narrow.
const OF_THE_EFFECT: f64 = 0.5;

/// How exact an effect has to be before no more trials are spent on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// The ends of the interval are no further apart than this, as a ratio, ...
    pub narrow: f64,
    /// ... or so many pairs were run: the effect is shown with the interval that it has by then.
    pub enough_pairs: usize,
}

impl Precision {
    /// Of a cause: that it is one, and about how much it costs.
    pub const OF_A_CAUSE: Precision = Precision { narrow: 1.25, enough_pairs: 8 };
    /// Of a comparison: how much faster is what was asked.
    pub const OF_A_COMPARISON: Precision = Precision { narrow: 1.04, enough_pairs: 24 };

    /// Whether the interval of a ratio is exact enough after so many pairs: narrow, or at least narrow against the effect. That
    /// something takes 280 times less needs no second digit.
    pub fn is_met(&self, low: f64, high: f64, pairs: usize) -> bool {
        let effect = (low * high).sqrt().max((low * high).sqrt().recip());
        high / low <= self.narrow.max(effect.powf(OF_THE_EFFECT)) || pairs >= self.enough_pairs
    }
}
