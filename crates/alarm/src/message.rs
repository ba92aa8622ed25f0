//! What is told.

use serde::Serialize;

/// Whether it has begun or is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It has begun.
    Raised,
    /// It is over.
    Recovered,
    /// More came than the channel's limit allows.
    Suppressed,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    /// The same whenever it is sent again: `Idempotency-Key` and `Message-ID`.
    pub key: String,
    /// Whether it has begun or is over.
    pub state: State,
    /// The rule's name.
    pub rule: String,
    /// The service.
    pub service: String,
    /// When, in milliseconds since 1970, UTC.
    pub at_ms: u64,
    /// The sentence.
    pub text: String,
}

impl Message {
    /// A line that says it all.
    pub fn line(&self) -> String {
        match self.state {
            State::Raised => format!("ALARM {}: {}", self.rule, self.text),
            State::Recovered => format!("OK {}: {}", self.rule, self.text),
            State::Suppressed => self.text.clone(),
        }
    }
}
