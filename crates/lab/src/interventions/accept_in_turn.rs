//! `accept-in-turn`: workers that share a listening socket take its connections in turn.

use super::{Intervention, Prediction, intervention};
use crate::treatment::Preload;

intervention! {
    /// # accept-in-turn
    ///
    /// ## What it does
    /// Whoever took the last connection of a listening socket is told that there is none until another worker has taken the
    /// next, or 5 ms are over. All workers are woken for each connection (no EPOLLEXCLUSIVE), so that each gets about as many.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that use libc, of which several processes or threads accept from one socket that does not
    /// block, such as nginx. Not Go, not static programs, not workers with a listening socket each (SO_REUSEPORT), nor those
    /// that are told of a connection once (EPOLLET).
    ///
    /// ## How we know it took effect
    /// The shim counts the connections that a worker left to others.
    ///
    /// ## What it cannot prove
    /// That as many connections are as much work: where a few of them carry most of it, another worker may have those.
    pub const ACCEPT_IN_TURN: Intervention = Intervention {
        name: "accept-in-turn",
        summary: "has workers that share a listening socket take its connections in turn",
        predictions: &[Prediction::gains("P41")],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: "accept-in-turn", parameter: "on".into() });
            Ok(())
        },
        applied: |counters| counters.of_shim("accept-in-turn"),
    };
}
