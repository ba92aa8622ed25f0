//! `uncorked`: the kernel sends what it has.

use super::{Intervention, Prediction, intervention};
use crate::treatment::Preload;

intervention! {
    /// # uncorked
    ///
    /// ## What it does
    /// Leaves TCP sockets without a cork: `setsockopt` with TCP_CORK succeeds and does nothing, and `send`, `sendto`
    /// and `sendmsg` lose the flag MSG_MORE. What is written then leaves at once, in segments of its own.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that use libc. Not Go, not static programs, not io_uring, not sockets that are
    /// inherited corked, not `sendfile`, which promises more by itself until it has sent all.
    ///
    /// ## How we know it took effect
    /// The shim counts the options that it left out and the flags that it took away.
    ///
    /// ## What it cannot prove
    /// That corks are of no use: where they are pulled in time they save segments.
    pub const UNCORKED: Intervention = Intervention {
        name: "uncorked",
        summary: "leaves TCP sockets without a cork (TCP_CORK, MSG_MORE)",
        predictions: &[Prediction::gains("P56")],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: "uncorked", parameter: "on".into() });
            Ok(())
        },
        applied: |counters| counters.of_shim("uncorked"),
    };
}
