//! Time for an experiment: how much there is where nobody asked for any, and how it is kept.

use super::state::State;
use std::time::Duration;

/// Fewer rounds tell nothing: an interval of three pairs reaches from nothing to anything.
pub const LEAST_ROUNDS: u32 = 4;
/// So many budgets may be spent on the least rounds, when the machine is slower than it was.
pub const EXCESS: u32 = 2;

/// What an experiment is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `whyslow run`: what a run suspects.
    Run,
    /// `whyslow compare`: two sides.
    Compare,
    /// `whyslow sweep`: one thing through many values.
    Sweep,
    /// `whyslow bisect`: which difference it is.
    Bisect,
    /// `whyslow matrix`: versions of a library.
    Matrix,
    /// `whyslow attach`: a program that is running.
    Attach,
}

/// Time for all trials where none is asked for.
const USUAL: [(Kind, Duration); 6] = [
    // With the recorded run, an answer within about a minute.
    (Kind::Run, Duration::from_mins(1)),
    // Twenty rounds of two runs of a second and a half.
    (Kind::Compare, Duration::from_mins(1)),
    // Thirty points of some trials each.
    (Kind::Sweep, Duration::from_secs(90)),
    // About ten probes of up to twelve pairs, and a baseline before them.
    (Kind::Bisect, Duration::from_mins(2)),
    // Some rounds of several versions.
    (Kind::Matrix, Duration::from_mins(2)),
    // The program is somebody's: twelve pairs of windows of a second, and no more.
    (Kind::Attach, Duration::from_secs(30)),
];

impl Kind {
    /// Time for all trials where none is asked for.
    pub const fn budget(self) -> Duration {
        USUAL[self as usize].1
    }
}

/// Time for an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// All of it, counted from the first trial of the study.
    pub time: Duration,
    /// How it is kept.
    pub pace: Pace,
}

/// What has to fit into the budget before more is begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// A round of the arms that have a turn, each as long as it took so far; one that never ran, as long as expected.
    Usual {
        /// How long a trial is expected to take.
        expected: Duration,
    },
    /// A round as long as the ones before on average. The first [`LEAST_ROUNDS`], without which nothing can be concluded,
    /// may take [`EXCESS`] budgets.
    Average,
    /// Each trial alone, after the first round: one that no longer fits is left out.
    Trials,
    /// Nothing: the rules, or whoever runs several experiments, see to it.
    Unlimited,
}

/// Where an experiment began, for what is counted from there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    pub round: u32,
    pub spent: Duration,
}

impl Budget {
    /// Whether a round of these arms can be begun.
    pub(super) fn holds_round<'n>(&self, arms: impl Iterator<Item = &'n str>, state: &State, begun: Begun) -> bool {
        match self.pace {
            Pace::Usual { expected } => {
                let due = arms.map(|arm| state.cost(arm).unwrap_or(expected)).sum::<Duration>();
                state.spent() + due <= self.time
            }
            Pace::Average => {
                let rounds = state.round() - begun.round;
                let time = if rounds < LEAST_ROUNDS { self.time * EXCESS } else { self.time };
                let a_round = state.spent().saturating_sub(begun.spent) / rounds.max(1);
                rounds == 0 || state.spent() + a_round <= time
            }
            Pace::Trials | Pace::Unlimited => true,
        }
    }

    /// Whether a trial of this arm can be begun.
    pub(super) fn holds_trial(&self, arm: &str, state: &State) -> bool {
        let left = self.time.saturating_sub(state.spent());
        self.pace != Pace::Trials || state.round() == 0 || state.cost(arm).unwrap_or_default() <= left
    }
}

#[cfg(test)]
mod tests {
    use super::USUAL;

    #[test]
    fn the_table_is_in_the_order_of_the_kinds() {
        assert!(USUAL.iter().enumerate().all(|(place, (kind, _))| *kind as usize == place));
    }
}
