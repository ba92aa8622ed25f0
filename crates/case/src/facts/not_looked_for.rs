//! What was not looked for, and why: because nothing looks for it, or because this run does not show it.

use crate::pathologies::Pathology;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Pathologies that could not be found for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotLookedFor {
    /// Why.
    pub why: Blind,
    /// Which pathologies of the catalogue that concerns; empty if it concerns counts, or how well things are named.
    pub pathologies: Vec<Pathology>,
}

/// Why something was not looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Blind {
    /// Nothing looks for it yet.
    NoDetector,
    /// The server was not recorded.
    ServerNotRecorded,
    /// Only the wire was captured: what the processes did at either end is not in it.
    WireOnly,
    /// Nothing was sent over TCP.
    NoTcp,
    /// Data went over UDP (QUIC, as a rule): it is not split into requests.
    Udp {
        /// How many sockets.
        sockets: u64,
    },
    /// Connections speak HTTP/2: the streams on one connection are not told apart.
    Http2Streams {
        /// How many connections.
        connections: u64,
    },
    /// The kernel encrypts: the records of TLS do not pass through calls as they are sent.
    KernelTls {
        /// How many sockets.
        sockets: u64,
    },
    /// Work was handed to the kernel's asynchronous queues: what happens in them is not seen.
    AsynchronousIo {
        /// How many calls that submit work or wait for it.
        calls: u64,
    },
    /// Another process on this machine looks names up: what it asks, and waits for, is not seen.
    LookupElsewhere,
    /// Programs in a language whose lines are not read: places are functions of its interpreter.
    NoScriptLines {
        /// The language.
        language: String,
    },
    /// No CPU samples were taken.
    NoSamples,
    /// Rows of a table were lost while recording.
    Lost {
        /// The table.
        table: String,
        /// How many rows.
        rows: u64,
    },
    /// A reason that this version of whyslow does not know.
    #[default]
    #[serde(other)]
    Other,
}
