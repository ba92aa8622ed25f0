//! `read-buffer`: tiny reads served from one larger one.

use super::{Intervention, Prediction, intervention};
use crate::treatment::Preload;

intervention! {
    /// # read-buffer
    ///
    /// ## What it does
    /// Serves reads of at most 1,024 bytes from a TCP socket from one peek at up to 16 KiB that have arrived. The peek
    /// leaves the bytes in the kernel; those the program has consumed are discarded there when the peek is used up, and
    /// before anything that could notice the difference: a larger read, a query for unread bytes, a fork, a close.
    /// Polls therefore return what they should, and a read is served only if all it asks for has arrived.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that read through libc, including TLS libraries. Only sockets that the process
    /// created or accepted since it last forked. Not Go, not static programs, not io_uring, not stdio over a socket,
    /// not larger reads, pipes or files.
    ///
    /// ## How we know it took effect
    /// The shim counts the reads it served without a syscall.
    ///
    /// ## What it cannot prove
    /// What a buffer in the program would save on top: the program still calls libc for each piece, and does whatever
    /// it does with pieces.
    pub const READ_BUFFER: Intervention = Intervention {
        name: "read-buffer",
        summary: "serves tiny reads from one larger read",
        predictions: &[Prediction::gains("P42")],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: "read-buffer", parameter: "on".into() });
            Ok(())
        },
        applied: |counters| counters.of_shim("read-buffer"),
    };
}
