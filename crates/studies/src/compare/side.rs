//! One of the two that are compared.

use case::{Side, redact_arguments};
use lab::{Arm, Subject, World};

/// One side.
pub struct Sided {
    /// What is run.
    pub subject: Subject,
    /// Where.
    pub world: World,
    /// What is attached.
    pub arm: Arm,
    /// What was said of this side alone, as `KEY=VALUE`.
    pub changes: Vec<String>,
}

impl Sided {
    /// How the comparison tells of it.
    pub(crate) fn told(&self) -> Side {
        Side {
            command: redact_arguments(&self.subject.client),
            server: redact_arguments(self.subject.server.as_deref().unwrap_or_default()),
            // A server of its own is told as such.
            changes: redact_arguments(&self.changes).into_iter().filter(|one| !one.starts_with("server=")).collect(),
            ..Side::default()
        }
    }
}
