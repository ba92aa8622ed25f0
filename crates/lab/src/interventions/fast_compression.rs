//! `fast-compression`: compression at the lowest level.

use super::{Intervention, Prediction, intervention};
use crate::aspect::Aspect;
use crate::treatment::Preload;

intervention! {
    /// # fast-compression
    ///
    /// ## What it does
    /// Lowers the level of every compression to 1: what a program asks of zlib (`deflateInit`, `deflateParams` and what
    /// calls them), zstd and brotli. What is compressed stays the same when it is decompressed, and is somewhat longer.
    ///
    /// ## What it reaches
    /// Programs that load these libraries: nginx, Apache, PHP, Debian's Python, Perl and Ruby, OpenJDK. Not Go and Node.js,
    /// which have compressors of their own, nor static programs.
    ///
    /// ## How we know it took effect
    /// The shim counts the levels it lowered.
    ///
    /// ## What it cannot prove
    /// Which level is best: the lowest makes the longest answers, which a slow network may not be worth. The bytes of an
    /// answer are not compared for that reason.
    pub const FAST_COMPRESSION: Intervention = Intervention {
        name: "fast-compression",
        summary: "compresses at the lowest level",
        predictions: &[Prediction::gains("P40")],
        doses: &[],
        unit: "",
        stands_on: &[],
        // Compressed less, the same is longer.
        may_change: &[Aspect::Bytes],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: "fast-compression", parameter: "on".into() });
            Ok(())
        },
        applied: |counters| counters.of_shim("fast-compression"),
    };
}
