//! The sequence ladder: one exchange step by step, on the life lines of those who took part.

use crate::answer::{Place, WaitTree};
use crate::facts::{Account, End};
use serde::{Deserialize, Serialize};

/// One exchange step by step. Times are nanoseconds since it began.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ladder {
    /// Why this one.
    pub why: Why,
    /// The exchange's number, counted from 1.
    pub number: u64,
    /// When it began, in nanoseconds since recording began.
    pub began: u64,
    /// How long it took.
    pub length_ns: u64,
    /// The life lines, the client's first.
    pub lanes: Vec<Lane>,
    /// Where its time went, in order, without gaps, from 0 to its length; neighbours in the same account are merged.
    pub stretches: Vec<Stretch>,
    /// Who waited for whom meanwhile; none where nothing can be said.
    #[serde(default)]
    pub waits: Option<WaitTree>,
    /// What happened, in order of time.
    pub events: Vec<LadderEvent>,
    /// Events that found no place, those folded into repetitions not counted.
    pub left_out: u64,
}

/// Why an exchange is shown step by step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Why {
    /// It resembles most others.
    #[default]
    Typical,
    /// It took longest.
    Worst,
    /// It took least.
    Best,
    /// It has most of an account.
    MostOf {
        /// The account.
        account: Account,
    },
}

/// A life line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lane {
    /// Whose it is.
    pub end: End,
    /// The program and its process: `python3 (4711)`; empty for a peer that was not watched.
    pub process: String,
}

/// A stretch of an exchange that went into one account.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stretch {
    /// Its beginning.
    pub from: u64,
    /// Its end.
    pub to: u64,
    /// The account.
    pub account: Account,
}

/// One step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LadderEvent {
    /// When it began.
    pub at: u64,
    /// When it ended; the same where it has no length.
    pub to: u64,
    /// The lane it happened on: an index.
    pub lane: usize,
    /// What kind of thing it is.
    pub kind: EventKind,
    /// In a few words: `write 109 bytes`, `ACK`, `91 bytes`.
    pub label: String,
    /// Of a segment that leaves or arrives, what it is for; none for anything else.
    pub segment: Option<SegmentKind>,
    /// TLS records that begin in it, each with type and length: `application data, 92 bytes`.
    pub records: Vec<String>,
    /// For a segment that leaves: the event at which it arrives at the other lane, an index into the events.
    pub arrives: Option<usize>,
    /// The process that did it, where it is not the lane's first: `nginx (815), thread 816`; empty otherwise.
    pub process: String,
    /// The line of code behind it; none for what the kernel does by itself, or where it is not known.
    pub place: Option<Place>,
    /// How often it came one after the other; 1 as a rule.
    pub times: u64,
}

/// Kinds of steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A call that writes to the connection.
    Write,
    /// A call that reads from it.
    Read,
    /// Another call.
    #[default]
    Call,
    /// A segment with payload leaves the lane's host, or arrives where no other event is its departure.
    Segment,
    /// A segment without payload: an acknowledgement, or the opening and closing of a connection.
    Acknowledgement,
    /// A segment arrives.
    Arrival,
    /// Something TCP did by itself: a delayed acknowledgement fired, a segment was sent again.
    Tcp,
}

/// What a segment is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentKind {
    /// It carries payload.
    Data,
    /// It carries none and acknowledges what arrived.
    Acknowledgement,
    /// It carries none and opens, closes or resets the connection: SYN, FIN, RST.
    Control,
}
