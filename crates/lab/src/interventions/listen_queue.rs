//! `listen-queue`: room for connections that wait to be accepted.

use super::{Intervention, Prediction, intervention};
use crate::treatment::Preload;

/// What the kernel allows by default (net.core.somaxconn since Linux 5.4); where it allows less it takes less.
const LENGTH: u32 = 4096;

intervention! {
    /// # listen-queue
    ///
    /// ## What it does
    /// Makes the queue of every listening socket 4,096 connections long, or as long as net.core.somaxconn allows:
    /// `listen` asks for no less.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that use libc. Not Go, not static programs, not sockets that are inherited as listening.
    ///
    /// ## How we know it took effect
    /// The shim counts the sockets that had asked for a shorter queue.
    ///
    /// ## What it cannot prove
    /// That the server keeps up: a longer queue helps where connections come in bursts. If they come faster than the
    /// server accepts them all the time, the longer queue is full as well, only later.
    pub const LISTEN_QUEUE: Intervention = Intervention {
        name: "listen-queue",
        summary: "makes the queues of listening sockets longer",
        predictions: &[Prediction::gains("P20")],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: "listen-queue", parameter: LENGTH.to_string() });
            Ok(())
        },
        applied: |counters| counters.of_shim("listen-queue"),
    };
}
