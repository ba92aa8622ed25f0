//! `buffered-entropy`: random bytes from a stock.

use super::{Intervention, Prediction, intervention};
use crate::treatment::Preload;

intervention! {
    /// # buffered-entropy
    ///
    /// ## What it does
    /// Answers `getrandom` and `getentropy` for 256 bytes or fewer from a stock that the kernel fills 4 kB at a time.
    /// The bytes are the kernel's; no byte is handed out twice, to a child neither.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that ask through libc (CPython, Node.js, OpenSSL's seeds). Not Go, not static
    /// programs, not `arc4random`, not reads of /dev/urandom.
    ///
    /// ## How we know it took effect
    /// The shim counts requests that it served from the stock.
    pub const BUFFERED_ENTROPY: Intervention = Intervention {
        name: "buffered-entropy",
        summary: "serves random bytes from a stock instead of asking the kernel each time",
        predictions: &[Prediction::gains("P47")],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: "buffered-entropy", parameter: "on".into() });
            Ok(())
        },
        applied: |counters| counters.of_shim("buffered-entropy"),
    };
}
