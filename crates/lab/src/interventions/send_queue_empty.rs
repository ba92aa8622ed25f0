//! `send-queue-empty`: nothing seems to wait in a send queue.

use super::{Intervention, Purpose, intervention};
use crate::treatment::Preload;

intervention! {
    /// # send-queue-empty
    ///
    /// ## What it does
    /// Answers 0 where a program asks how many bytes of a stream socket have not been sent or acknowledged yet (`ioctl`
    /// with SIOCOUTQ, which is also called TIOCOUTQ, or SIOCOUTQNSD). A program that spins until its socket has drained
    /// then goes on at once, and leaves the rest to the kernel, which sends it by itself.
    ///
    /// ## What it reaches
    /// Programs that load libc dynamically. Not Go, not static programs, not what is read off TCP_INFO.
    ///
    /// ## How it is told that it took hold
    /// The shim counts answers that would have been another number.
    ///
    /// ## What it cannot prove
    /// That the program may do without the answer: one that closes with SO_LINGER and a time of 0, or that measures the
    /// rate of its link, needs it.
    pub const SEND_QUEUE_EMPTY: Intervention = Intervention {
        name: "send-queue-empty",
        summary: "answers that a socket's send queue is empty",
        tried_for: &[("P05", Purpose::Cause)],
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
