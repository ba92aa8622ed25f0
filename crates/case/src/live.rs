//! What switching a cause off in a running program did: part of the answer of `whyslow attach`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One intervention, switched on and off in a running program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Switched {
    /// Its name.
    pub intervention: String,
    /// The finding that it was tried for.
    pub finding: String,
    /// What was measured, in order of time.
    pub windows: Vec<Window>,
    /// How many sockets (or groups) it was switched on at most at once.
    pub reached: u64,
    /// What these are, in one word: `socket`, `group`.
    #[serde(default)]
    pub thing: String,
    /// Whether everything was set back to what it was.
    pub reverted: bool,
    /// Why it did not take hold, or could not be set back; empty where all is well.
    pub problem: String,
}

/// A stretch of time in which an intervention was on, or off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// Whether it was on.
    pub on: bool,
    /// When the stretch began, in nanoseconds of the recording's clock.
    pub start_ns: u64,
    /// How long it was, in nanoseconds.
    pub wall_ns: u64,
    /// Exchanges that ended in it.
    pub exchanges: u64,
    /// The sum of their lengths, in nanoseconds.
    pub exchange_wall_ns: u64,
    /// Processor time of the program, in nanoseconds.
    pub cpu_ns: u64,
}
