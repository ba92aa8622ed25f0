//! Why an experiment went no further.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why an experiment stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// Every question is answered.
    #[default]
    Answered,
    /// Everything planned was run; some questions stay open.
    MostRounds,
    /// The next step does not fit into the budget.
    BudgetSpent,
    /// Ctrl-C, or a signal.
    Interrupted,
    /// The trials are not sound: programs fail, or nothing is exchanged.
    NothingSound,
    /// The sides do different work, so there is nothing to compare.
    Incomparable,
    /// The program under study has ended.
    Gone,
}
