//! What a finding's claim rests on, measured: the numbers without which it would not be made.

use super::{End, RequestKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A measurement behind a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Observation {
    /// What passes on new connections before the first statement or command: logging in.
    Logins {
        /// How many connections logged in.
        connections: u64,
        /// How long that takes on one, on average, in nanoseconds.
        ns: u64,
    },
    /// The requests that a finding is about are not the clients', but what a server asks another in order to answer them.
    Behind {
        /// The program that asks.
        client: String,
        /// The program that is asked.
        server: String,
        /// How many such requests there were.
        requests: u64,
    },
    /// Requests of one kind behind which most of the others' waiting in line is, where they are few or the others quick.
    HeldUp {
        /// Which requests.
        by: RequestKind,
        /// How many of them there were.
        requests: u64,
        /// Of how many in all.
        of: u64,
    },
    /// Small reads, and how many of them got as many bytes as they asked for.
    FilledReads {
        /// All of them.
        reads: u64,
        /// Those that got all they asked for.
        filled: u64,
    },
    /// Certificates read for TLS contexts.
    CertificatesPerContext {
        /// How many times they were read: once a context.
        contexts: u64,
        /// TLS handshakes of the processes that read them.
        handshakes: u64,
        /// Files read for each context, on average.
        files: f64,
        /// Bytes read for each context, on average.
        bytes: u64,
    },
    /// The power by which CPU time grew with the input, over exchanges of one run.
    Growth {
        /// What grew.
        input: Input,
        /// The power: 1 is proportional, 2 quadratic. Of an exchange's number, and of the bytes so far, it is the power of
        /// what the next one costs; the sum's grows with one more.
        exponent: f64,
        /// Lower end of its 95 % interval.
        low: f64,
        /// Upper end of its 95 % interval.
        high: f64,
        /// The smallest input that it rests on: bytes, or an exchange's number.
        smallest: u64,
        /// The largest.
        largest: u64,
        /// How many exchanges were measured.
        exchanges: u64,
    },
    /// Full TLS handshakes with a server that was known already.
    FullHandshakes {
        /// How many.
        handshakes: u64,
        /// Before how many of them the server was seen giving the client something to resume.
        given: u64,
        /// In how many of them the client offered to resume.
        offered: u64,
        /// Why most of them were full.
        why: WhyFull,
        /// How many that is true of.
        of_them: u64,
        /// Which end is to blame; none where it cannot be told.
        blame: Option<End>,
    },
    /// How CPU time grows with the input was not measured, so no power is claimed.
    GrowthNotMeasured {
        /// Why not.
        why: WhyNoGrowth,
    },
}

/// What an exchange works on, as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Input {
    /// The bytes of its request.
    RequestBytes,
    /// The bytes of its response.
    ResponseBytes,
    /// How many exchanges there had been, itself included.
    Exchanges,
    /// How many bytes of the same request had been read before, where the cost is that of a part of it.
    RequestBytesSoFar,
    /// How many bytes of the same response had been read before.
    ResponseBytesSoFar,
}

impl Input {
    /// Whether it is what was read before of the same message.
    pub fn is_so_far(self) -> bool {
        matches!(self, Input::RequestBytesSoFar | Input::ResponseBytesSoFar)
    }
}

/// Why a growth was not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhyNoGrowth {
    /// There were no exchanges, or too few.
    FewExchanges,
    /// They were of about the same size, and followed one another at the same cost.
    InputsAlike,
}

/// Why a handshake was full, though the two ends had met before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhyFull {
    /// The server had given a session, and the client does not offer it.
    NotOffered,
    /// The client offers one, and the server does not take it.
    NotAccepted,
    /// The server gives none, though the client would take one.
    NotGiven,
    /// The client takes no tickets.
    NotWanted,
    /// What the server gave cannot be seen from here: TLS 1.3 encrypts it.
    Unseen,
}

impl WhyFull {
    /// The end to blame; none where it cannot be told.
    pub fn blame(self) -> Option<End> {
        match self {
            WhyFull::NotOffered | WhyFull::NotWanted => Some(End::Client),
            WhyFull::NotAccepted | WhyFull::NotGiven => Some(End::Server),
            WhyFull::Unseen => None,
        }
    }
}
