//! `default-buffers`: the kernel sizes the sockets' buffers.

use super::{Intervention, Prediction, intervention};
use crate::treatment::Preload;

intervention! {
    /// # default-buffers
    ///
    /// ## What it does
    /// Leaves the buffers of TCP sockets to the kernel, which lets them grow as needed: `setsockopt` with SO_SNDBUF or
    /// SO_RCVBUF succeeds and does nothing.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that use libc. Not Go, not static programs, not sockets that are inherited with the
    /// option set.
    ///
    /// ## How we know it took effect
    /// The shim counts the options that it left out.
    ///
    /// ## What it cannot prove
    /// Which size would do: the kernel's may be larger than the path needs (net.ipv4.tcp_wmem and tcp_rmem bound them).
    pub const DEFAULT_BUFFERS: Intervention = Intervention {
        name: "default-buffers",
        summary: "leaves the size of TCP sockets' buffers to the kernel",
        predictions: &[Prediction::gains("P22")],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: "default-buffers", parameter: "on".into() });
            Ok(())
        },
        applied: |counters| counters.of_shim("default-buffers"),
    };
}
