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
    /// The most sockets (or groups) on which it was on at the same time.
    pub reached: u64,
    /// What these are; empty in files that do not say.
    #[serde(default)]
    pub thing: Thing,
    /// Whether everything was restored afterwards.
    pub reverted: bool,
    /// Why it did not take effect, or could not be undone; empty if nothing went wrong.
    pub problem: String,
}

/// What an intervention is switched on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Thing {
    /// A socket.
    Socket,
    /// A control group.
    Group,
    /// The file does not say.
    #[default]
    #[serde(rename = "")]
    Unknown,
}

/// A window of time in which an intervention was on, or off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// Whether it was on.
    pub on: bool,
    /// When the window began, in nanoseconds of the recording's clock.
    pub start_ns: u64,
    /// Its length, in nanoseconds.
    pub wall_ns: u64,
    /// Exchanges that completed in it.
    pub exchanges: u64,
    /// The sum of their lengths, in nanoseconds.
    pub exchange_wall_ns: u64,
    /// CPU time of the program, in nanoseconds.
    pub cpu_ns: u64,
}
