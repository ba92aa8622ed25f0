//! Whether a program did the same work with an intervention as without.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What became of the comparison of a program's work: its output, how it ended, its exchanges, their bytes and statuses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Nothing of it could be compared.
    #[default]
    NotCompared,
    /// The same, as far as it can be seen from outside.
    Same,
    /// Something else: what was gained by it is no cure.
    Other,
}
