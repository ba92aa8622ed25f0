//! What access logs say: who asked for what and when, and what it would save to turn a part of them away. Printed with
//! `whyslow logs --json`. Part of the JSON contract: fields are only ever added.
//!
//! Times are seconds since 1970, UTC. Lengths of time are nanoseconds, and 0 where the logs do not say them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use storage::Nanos;

/// All that the logs say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Traffic {
    /// The version of this format.
    pub schema: u32,
    /// The files, in the order of the times in them.
    pub files: Vec<TrafficFile>,
    /// Lines that are not empty. Each is a request or malformed.
    pub lines: u64,
    /// Lines that could not be read.
    pub malformed: u64,
    /// A few of those.
    pub malformed_examples: Vec<MalformedLine>,
    /// The time of the first request; none where no request has a time.
    pub first_s: Option<i64>,
    /// The time of the last request.
    pub last_s: Option<i64>,
    /// What was asked for in all.
    pub total: Demand,
    /// Requests whose time is known.
    pub timed: u64,
    /// How many addresses they came from, nearly.
    pub addresses: u64,
    /// The standard error of every number of addresses, as a share of it.
    pub addresses_error: f64,
    /// Families of agents, most requests first.
    pub agents: Vec<AgentFamily>,
    /// Networks, most requests first.
    pub networks: Vec<Ranked>,
    /// Routes, most requests first: paths whose numbers, digests and long words are left out.
    pub routes: Vec<Ranked>,
    /// Requests over time.
    pub series: TrafficSeries,
    /// Requests by day and hour, at most of the last nine weeks; none where they were counted by longer buckets than hours.
    pub days: Vec<TrafficDay>,
    /// What the requests cost the server in CPU time, by a recording of it; none where none was given.
    pub cost: Option<TrafficCost>,
    /// Parts of the traffic that could be turned away, those that save most first.
    pub suspects: Vec<Suspect>,
}

/// A file of a log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrafficFile {
    /// Its path as given; `-` for standard input.
    pub path: String,
    /// Its format: `combined`, `json`, or the format string; empty where none was recognised.
    pub format: String,
    /// Lines that are not empty.
    pub lines: u64,
    /// Those of them that could not be read.
    pub malformed: u64,
    /// The earliest time in it.
    pub first_s: Option<i64>,
    /// The latest.
    pub last_s: Option<i64>,
    /// Whether it was left out: it was found in a folder and is no log.
    pub skipped: bool,
    /// What kept it from being read to its end; empty for nothing.
    pub problem: String,
}

/// A line that could not be read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MalformedLine {
    /// The file that it is in.
    pub path: String,
    /// What it begins with.
    pub text: String,
}

/// What was asked for, and what it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Demand {
    /// Requests.
    pub requests: u64,
    /// Bytes sent in answer.
    pub bytes: u64,
    /// Time from request to answer, summed up.
    pub took_ns: u64,
}

/// What kind of program an agent says it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AgentKind {
    /// A crawler: its name says so, or it leaves an address for complaints.
    Crawler,
    /// A browser.
    Browser,
    /// A program or a library.
    Tool,
    /// It says nothing.
    #[default]
    Silent,
}

/// Whether an agent is who it says it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// Nobody knows: no ranges were given for it.
    #[default]
    Unchecked,
    /// Its addresses are in its published ranges.
    Verified,
    /// Its addresses are not.
    Forged,
}

/// A family of agents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentFamily {
    /// Its name, without versions.
    pub name: String,
    /// What kind of program it says it is.
    pub kind: AgentKind,
    /// Whether it is.
    pub claim: Claim,
    /// What it asked for.
    pub demand: Demand,
    /// How many addresses it came from, nearly.
    pub addresses: u64,
    /// Answers by the first digit of their status, 1 to 5; the first entry is those without a status.
    pub statuses: [u64; 6],
}

/// A network or a route with its counts. They are never too high.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ranked {
    /// Its name: `203.0.113.0/24`, `/user/{n}`.
    pub name: String,
    /// What was counted: at least this.
    pub demand: Demand,
    /// Requests that may be missing from it.
    pub missed: u64,
}

