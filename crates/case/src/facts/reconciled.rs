//! How a ledger compares with measures that do not come from the events it is made of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the threads' rows add up to beside what the scheduler counted for the same threads. Where they differ by more than
/// is tolerated, the difference is booked as unexplained.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reconciled {
    /// Threads that were compared.
    pub threads: u64,
    /// Threads that were recorded and of which the scheduler's sums are not known.
    pub not_compared: u64,
    /// Each measure, all compared threads together.
    pub sums: Vec<ReconciledSum>,
    /// How many threads deviate in any measure.
    pub deviating: u64,
    /// Single deviations, those with most time first; at most twenty.
    pub deviations: Vec<Deviation>,
    /// Wall time in which events were lost, in nanoseconds: all of it is unexplained.
    pub lost_ns: u64,
    /// What threads have on CPUs by their rows while the hypervisor ran others, in nanoseconds: booked as waiting for a CPU.
    #[serde(default)]
    pub stolen_ns: u64,
}

/// One measure, added up over threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReconciledSum {
    /// The measure.
    pub measure: ThreadMeasure,
    /// What the rows say, in nanoseconds or as a count.
    pub ledger: u64,
    /// What the scheduler (for calls: the kernel side of the recorder) counted.
    pub scheduler: u64,
    /// The sum of the threads' differences, each without its sign, so that they do not cancel out.
    pub apart: u64,
}

/// A thread of which the rows say something else than the scheduler.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Deviation {
    /// Thread id.
    pub tid: u32,
    /// Its process.
    pub pid: u32,
    /// The thread's name.
    pub name: String,
    /// The measure.
    pub measure: ThreadMeasure,
    /// What the rows say, in nanoseconds or as a count.
    pub ledger: u64,
    /// What the scheduler counted.
    pub scheduler: u64,
    /// How much of the thread's time is booked as unexplained for it, in nanoseconds.
    pub unexplained_ns: u64,
}

/// What is compared of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ThreadMeasure {
    /// Time on a CPU, in nanoseconds.
    OnCpu,
    /// Time runnable and waiting for a CPU, in nanoseconds.
    RunDelay,
    /// Time blocked, in nanoseconds: what is left of the thread's life.
    Blocked,
    /// How often it went off a CPU to wait.
    Waits,
    /// How often it made a recorded system call.
    Calls,
    /// A measure that this version of whyslow does not know.
    #[default]
    #[serde(other)]
    Other,
}

impl ThreadMeasure {
    /// Whether it is a time; else it is a count.
    pub fn is_time(self) -> bool {
        matches!(self, ThreadMeasure::OnCpu | ThreadMeasure::RunDelay | ThreadMeasure::Blocked)
    }
}
