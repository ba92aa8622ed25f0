//! A request under way.

use std::time::Instant;

/// A request under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    /// When it was to start.
    pub intended: Instant,
    /// When it did.
    pub started: Instant,
    /// When the first byte of its answer came.
    pub first: Option<Instant>,
    /// Which of the steps it belongs to.
    pub step: usize,
    /// Whether its answer has no body whatever its head says.
    pub has_no_body: bool,
}
