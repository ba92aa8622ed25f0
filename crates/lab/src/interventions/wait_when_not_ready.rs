//! `wait-when-not-ready`: the wait that a busy loop lacks.

use super::{Intervention, Prediction, intervention};
use crate::treatment::Preload;

intervention! {
    /// # wait-when-not-ready
    ///
    /// ## What it does
    /// When a thread learns nine times in a row, without moving a byte in between, that a descriptor is not ready, that
    /// nothing is, or that one is ready which it then ignores, its next such call is preceded by a wait: for the
    /// descriptors that were not ready, in that direction; for everything else it polls for, except what was ready in
    /// vain; and for the send queues it asked about to empty or to halve. At most 10 ms at a time.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that spin in libc calls: `read`, `write` and the like, `poll`, `select`,
    /// `epoll_wait`. Not Go, not static programs, not spinning on memory or on a clock, not threads that wait for more
    /// than 256 descriptors, and not threads that move bytes on one connection while they spin on another.
    ///
    /// ## How we know it took effect
    /// The shim counts the waits it inserted.
    ///
    /// ## What it cannot prove
    /// That the program answers no later: a queue is checked every 0.5 ms, and one that shrinks by less than half is
    /// noticed after 10 ms. The trials' wall time shows what that costs.
    pub const WAIT_WHEN_NOT_READY: Intervention = Intervention {
        name: "wait-when-not-ready",
        summary: "makes a loop that spins on a descriptor wait until it can go on",
        predictions: &[Prediction::gains("P05")],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: "wait-when-not-ready", parameter: "on".into() });
            Ok(())
        },
        applied: |counters| counters.of_shim("wait-when-not-ready"),
    };
}
