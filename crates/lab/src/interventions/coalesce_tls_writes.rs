//! `coalesce-tls-writes`: what a program hands to TLS in pieces becomes one record.

use super::{Intervention, Prediction, intervention};
use crate::aspect::Aspect;
use crate::treatment::Preload;

intervention! {
    /// # coalesce-tls-writes
    ///
    /// ## What it does
    /// Holds small pieces (up to 4,096 bytes) that a program hands to SSL_write until the thread that wrote them waits for
    /// something, or until they fill a record of 16 kB, and then has them encrypted and sent as one record. To the program,
    /// each write succeeds at once. The end of what was held is pushed, so that Nagle's algorithm does not hold it.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that use OpenSSL's libssl (1.1.1 or 3) over a socket. Not Go, Java, GnuTLS or other
    /// libraries, not static programs, not programs that encrypt into memory and send for themselves.
    ///
    /// ## How we know it took effect
    /// The shim counts pieces that left together with an earlier one.
    ///
    /// ## What it cannot prove
    /// How large the records should be. An error of a delayed write is returned by the next call on the connection. Fewer
    /// records are fewer bytes on the wire, so the bytes of an answer are not compared: that the work was the same shows in
    /// what the client prints.
    pub const COALESCE_TLS_WRITES: Intervention = Intervention {
        name: "coalesce-tls-writes",
        summary: "holds small TLS writes until the program waits, and makes one record of them",
        predictions: &[Prediction::gains("P04")],
        doses: &[],
        unit: "",
        stands_on: &[],
        // Fewer records, less framing.
        may_change: &[Aspect::Bytes],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: "coalesce-tls-writes", parameter: "on".into() });
            Ok(())
        },
        applied: |counters| counters.of_shim("coalesce-tls-writes"),
    };
}
