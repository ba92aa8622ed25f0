//! What a refresh is to do.

use super::names::Hosts;
use crate::plan::Secured;
use std::path::PathBuf;
use std::time::Duration;

/// What a refresh is to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What the list is called: rounds over the same one are compared.
    pub list: String,
    /// The feeds, each once.
    pub addresses: Vec<String>,
    /// The database.
    pub database: PathBuf,
    /// Names with their addresses; others are looked up.
    pub hosts: Hosts,
    /// Connections at a time.
    pub connections: usize,
    /// Connections to one origin at a time, at most.
    pub per_origin: usize,
    /// Threads.
    pub threads: usize,
    /// A request that takes longer has failed.
    pub timeout: Duration,
    /// A body may have so many bytes.
    pub most_received: usize,
    /// And so many after gzip, br or zstd are undone.
    pub most_inflated: u64,
    /// Whether robots.txt is asked for and heeded.
    pub robots: bool,
    /// Who we say we are.
    pub agent: String,
    /// How TLS is spoken.
    pub secured: Secured,
    /// Rounds.
    pub rounds: u64,
    /// From the beginning of one round to that of the next, at least.
    pub every: Duration,
}