/// Requests over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrafficSeries {
    /// When the first bucket begins.
    pub start_s: i64,
    /// The length of a bucket, in seconds.
    pub bucket_s: i64,
    /// Requests in each bucket.
    pub requests: Vec<u64>,
    /// Those of the suspects, in their order.
    pub of_suspects: Vec<Vec<u64>>,
}

/// A day's requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrafficDay {
    /// When it begins, in seconds since 1970, UTC.
    pub start_s: i64,
    /// Requests in each of its 24 hours, UTC.
    pub requests: Vec<u64>,
}

/// What requests cost the server, by a recording of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrafficCost {
    /// The case that says so.
    pub case: String,
    /// The CPU time of the requests whose route was recorded, in nanoseconds: each route's mean in the recording times the requests
    /// in the log.
    pub cpu_ns: u64,
    /// How many requests that are.
    pub known: u64,
    /// Routes, those first that cost most in all.
    pub routes: Vec<RouteCost>,
}

/// What a request of a route costs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RouteCost {
    /// The route.
    pub route: String,
    /// Requests of it that were recorded from end to end.
    pub recorded: u64,
    /// The mean CPU time of those, in nanoseconds, of the thread that answered.
    pub mean_ns: u64,
    /// Its 95 % interval: from here ...
    pub low_ns: u64,
    /// ... to here.
    pub high_ns: u64,
    /// Requests of it in the log.
    pub requests: u64,
}

/// CPU time that a part of the traffic took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SavedCpu {
    /// The CPU time, in nanoseconds.
    pub cpu_ns: u64,
    /// Its share of that of all requests for which it is known.
    pub share: f64,
    /// For how many of its requests it is known.
    pub known: u64,
}

/// What came into logs that are followed, lately.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveTraffic {
    /// When it was looked at, in milliseconds since 1970, UTC.
    pub at_ms: u64,
    /// For how long before that.
    pub length: Nanos,
    /// What was asked for in that time.
    pub total: Demand,
    /// What was asked for since the logs are followed.
    pub so_far: Demand,
    /// Lines that could not be read.
    pub malformed: u64,
    /// Families of agents, most requests first.
    pub agents: Vec<AgentFamily>,
    /// Networks, most requests first.
    pub networks: Vec<Ranked>,
    /// Routes, most requests first.
    pub routes: Vec<Ranked>,
}

/// A part of the traffic that could be turned away.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Suspect {
    /// The name of its family of agents.
    pub name: String,
    /// What kind of program it says it is.
    pub kind: AgentKind,
    /// Whether it is.
    pub claim: Claim,
    /// How many addresses it came from, nearly.
    pub addresses: u64,
    /// What it asked for, which is what blocking it would have saved.
    pub demand: Demand,
    /// The share of all requests.
    pub share_of_requests: f64,
    /// The share of all bytes.
    pub share_of_bytes: f64,
    /// The share of all time; 0 where the logs do not say it.
    pub share_of_time: f64,
    /// The CPU time that its requests took, by a recording of the server; none where none was given, or it has none of its
    /// routes.
    pub cpu: Option<SavedCpu>,
    /// When it began, or grew; none where it was there all along.
    pub onset: Option<Onset>,
    /// Its networks, most requests first.
    pub networks: Vec<Ranked>,
    /// Its routes, most requests first.
    pub routes: Vec<Ranked>,
    /// How to turn it away; none where its name cannot be written into a rule without risk.
    pub rules: Vec<Rule>,
}

/// When a part of the traffic began, or grew.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Onset {
    /// The beginning of the first bucket on the new level.
    pub at_s: i64,
    /// Where that may be as well, with 95 % confidence: from here ...
    pub low_s: i64,
    /// ... to here.
    pub high_s: i64,
    /// The median number of requests in a bucket before.
    pub before: f64,
    /// The same after it.
    pub after: f64,
    /// The chance of as large a step in the same counts without order.
    pub p: f64,
    /// The file that this time is in; empty where it is in none.
    pub file: String,
}

/// What a rule is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RuleFor {
    /// nginx's configuration.
    Nginx,
    /// HAProxy's configuration.
    Haproxy,
    /// robots.txt, which only those obey who read it.
    Robots,
}

/// A rule to copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rule {
    /// What it is for.
    pub target: RuleFor,
    /// Its lines.
    pub text: String,
}
