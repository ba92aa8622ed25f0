//! What a thread did at some moment, and what ends a wait where no thread does.

use super::account::{Object, Wait};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a thread did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Activity {
    /// On CPU, in its own code or in the kernel.
    OnCpu,
    /// Runnable, waiting for a CPU: run delay.
    RunDelay,
    /// Blocked in a system call.
    Blocked {
        /// The call: `read`.
        call: String,
        /// What a call of that kind waits for.
        wait: Wait,
        /// What it was called on, or what it returned for; none if that has no name.
        object: Option<Object>,
    },
    /// Blocked uninterruptibly outside every recorded call: usually a page fault that reads a disk.
    PageFault,
    /// Blocked outside every recorded call.
    BlockedElsewhere,
    /// Something that this version of whyslow does not know.
    #[default]
    #[serde(other)]
    Other,
}

/// What ended a wait, where it was no recorded thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Ender {
    /// A time that the program chose: a sleep, or a time-out that ran out.
    Timer,
    /// A disk, or what else the kernel waits for uninterruptibly.
    Disk,
    /// Bytes that were sent already: under way, or held in a kernel.
    Network,
    /// A peer that was not recorded.
    Peer {
        /// Its address; none if it has no name.
        remote: Option<String>,
    },
    /// A connection that came in.
    NewConnection,
    /// Nobody knows: an interrupt, a process that was not recorded, or a wake-up that was not seen.
    #[default]
    #[serde(other)]
    Unknown,
}
