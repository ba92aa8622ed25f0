//! What a measured load found: how many requests were answered, how fast, and what went wrong by name.

use schemars::JsonSchema;
use serde::Serialize;

/// What a load found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Load {
    /// The version of this format.
    pub schema: u32,
    /// What was asked for, without passwords and queries.
    pub urls: Vec<String>,
    /// When requests were to start.
    pub arrival: LoadArrival,
    /// Connections at a time.
    pub connections: u32,
    /// Requests that may be under way on one connection.
    pub pipeline: u32,
    /// Threads that drove them.
    pub threads: u32,
    /// How long it took, in nanoseconds.
    pub wall_ns: u64,
    /// CPU time of the load itself, in nanoseconds.
    pub cpu_ns: u64,
    /// Requests that were sent or tried.
    pub requests: u64,
    /// Requests that were answered, and as expected.
    pub answered: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Requests that were due and could not be started before the end, since all connections were busy.
    pub unsent: u64,
    /// Answers a second.
    pub answered_per_second: f64,
    /// Bytes that arrived, without those of TLS itself.
    pub received_bytes: u64,
    /// Bytes that were sent, without those of TLS itself.
    pub sent_bytes: u64,
    /// Connections that were opened.
    pub opened: u64,
    /// The version of TLS that was agreed on; empty without TLS.
    pub tls_version: String,
    /// From the moment a request was to start until its answer was there.
    pub latency: Latency,
    /// From the moment it did start; none where requests start as soon as they can, since then both are the same.
    pub uncorrected: Option<Latency>,
    /// The parts of a request, in their order.
    pub phases: Vec<LoadPhase>,
    /// Each rate in turn; empty for a single one.
    pub steps: Vec<LoadStep>,
    /// Answers by status, for protocols that have one.
    pub statuses: Vec<StatusCount>,
    /// What went wrong, most frequent first.
    pub errors: Vec<LoadError>,
    /// How long requests took, share by share, from the shortest to the longest.
    pub percentiles: Vec<LoadPercentile>,
    /// How it went over time; empty for loads that were put together.
    pub over_time: LoadCourse,
    /// The files of other loads that were put together; empty for a load of its own.
    pub merged: Vec<String>,
}

/// How long a share of all requests took at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct LoadPercentile {
    /// The share, from 0 to 1.
    pub share: f64,
    /// From when they were to start, in nanoseconds.
    pub latency_ns: u64,
    /// From when they did, in nanoseconds; none where both are the same.
    pub uncorrected_ns: Option<u64>,
}

/// How a load went over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct LoadCourse {
    /// How long a moment is, in nanoseconds.
    pub length_ns: u64,
    /// One after another from the beginning.
    pub moments: Vec<LoadMoment>,
}

/// What ended within a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoadMoment {
    /// Requests answered.
    pub answered: u64,
    /// Requests failed.
    pub failed: u64,
    /// The median of their latencies, from when they were to start, in nanoseconds; 0 without answers.
    pub p50_ns: u64,
    /// The 99th percentile, in nanoseconds.
    pub p99_ns: u64,
    /// The longest, in nanoseconds.
    pub max_ns: u64,
}

/// When requests start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum LoadArrival {
    /// As soon as one before it is answered.
    #[default]
    Closed,
    /// At fixed intervals, whatever happens to those before.
    Constant {
        /// Requests a second.
        rate: f64,
    },
    /// At random intervals, as from many independent users.
    Poisson {
        /// Requests a second, in the mean.
        rate: f64,
    },
    /// At one constant rate after another, for equal times.
    Steps {
        /// Requests a second.
        rates: Vec<f64>,
    },
    /// As requests came that an access log holds.
    Replay {
        /// Requests of the log that were to be made.
        requests: u64,
        /// Requests of the log that were left out: they could change something, or cannot be made again.
        left_out: u64,
        /// How many times faster than they came.
        speed: f64,
    },
}

/// A distribution of times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Latency {
    /// How many were measured.
    pub count: u64,
    /// The mean, in nanoseconds.
    pub mean_ns: f64,
    /// The shortest, in nanoseconds.
    pub min_ns: u64,
    /// The median, in nanoseconds.
    pub p50_ns: u64,
    /// The 90th percentile, in nanoseconds.
    pub p90_ns: u64,
    /// The 99th percentile, in nanoseconds.
    pub p99_ns: u64,
    /// The 99.9th percentile, in nanoseconds.
    pub p999_ns: u64,
    /// The longest, in nanoseconds.
    pub max_ns: u64,
}

/// A part of a request.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LoadPhase {
    /// Which.
    pub phase: Phase,
    /// How long it took.
    pub time: Latency,
}

/// Which part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Looking up the host's name, once.
    LookUp,
    /// Until the connection was there.
    Connect,
    /// A full TLS handshake.
    TlsFull,
    /// A TLS handshake that resumed a session.
    TlsResumed,
    /// From the request to the first byte of its answer.
    FirstByte,
    /// From the first byte of an answer to its last, for answers that came in several pieces.
    LastByte,
}

/// One rate of several.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LoadStep {
    /// The rate, in requests a second.
    pub rate: f64,
    /// From when requests were to start until their answers were there.
    pub latency: Latency,
    /// Requests that failed.
    pub failed: u64,
}

/// How many answers had a status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StatusCount {
    /// The status.
    pub status: u16,
    /// How many answers.
    pub count: u64,
}

/// How often something went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoadError {
    /// What.
    pub fault: LoadFault,
    /// How often.
    pub count: u64,
}

/// What can go wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadFault {
    /// Nobody listens.
    Refused,
    /// No way to the host.
    Unreachable,
    /// No local port or file descriptor is left.
    Exhausted,
    /// No connection within the time allowed.
    ConnectTimedOut,
    /// No TLS handshake within the time allowed.
    HandshakeTimedOut,
    /// The connection was closed during the TLS handshake.
    HandshakeClosed,
    /// The server ended TLS with an alert.
    TlsAlert,
    /// What the server sent is not TLS, or breaks its rules.
    TlsProtocol,
    /// The server's certificate is not trusted.
    Certificate,
    /// The server reset the connection.
    Reset,
    /// The connection was closed before an answer began.
    ClosedEarly,
    /// No whole answer within the time allowed.
    TimedOut,
    /// The answer does not begin as the protocol says.
    BadStatusLine,
    /// A header cannot be read, or contradicts another.
    BadHeader,
    /// The headers do not end.
    HeadTooLong,
    /// The connection was closed among the headers.
    TruncatedHead,
    /// The length of a chunk cannot be read.
    BadChunk,
    /// The body is larger than is allowed.
    BodyTooLarge,
    /// The connection was closed before the end of the body.
    TruncatedBody,
    /// An answer nobody asked for.
    Unasked,
    /// An echo that differs from what was sent.
    WrongEcho,
    /// Another status than the one expected.
    UnexpectedStatus,
    /// A body without the text expected.
    UnexpectedBody,
    /// Anything else that the system refused.
    Other,
}
