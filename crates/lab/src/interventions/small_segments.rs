//! `small-segments`: segments that get through anywhere.

use super::{Intervention, Prediction, intervention};
use crate::treatment::Preload;

/// Segments that any path carries: what IPv6 needs (1,280 bytes), less headers of IPv6 and TCP with options.
pub(super) const SMALL_SEGMENT: u32 = 1_208;

intervention! {
    /// # small-segments
    ///
    /// ## What it does
    /// Has TCP connections use segments of 1,208 bytes at most, in both directions (TCP_MAXSEG before connect and listen):
    /// packets of 1,280 bytes at most get through wherever IPv6 does.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that use libc, at either end: the other one is told when they connect. Not Go, not static
    /// programs.
    ///
    /// ## How we know it took effect
    /// The shim counts the sockets on which the kernel took it.
    pub const SMALL_SEGMENTS: Intervention = Intervention {
        name: "small-segments",
        summary: "has TCP connections use small segments",
        predictions: &[Prediction::gains("P49")],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: "small-segments", parameter: SMALL_SEGMENT.to_string() });
            Ok(())
        },
        applied: |counters| counters.of_shim("small-segments"),
    };
}
