//! The way between clients and servers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the way between clients and servers takes and carries, as their segments show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkPath {
    /// The shortest round trip of the median exchange's connection, in nanoseconds.
    pub round_trip_ns: u64,
    /// How many bytes the median exchange moves, in the direction in which it moves more.
    pub bytes: u64,
    /// The median rate at which messages arrive that are too long for one flight, in bits a second; null where there are none.
    pub bits_per_second: Option<f64>,
}
