//! Why an experiment went no further.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why an experiment went no further.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// Every question has its answer.
    #[default]
    Answered,
    /// What was planned was run; what is open stays open.
    MostRounds,
    /// What comes next does not fit the budget.
    BudgetSpent,
    /// Ctrl-C, or a signal.
    Interrupted,
    /// Trials do not do what they have to: programs fail, or nothing is exchanged.
    NothingSound,
    /// The sides do different things: there is nothing to compare.
    Incomparable,
    /// The program that is experimented on has ended.
    Gone,
}
