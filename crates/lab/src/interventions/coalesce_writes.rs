//! `coalesce-writes`: small writes leave together.

use super::{Intervention, Purpose, intervention};
use crate::treatment::Preload;

intervention! {
    /// # coalesce-writes
    ///
    /// ## What it does
    /// Holds small writes (below 1400 bytes, about one segment) on TCP sockets until the thread that made them waits
    /// for something, until they fill a segment, or for 4 to 5 ms at most, and then sends them in one call. The program
    /// is told at once that they were written. A request whose header and body are two writes thus leaves as one
    /// segment, which Nagle's algorithm lets go.
    ///
    /// ## What it reaches
    /// Programs that load libc dynamically and write through its functions, TLS libraries among them. Not Go, not
    /// static programs, not io_uring, not writes that libc makes within itself (stdio over a socket), not sockets of
    /// other kinds. Where one thread writes and another reads, waits in libc's conditions and semaphores count as waits
    /// once the 5 ms have passed three times; a program whose waits cannot be seen at all is left alone after sixteen
    /// times.
    ///
    /// ## How it is told that it took hold
    /// The shim counts writes that left together with one before them. A program that writes once for each request has
    /// none.
    ///
    /// ## What it cannot prove
    /// That the stall was Nagle's: fewer segments and fewer calls also cost less processor time. `tcp-nodelay` tells
    /// the two apart. An error of a late write comes with the next call on the socket, and a program that is killed
    /// loses what it wrote in its last 5 ms.
    pub const COALESCE_WRITES: Intervention = Intervention {
        name: "coalesce-writes",
        summary: "holds small writes until the program waits, and sends them together",
        tried_for: &[("P01", Purpose::Cause), ("P03", Purpose::Cause)],
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
