//! What services did over time, and which of them got out of line. Printed with `whyslow watch --json` and `whyslow watch show
//! --json`. Part of the JSON contract: fields are only ever added.
//!
//! Points in time are milliseconds since 1970, UTC. Lengths of time are nanoseconds.

use crate::answer::Finding;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use storage::ServiceSample;

/// What was watched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Watched {
    /// The version of this format.
    pub schema: u32,
    /// The answer in one sentence.
    pub summary: String,
    /// The folder of the history.
    pub history: String,
    /// When the first interval ended; 0 where there is none.
    pub from_ms: u64,
    /// When the last one ended.
    pub to_ms: u64,
    /// The services, those with most CPU time first.
    pub services: Vec<WatchedService>,
    /// Where one is out of line with the others or with its own past, latest first.
    pub deviations: Vec<Deviation>,
    /// Recordings that were made on that account.
    pub recordings: Vec<WatchedRecording>,
    /// The case of the last recording; empty without one.
    pub case: String,
    /// What the last recording found.
    pub findings: Vec<Finding>,
    /// What could not be seen, and why.
    pub missing: Vec<String>,
}

/// A service: what it did in all, and over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchedService {
    /// Its name.
    pub name: String,
    /// How long it was watched.
    pub length_ns: u64,
    /// CPU time in user mode.
    pub user_ns: u64,
    /// CPU time in the kernel.
    pub system_ns: u64,
    /// CPU time a request; none where requests were not counted, or there were none.
    pub cpu_ns_per_request: Option<f64>,
    /// How long its threads were runnable and waited for a CPU.
    pub run_delay_ns: u64,
    /// How long it was held back by a CPU quota.
    pub throttled_ns: u64,
    /// Whether requests, connections and bytes were counted.
    pub counts_requests: bool,
    /// Requests answered on connections that it accepted.
    pub requests: u64,
    /// Connections accepted.
    pub connections: u64,
    /// Bytes read from sockets.
    pub received: u64,
    /// Bytes written to sockets.
    pub sent: u64,
    /// From a request's first read to its answer's first write, a request; none without requests.
    pub answering_ns_per_request: Option<f64>,
    /// Answers with an HTTP/1 status of 5xx.
    pub failures: u64,
    /// TCP segments sent again.
    pub retransmitted: u64,
    /// Connections dropped as a listening socket's queue was full.
    pub overflows: u64,
    /// System calls; none where they were not counted.
    pub calls: Option<u64>,
    /// Memory at the end, in bytes.
    pub memory: u64,
    /// Processes at the end.
    pub processes: u32,
    /// Threads at the end.
    pub threads: u32,
    /// The same over time, at most some hundred points.
    pub series: Vec<WatchedPoint>,
}

/// A point of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchedPoint {
    /// When the interval ended.
    pub at_ms: u64,
    /// How long it was.
    pub length_ns: u64,
    /// CPU time.
    pub cpu_ns: u64,
    /// Requests.
    pub requests: u64,
    /// CPU time a request.
    pub cpu_ns_per_request: Option<f64>,
    /// From a request's first read to its answer's first write, a request.
    pub answering_ns_per_request: Option<f64>,
    /// Memory at its end.
    pub memory: u64,
}

/// What is watched of a service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WatchedMetric {
    /// CPU time a request, in nanoseconds.
    #[default]
    CpuPerRequest,
    /// From a request's first read to its answer's first write, a request, in nanoseconds.
    AnswerTime,
    /// The share of answers with an HTTP/1 status of 5xx.
    Failures,
    /// CPU time, in CPUs; asked of what counts no requests.
    Cpu,
}

/// What a service is out of line with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutOfLineWith {
    /// What it did itself before.
    #[default]
    Past,
    /// What the others do meanwhile.
    Others,
}

/// A service that is out of line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Deviation {
    /// The service.
    pub service: String,
    /// In what.
    pub metric: WatchedMetric,
    /// With what.
    pub with: OutOfLineWith,
    /// The change point: the beginning of the first interval on the new level. Where it was so from the beginning, that.
    pub at_ms: u64,
    /// Where that may be as well, with 95 % confidence: from here ...
    pub low_ms: u64,
    /// ... to here.
    pub high_ms: u64,
    /// Whether it was so as long as it was watched: then there is no change point.
    pub from_the_beginning: bool,
    /// The median before, or that of the other services, in the metric's unit.
    pub before: f64,
    /// The median since.
    pub after: f64,
    /// The chance of as large a difference in the same values without order.
    pub p: f64,
}

/// A recording that was made since something changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchedRecording {
    /// The service.
    pub service: String,
    /// When it began.
    pub at_ms: u64,
    /// Its case.
    pub case: String,
    /// What it found, in one sentence.
    pub summary: String,
}

impl WatchedService {
    /// What it did in all, without a series.
    pub fn of(sum: &ServiceSample) -> WatchedService {
        WatchedService {
            name: sum.service.clone(),
            length_ns: sum.length.0,
            user_ns: sum.user.0,
            system_ns: sum.system.0,
            cpu_ns_per_request: sum.cpu_per_request(),
            run_delay_ns: sum.run_delay.0,
            throttled_ns: sum.throttled.0,
            counts_requests: sum.counts_requests,
            requests: sum.requests,
            connections: sum.connections,
            received: sum.received,
            sent: sum.sent,
            answering_ns_per_request: sum.answering_per_request(),
            failures: sum.failures,
            retransmitted: sum.retransmitted,
            overflows: sum.overflows,
            calls: sum.counts_calls.then_some(sum.calls),
            memory: sum.memory,
            processes: sum.processes,
            threads: sum.threads,
            series: Vec::new(),
        }
    }

    /// CPU time in all, in CPUs.
    pub fn cpus(&self) -> f64 {
        if self.length_ns == 0 { 0.0 } else { (self.user_ns + self.system_ns) as f64 / self.length_ns as f64 }
    }

    /// Requests a second.
    pub fn requests_per_second(&self) -> f64 {
        if self.length_ns == 0 { 0.0 } else { self.requests as f64 / (self.length_ns as f64 / 1e9) }
    }
}

impl WatchedPoint {
    /// A point of a sample.
    pub fn of(sample: &ServiceSample) -> WatchedPoint {
        WatchedPoint {
            at_ms: sample.at_ms,
            length_ns: sample.length.0,
            cpu_ns: sample.cpu().0,
            requests: sample.requests,
            cpu_ns_per_request: sample.cpu_per_request(),
            answering_ns_per_request: sample.answering_per_request(),
            memory: sample.memory,
        }
    }
}
