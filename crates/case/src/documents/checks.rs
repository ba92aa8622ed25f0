//! What `doctor` finds.

use schemars::JsonSchema;
use serde::Serialize;

/// What works on this machine.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Checks {
    /// Every check, in the order in which they are made.
    pub checks: Vec<Check>,
}

/// One thing that recording or a trial can use.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Check {
    /// What was tried.
    pub name: String,
    /// Whether it works here.
    pub works: bool,
    /// What was found.
    pub detail: String,
    /// What would enable it; empty where it works.
    pub remedy: String,
}
