//! `coalesce-writes`: small writes leave together.

use super::{Intervention, Prediction, intervention};
use crate::treatment::Preload;

intervention! {
    /// # coalesce-writes
    ///
    /// ## What it does
    /// Holds small writes (below 1400 bytes, about one segment) on TCP sockets until the thread that made them waits
    /// for something, until they fill a segment, or for at most 4 to 5 ms, and then sends them in one call. To the
    /// program, each write succeeds at once. A request whose header and body are two writes thus leaves as one segment,
    /// which Nagle's algorithm does not hold.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that write through libc, including TLS libraries. Not Go, not static programs, not
    /// io_uring, not writes that libc makes internally (stdio over a socket), not other kinds of sockets. If one thread
    /// writes and another reads, waits on libc's condition variables and semaphores count as waits once the 5 ms have
    /// expired three times; a program whose waits cannot be seen at all is left alone after sixteen times.
    ///
    /// ## How we know it took effect
    /// The shim counts writes that left together with an earlier one. A program that writes once per request has none.
    ///
    /// ## What it cannot prove
    /// That Nagle's algorithm caused the stall: fewer segments and fewer calls also cost less CPU time. `tcp-nodelay`
    /// distinguishes the two. An error of a delayed write is returned by the next call on the socket, and a program
    /// that is killed loses what it wrote in its last 5 ms.
    pub const COALESCE_WRITES: Intervention = Intervention {
        name: "coalesce-writes",
        summary: "holds small writes until the program waits, and sends them together",
        predictions: &[
            Prediction::gains("P01").beside("it also makes fewer segments and system calls, and the peer reads it all at once"),
            Prediction::gains("P03").refutes_nothing("holding the pieces takes CPU time as well"),
            Prediction::gains("P04"),
        ],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: "coalesce-writes", parameter: "on".into() });
            Ok(())
        },
        applied: |counters| counters.of_shim("coalesce-writes"),
    };
}
