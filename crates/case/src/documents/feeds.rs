//! What refreshing feeds found: rounds one by one, and over time.

use super::load::{LoadFault, LoadPhase, StatusCount};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `feeds refresh` found: its rounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct FeedRefresh {
    /// The version of this format.
    pub schema: u32,
    /// The list of feeds, a file.
    pub list: String,
    /// What is kept from round to round, a file.
    pub database: String,
    /// The rounds, in their order; at least one.
    pub rounds: Vec<FeedRound>,
}

/// One round over all feeds of a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct FeedRound {
    /// Its number in the database.
    pub number: u64,
    /// When it began, in seconds since 1970.
    pub began_s: i64,
    /// Whether all feeds were seen to. A round that was ended early is gone on with by the next `feeds refresh`.
    pub finished: bool,
    /// Feeds that were seen to before this process began: the round was gone on with.
    pub done_before: u64,
    /// How long it took, in nanoseconds; of a round that was gone on with, the last part.
    pub wall_ns: u64,
    /// CPU time of all of it, in nanoseconds.
    pub cpu_ns: u64,
    /// The most memory that was resident, in bytes, since the process began.
    pub peak_memory_bytes: u64,
    /// Feeds on the list, each once.
    pub feeds: u64,
    /// Origins (scheme, host and port) that they are on.
    pub origins: u64,
    /// Feeds a second that were seen to.
    pub feeds_per_second: f64,
    /// What came of the feeds that were seen to; they add up.
    pub outcomes: FeedOutcomes,
    /// Entries that were never seen before.
    pub new_entries: u64,
    /// Requests that were sent or tried, those of redirects and robots.txt included.
    pub requests: u64,
    /// Bytes that arrived, without those of TLS itself.
    pub received_bytes: u64,
    /// Bytes that were sent, without those of TLS itself.
    pub sent_bytes: u64,
    /// Bytes of feeds, after gzip, br or zstd were undone.
    pub inflated_bytes: u64,
    /// Connections that were opened.
    pub opened: u64,
    /// TLS handshakes in full.
    pub handshakes_full: u64,
    /// TLS handshakes that resumed a session.
    pub handshakes_resumed: u64,
    /// Names that were looked up.
    pub looked_up: u64,
    /// CPU time by what it was spent on.
    pub costs: Vec<FeedCost>,
    /// How long the parts of requests took, in their order.
    pub phases: Vec<LoadPhase>,
    /// Answers by status.
    pub statuses: Vec<StatusCount>,
    /// What went wrong, most frequent first.
    pub errors: Vec<FeedError>,
    /// The origins that took longest, slowest first.
    pub slowest: Vec<SlowOrigin>,
    /// Local ports.
    pub ports: PortUse,
}

/// What came of feeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FeedOutcomes {
    /// Not changed since last time: status 304.
    pub unchanged: u64,
    /// Sent again, without a new entry.
    pub without_news: u64,
    /// Sent, with new entries.
    pub with_news: u64,
    /// Gone for good (status 410), now or in a round before.
    pub gone: u64,
    /// Put off, since the server has asked for it (Retry-After).
    pub put_off: u64,
    /// Not allowed by robots.txt.
    pub disallowed: u64,
    /// Failed.
    pub failed: u64,
}

impl FeedOutcomes {
    /// All of them.
    pub fn all(&self) -> u64 {
        let FeedOutcomes { unchanged, without_news, with_news, gone, put_off, disallowed, failed } = self;
        unchanged + without_news + with_news + gone + put_off + disallowed + failed
    }
}

/// CPU time spent on one thing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FeedCost {
    /// On what.
    pub phase: FeedPhase,
    /// CPU time, in nanoseconds.
    pub cpu_ns: u64,
    /// The same for each feed that was seen to.
    pub each_ns: u64,
}

/// What CPU time is spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FeedPhase {
    /// Looking up names.
    LookUp,
    /// Opening and closing connections.
    Connect,
    /// TLS handshakes.
    Tls,
    /// Requests and answers, with their encryption.
    Transfer,
    /// Undoing gzip, br and zstd.
    Inflate,
    /// Reading RSS, Atom and JSON Feed.
    Parse,
    /// Everything else: keeping the database, above all.
    Other,
}

/// An origin that took long.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SlowOrigin {
    /// Scheme, host and port.
    pub origin: String,
    /// Its feeds that were seen to.
    pub feeds: u64,
    /// The feed that took longest, in nanoseconds, redirects included.
    pub longest_ns: u64,
    /// All of them together, in nanoseconds.
    pub all_ns: u64,
}

/// How many local ports were taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PortUse {
    /// Ports that the system gives to connections (`net.ipv4.ip_local_port_range`).
    pub available: u64,
    /// The most sockets of TCP at one time, on the whole machine, those in TIME_WAIT included.
    pub most_sockets: u64,
    /// Those of them in TIME_WAIT.
    pub time_wait: u64,
}

