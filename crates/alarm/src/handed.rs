//! What came of handing a message over, and how long that may take.

use std::time::Duration;

/// A channel that takes longer has failed: slow ones take seconds.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// What came of handing a message over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Handed {
    /// It was taken.
    Taken,
    /// Later, perhaps: and not before this, where the other side has said so.
    Later { why: String, after: Option<Duration> },
    /// Never: asking again would be answered the same.
    Refused(String),
}
