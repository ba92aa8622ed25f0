//! What recording itself costs: the programs in the kernel, timed by themselves one run in 61, and the thread that takes
//! their events.

use crate::clock::cpu_time_of_this_thread;
use crate::error::RecordError;
use crate::events::Cost;
use crate::kernel::Kernel;
use aya::maps::{MapData, PerCpuArray};
use case::Nanos;
use std::time::Instant;

/// Calls that are timed together, and how often: 7 times 50 us, of which the least counts.
const CALLS: u32 = 500;
const TIMES: u32 = 7;

/// One run in so many is timed (`COST_PERIOD` in `bpf/costs.bpf.h`).
const PERIOD: f64 = 61.0;

/// The maps that the kernel side times itself in.
pub struct OwnCost {
    costs: PerCpuArray<MapData, Cost>,
    watched_time: PerCpuArray<MapData, u64>,
    /// What getting to a program and back costs, in nanoseconds: the program cannot time that.
    path: f64,
}

impl OwnCost {
    /// Takes them from the kernel side, once. `before` is how long a call took before the programs were loaded.
    ///
    /// # Errors
    /// Where they are not there.
    pub fn take(kernel: &mut Kernel, before: Nanos) -> Result<OwnCost, RecordError> {
        // Two programs a call: when it is entered and when it returns.
        let path = (time_of_a_call() - before).0 as f64 / 2.0;
        let (costs, watched_time) = (kernel.take_processors("costs")?, kernel.take_processors("watched_time")?);
        Ok(OwnCost { costs, watched_time, path })
    }

    /// CPU time that the programs in the kernel have taken: where they ran for what is watched.
    pub fn in_the_kernel(&self) -> Nanos {
        let timed = |cost: &Cost| cost.time as f64 + cost.timed as f64 * self.path;
        let costs = self.costs.iter().filter_map(Result::ok);
        let timed = costs.map(|processors| processors.iter().map(timed).sum::<f64>()).sum::<f64>();
        Nanos((timed * PERIOD) as u64)
    }

    /// CPU time that the thread has taken that asks: the one that takes events.
    pub fn of_the_drain() -> Nanos {
        cpu_time_of_this_thread()
    }

    /// CPU time that the watched threads have taken, up to when each last left a processor.
    pub fn subject(&self) -> Nanos {
        self.watched_time.get(&0, 0).map_or(Nanos(0), |times| Nanos(times.iter().sum()))
    }
}

/// How long a call takes that does nothing.
pub fn time_of_a_call() -> Nanos {
    let time = || {
        let begun = Instant::now();
        for _ in 0..CALLS {
            nix::unistd::getppid();
        }
        begun.elapsed().as_nanos() as u64 / u64::from(CALLS)
    };
    Nanos((0..TIMES).map(|_| time()).min().unwrap_or_default())
}
