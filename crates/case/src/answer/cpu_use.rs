//! How much of the machine's CPUs the programs took while there were requests.

use super::Answer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// From this share of all CPUs on they are what there is too little of: more requests at a time only wait for each other.
const ALL: f64 = 0.9;

/// CPUs in use from the first request to the last answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuUse {
    /// As many CPUs the recorded programs used on average: their CPU time over that time.
    pub used: f64,
    /// As many the machine has.
    pub cpus: u32,
}

impl Answer {
    /// The use of CPUs where it is about all that there are.
    pub fn exhausted_cpus(&self) -> Option<CpuUse> {
        self.cpu_use.filter(|one| one.cpus > 0 && one.used >= ALL * f64::from(one.cpus))
    }
}
