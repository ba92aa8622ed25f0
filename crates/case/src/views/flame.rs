//! Call trees with time: flame graphs.

use serde::{Deserialize, Serialize};

/// A call tree. Functions with a small part of the whole are folded into their callers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Flame {
    /// The time of the whole tree, in nanoseconds; of a difference, that of B.
    pub total_ns: u64,
    /// For a difference, the time of A's tree.
    pub before_ns: Option<u64>,
    /// The time that one sample stands for, of a difference in B; 0 where times were measured and not sampled.
    pub sample_ns: u64,
    /// The time that one sample of A stands for, of a difference.
    pub before_sample_ns: Option<u64>,
    /// What the times are of, in words: `all 12.3 s of samples`, `each request`.
    pub of: String,
    /// The functions, callers before their callees; those without a parent are processes, side by side.
    pub nodes: Vec<FlameNode>,
}

/// A function under one chain of callers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlameNode {
    /// Its caller: an index into the nodes.
    pub parent: Option<u32>,
    /// Its name, or `module+0xoffset`; of a process, what it was: `client python3.11`; for blocked time the leaf is what was waited in: `blocked in read (tcp socket)`.
    pub function: String,
    /// The file name of the library or program.
    pub module: String,
    /// The time, callees included, in nanoseconds; of a difference, in B.
    pub ns: u64,
    /// The time in A, of a difference.
    pub before_ns: Option<u64>,
}
