//! `send-queue-empty`: send queues seem empty.

use super::{Intervention, Prediction, intervention};
use crate::treatment::Preload;

intervention! {
    /// # send-queue-empty
    ///
    /// ## What it does
    /// Returns 0 when a program asks how many bytes of a stream socket have not been sent or acknowledged yet (`ioctl`
    /// with SIOCOUTQ, also called TIOCOUTQ, or SIOCOUTQNSD). A program that spins until its socket has drained then
    /// goes on at once and leaves the rest to the kernel, which sends it anyway.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that use libc. Not Go, not static programs, not values read from TCP_INFO.
    ///
    /// ## How we know it took effect
    /// The shim counts answers that would have been another number.
    ///
    /// ## What it cannot prove
    /// That the program can do without the answer: one that closes with SO_LINGER and a timeout of 0, or that measures
    /// the rate of its link, needs it.
    pub const SEND_QUEUE_EMPTY: Intervention = Intervention {
        name: "send-queue-empty",
        summary: "reports every socket's send queue as empty",
        predictions: &[Prediction::gains("P05")],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: "send-queue-empty", parameter: "on".into() });
            Ok(())
        },
        applied: |counters| counters.of_shim("send-queue-empty"),
    };
}
