//! `read-buffer`: tiny reads out of one larger look.

use super::{Intervention, Purpose, intervention};
use crate::treatment::Preload;

intervention! {
    /// # read-buffer
    ///
    /// ## What it does
    /// Serves reads of at most 256 bytes from a TCP socket out of one look at up to 16 KiB that have arrived. The look
    /// leaves the bytes in the kernel; what the program has had is thrown away there when the look is used up, and
    /// before anything that could tell the difference: a larger read, a question about unread bytes, a fork, a close.
    /// Polls therefore answer by themselves as they should, and a read is served only if all that it asks for has
    /// arrived.
    ///
    /// ## What it reaches
    /// Programs that load libc dynamically and read through its functions, TLS libraries among them. Only sockets that
    /// the process made or accepted since it last forked. Not Go, not static programs, not io_uring, not stdio over a
    /// socket, not larger reads, pipes or files.
    ///
    /// ## How it is told that it took hold
    /// The shim counts reads that it served without a call.
    ///
    /// ## What it cannot prove
    /// What a buffer in the program would save on top: the program still makes a call of libc for each piece, and does
    /// whatever it does with pieces.
    pub const READ_BUFFER: Intervention = Intervention {
        name: "read-buffer",
        summary: "serves tiny reads out of one larger read",
        tried_for: &[("P42", Purpose::Cause)],
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
