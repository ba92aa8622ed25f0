//! A pathology by name. Which there are, `diagnose` knows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A pathology's identifier and its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Pathology {
    /// The stable identifier, `P01`.
    pub id: String,
    /// The name, `nagle-delayed-ack`.
    pub name: String,
}
