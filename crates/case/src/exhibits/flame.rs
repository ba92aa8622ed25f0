//! Call trees with time: flame graphs.

use serde::Serialize;

/// A call tree. Functions with a small part of the whole are folded into their callers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Flame {
    /// The time of the whole tree, in nanoseconds; of a difference, that of B.
    pub total_ns: u64,
    /// For a difference, the time of A's tree.
    pub before_ns: Option<u64>,
    /// What the times are of, in words: `all 12.3 s of samples`, `each request`.
    pub of: String,
    /// The functions, callers before their callees; those without a parent stand side by side at the bottom.
    pub nodes: Vec<FlameNode>,
}

/// A function under one chain of callers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FlameNode {
    /// Its caller: an index into the nodes.
    pub parent: Option<u32>,
    /// Its name, or `module+0xoffset`; for blocked time the leaf is what was waited in: `blocked in read (tcp socket)`.
    pub function: String,
    /// The library or program, without its folder.
    pub module: String,
    /// The time, callees included, in nanoseconds; of a difference, in B.
    pub ns: u64,
    /// The time in A, of a difference.
    pub before_ns: Option<u64>,
}
