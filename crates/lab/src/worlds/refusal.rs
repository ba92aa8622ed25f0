//! Errors about worlds as they pass from one process to another.

use crate::LabError;
use serde::{Deserialize, Serialize};

/// An error as it passes from one process to another.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Refusal {
    /// The user wants an end.
    Interrupted,
    /// As [`LabError::NoWorld`].
    NoWorld { world: String, why: String, remedy: String },
    /// Another one.
    Other(String),
}

impl From<LabError> for Refusal {
    fn from(error: LabError) -> Refusal {
        match error {
            LabError::Interrupted => Refusal::Interrupted,
            LabError::NoWorld { world, why, remedy } => Refusal::NoWorld { world, why, remedy },
            other => Refusal::Other(other.to_string()),
        }
    }
}

impl From<Refusal> for LabError {
    fn from(refusal: Refusal) -> LabError {
        match refusal {
            Refusal::Interrupted => LabError::Interrupted,
            Refusal::NoWorld { world, why, remedy } => LabError::NoWorld { world, why, remedy },
            Refusal::Other(why) => LabError::World(why),
        }
    }
}
