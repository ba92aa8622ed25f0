//! Which requests a server's threads deal with, and which wait in line behind them.

use super::{Place, PlaceShare};
use crate::facts::{Activity, RequestKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the server's threads did for requests, and how long others waited in line meanwhile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Queue {
    /// For how long the mean exchange had arrived while the thread that answered it dealt with others first, in nanoseconds.
    pub ns: u64,
    /// The length of the mean exchange, in nanoseconds.
    pub of_ns: u64,
    /// The program that they wait for, where the clients' own requests do not: what their server asks it; empty otherwise.
    #[serde(default)]
    pub behind: String,
    /// How many threads answered requests.
    pub threads: u64,
    /// The most requests that waited in line at one time.
    pub most: u64,
    /// How many exchanges waited in line.
    pub waited: u64,
    /// The kinds of requests, most of the threads' time first; a few of them.
    pub kinds: Vec<ServedKind>,
}

/// What the requests of one kind took of the server's threads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServedKind {
    /// Which requests.
    pub kind: RequestKind,
    /// How many.
    pub count: u64,
    /// For how long a thread usually deals with one, from taking it up to having answered it: the median, in nanoseconds.
    pub usual_ns: u64,
    /// Their part of the time that threads deal with requests, 0 to 1.
    pub share: f64,
    /// For how long others waited in line behind these, in the mean exchange, in nanoseconds.
    pub held_ns: u64,
    /// For how long the mean one of them waited in line itself, in nanoseconds.
    pub waited_ns: u64,
    /// What a thread does most of that time.
    pub activity: Activity,
    /// Where.
    pub place: Vec<Place>,
    /// How much of it is at that place; null if no place is known.
    pub place_share: Option<PlaceShare>,
}

/// Half of the time or more is most of it.
const MOST: f64 = 0.5;

impl Queue {
    /// How much of the time is spent in line, 0 to 1.
    pub fn share(&self) -> f64 {
        if self.of_ns == 0 { 0.0 } else { (self.ns as f64 / self.of_ns as f64).clamp(0.0, 1.0) }
    }

    /// Whether requests wait in line most of their time.
    pub fn is_most(&self) -> bool {
        self.share() >= MOST
    }

    /// The kind behind which most of the waiting is.
    pub fn holder(&self) -> Option<&ServedKind> {
        self.kinds.iter().max_by_key(|kind| kind.held_ns).filter(|kind| kind.held_ns > 0)
    }

    /// The kind that most of the threads' time goes to, where that is one.
    pub fn mostly(&self) -> Option<&ServedKind> {
        self.kinds.first().filter(|kind| kind.share >= MOST && kind.kind != RequestKind::Any)
    }
}
