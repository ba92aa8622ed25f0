//! What is shown as tables.

use crate::facts::{End, Transport};
use serde::{Deserialize, Serialize};

/// One end of a connection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConnectionView {
    /// As tables name it.
    pub id: u32,
    /// Which end it is; none where that is not known.
    pub end: Option<End>,
    /// The program and its process: `python3 (4711)`.
    pub process: String,
    /// What carries it.
    pub transport: Transport,
    /// This end's address: `10.0.0.1:40000`.
    pub local: String,
    /// The other end's address.
    pub remote: String,
    /// When it was opened.
    pub at: u64,
    /// How long it was there, in nanoseconds.
    pub length_ns: u64,
    /// Requests on it.
    pub exchanges: u64,
    /// The sum of their lengths, in nanoseconds.
    pub exchange_ns: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Bytes read.
    pub bytes_in: u64,
    /// `TLS 1.3`; empty without TLS.
    pub tls_version: String,
    /// The cipher suite's name; empty where not known.
    pub cipher: String,
    /// How far its TLS handshake got; none without TLS.
    pub handshake: Option<HandshakeState>,
    /// How long the handshake took, in nanoseconds.
    pub handshake_ns: u64,
    /// The server name that was asked for.
    pub server_name: String,
    /// Whether TCP_NODELAY was on.
    pub nodelay: bool,
    /// Maximum segment size, in bytes; 0 where not known.
    pub mss: u32,
    /// Smoothed round-trip time, in nanoseconds; 0 where not known.
    pub srtt_ns: u64,
    /// Segments that were sent again.
    pub retransmitted: u64,
}

/// How far a TLS handshake got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HandshakeState {
    /// Done in full.
    Full,
    /// Done by what an earlier connection agreed on.
    Resumed,
    /// Never done while it was recorded.
    Unfinished,
}

/// Who makes a call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Caller {
    /// The program at an end of the exchanges.
    End(End),
    /// Another program, by its name.
    Program(String),
}

/// Rows that found no place in a table, summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rest {
    /// How many.
    pub rows: u64,
    /// Their requests.
    pub exchanges: u64,
    /// Their bytes, both ways.
    pub bytes: u64,
}

/// System calls of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallView {
    /// The call's name: `read`.
    pub call: String,
    /// What it is about: `tcp socket`, a path; empty where that is not known.
    pub about: String,
    /// Who makes it; none where that is not known, or where they are several.
    pub who: Option<Caller>,
    /// How many.
    pub count: u64,
    /// How many for each request; not a number where there was none.
    pub per_exchange: f64,
    /// Time in it, in nanoseconds.
    pub total_ns: u64,
    /// Of that, blocked.
    pub blocked_ns: u64,
    /// Bytes that they returned, where they move bytes.
    pub bytes: u64,
    /// How many ended with an error.
    pub failed: u64,
}

/// The rows behind one finding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EvidenceView {
    /// The finding: its index in the answer.
    pub finding: usize,
    /// The table that the rows are of.
    pub table: String,
    /// The columns' names.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<EvidenceRow>,
}

/// One row, its cells written for people.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EvidenceRow {
    /// Its number in the table.
    pub row: u64,
    /// Its cells, in the order of the columns.
    pub cells: Vec<String>,
}

/// A fact of the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// What it belongs to: `Machine`, `Programs`, `Recording`, `Kernel counters`.
    pub group: String,
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// Events that were lost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LossView {
    /// The table that lacks them.
    pub table: String,
    /// Why.
    pub reason: String,
    /// How many.
    pub count: u64,
    /// The first interval's beginning.
    pub from: u64,
    /// The last interval's end.
    pub to: u64,
}