impl PortUse {
    /// Whether ports were about to run out: more than four fifths of them may have been taken.
    pub fn is_short(&self) -> bool {
        self.available > 0 && self.most_sockets * 5 > self.available * 4
    }
}

/// How often something went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FeedError {
    /// What.
    pub fault: FeedFault,
    /// How often.
    pub count: u64,
    /// A feed that it happened to, without passwords and queries.
    pub example: String,
}

/// What can go wrong with a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum FeedFault {
    /// On the way to its bytes.
    Transfer(LoadFault),
    /// With what the bytes say.
    Content(ContentFault),
}

/// What can be wrong with what a server says of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContentFault {
    /// Its address cannot be understood.
    BadUrl,
    /// Its host has no address.
    LookUp,
    /// A redirect without a target, or to one that cannot be understood.
    BadRedirect,
    /// Redirects that lead back to where they came from.
    RedirectLoop,
    /// Too many redirects one after another.
    TooManyRedirects,
    /// An answer began and did not end within the time allowed.
    SlowDrip,
    /// Status 4xx but for 410.
    ClientError,
    /// Status 5xx.
    ServerError,
    /// Any other status that is no answer to the question.
    OddStatus,
    /// Not changed, says the server of a feed that it never sent.
    UnaskedNotModified,
    /// A content coding that was not asked for.
    UnknownCoding,
    /// Damaged gzip, br or zstd.
    BadCoding,
    /// More bytes after gzip, br or zstd were undone than is allowed.
    Bomb,
    /// No byte.
    Empty,
    /// Text in UTF-16 or UTF-32.
    WideText,
    /// A page, in place of a feed.
    Html,
    /// Neither RSS nor Atom nor JSON Feed.
    NotAFeed,
    /// XML that cannot be read.
    BadXml,
    /// XML that ends before its end.
    TruncatedXml,
    /// JSON that cannot be read.
    BadJson,
    /// XML that declares entities of its own.
    OwnEntities,
    /// Elements within elements without end.
    TooDeep,
    /// More entries than is allowed.
    TooManyEntries,
}

/// What `feeds history` shows: rounds over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct FeedHistory {
    /// The version of this format.
    pub schema: u32,
    /// The list of feeds, a file.
    pub list: String,
    /// The database that keeps them, a file.
    pub database: String,
    /// The rounds, in their order.
    pub rounds: Vec<PastRound>,
    /// Where the time of a round stepped to another level.
    pub steps: Vec<RoundStep>,
}

/// A round as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PastRound {
    /// Its number.
    pub number: u64,
    /// When it began, in seconds since 1970.
    pub began_s: i64,
    /// How long it took, in nanoseconds.
    pub wall_ns: u64,
    /// CPU time, in nanoseconds.
    pub cpu_ns: u64,
    /// Whether it was gone on with after an end before its end: its time is of the last part only.
    pub interrupted: bool,
    /// Feeds on the list.
    pub feeds: u64,
    /// What came of them.
    pub outcomes: FeedOutcomes,
    /// Entries that were never seen before.
    pub new_entries: u64,
    /// Bytes that arrived.
    pub received_bytes: u64,
    /// TLS handshakes in full.
    pub handshakes_full: u64,
    /// TLS handshakes that resumed a session.
    pub handshakes_resumed: u64,
}

/// A step in the time of a round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RoundStep {
    /// The first round of the new level.
    pub number: u64,
    /// When that began, in seconds since 1970.
    pub at_s: i64,
    /// The earliest and the latest round that it may have been, with 95 % confidence.
    pub low_number: u64,
    /// The latest.
    pub high_number: u64,
    /// When the earliest began, in seconds since 1970.
    pub low_s: i64,
    /// When the latest began.
    pub high_s: i64,
    /// The median time of a round before, in nanoseconds.
    pub before_ns: u64,
    /// The median time of a round from then on.
    pub after_ns: u64,
    /// The chance of as large a step where nothing has changed.
    pub p: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_one_word_wherever_it_comes_from() {
        let words = [FeedFault::Transfer(LoadFault::TimedOut), FeedFault::Content(ContentFault::SlowDrip)];
        let words = words.map(|fault| serde_json::to_string(&fault).expect("JSON"));
        assert_eq!(words, ["\"timed-out\"", "\"slow-drip\""]);
    }

    #[test]
    fn ports_are_short_from_four_fifths_on() {
        let ports = |most_sockets| PortUse { available: 1000, most_sockets, time_wait: 0 };
        assert!(!ports(800).is_short() && ports(801).is_short() && !PortUse::default().is_short());
    }
}
