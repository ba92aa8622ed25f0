//! `exclusive-wakeups`: a connection wakes one worker.

use super::{Intervention, Prediction, intervention};
use crate::treatment::Preload;

intervention! {
    /// # exclusive-wakeups
    ///
    /// ## What it does
    /// A listening socket that several processes or threads watch with epoll wakes one of them for a connection, and not
    /// all that are idle (EPOLLEXCLUSIVE).
    ///
    /// ## What it reaches
    /// Dynamically linked programs that use libc and epoll. Not Go, not static programs, not workers that wait in `select`
    /// or `poll`, nor sockets that are armed anew after each event (EPOLLONESHOT).
    ///
    /// ## How we know it took effect
    /// The shim counts how often a listening socket began to be watched so.
    ///
    /// ## What it cannot prove
    /// That fewer workers would do: the kernel wakes whoever came first, so that one worker may get most of the
    /// connections.
    pub const EXCLUSIVE_WAKEUPS: Intervention = Intervention {
        name: "exclusive-wakeups",
        summary: "has a listening socket wake one worker for each connection",
        predictions: &[Prediction::gains("P74")],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: "exclusive-wakeups", parameter: "on".into() });
            Ok(())
        },
        applied: |counters| counters.of_shim("exclusive-wakeups"),
    };
}
