//! What was counted of a run that had more events than are kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the kernel counted while the programs were watched, rows or none: exact but for how long calls ran, where the ledger and
/// the findings rest on the rows alone, which end earlier or were thinned out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WholeRun {
    /// How long was watched, in nanoseconds.
    pub wall_ns: u64,
    /// For how long of that there are rows: from the beginning, or in windows.
    pub rows_ns: u64,
    /// In how many windows, spread over the time, rows were made, where they were thinned out to stay within the overhead
    /// asked for; 0 where they were not.
    #[serde(default)]
    pub windows: u64,
    /// What recording was to cost and has cost, where rows were governed by it; null where they were not.
    #[serde(default)]
    pub cost: Option<RecordingCost>,
    /// Syscalls that returned, of the kinds that are recorded.
    pub calls: u64,
    /// How many of all calls have rows.
    pub calls_with_rows: u64,
    /// How many threads the following two are the sums of.
    pub threads: u64,
    /// Time on CPUs, in nanoseconds.
    pub on_cpu_ns: u64,
    /// Time runnable and waiting for a CPU, in nanoseconds; null where the kernel does not count it.
    pub run_delay_ns: Option<u64>,
    /// The kinds of calls in which most time was spent, at most five, those with most time first.
    pub most_time: Vec<CallKindSum>,
}

/// What recording was to cost and what it has cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordingCost {
    /// The overhead asked for, as a share of the CPU time that the programs take, and at least of one CPU.
    pub asked: f64,
    /// CPU time that recording took, in nanoseconds: in the kernel on the programs' own threads, and in the thread that
    /// takes what they recorded.
    pub cpu_ns: u64,
    /// How much of it was on the programs' own threads, in nanoseconds.
    pub on_their_threads_ns: u64,
    /// CPU time that the programs took, in nanoseconds, with what recording took on their threads.
    pub programs_cpu_ns: u64,
}

/// All calls of one kind, of all processes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallKindSum {
    /// The name, `read`.
    pub call: String,
    /// How many returned.
    pub calls: u64,
    /// How many of them with an error.
    pub failed: u64,
    /// Bytes that they wrote or read.
    pub bytes: u64,
    /// How long they took, in nanoseconds: how long they were blocked is counted, and the rest is taken to be as long for each as
    /// for those with rows.
    pub time_ns: u64,
    /// How much of that they were blocked, in nanoseconds.
    pub blocked_ns: u64,
}
