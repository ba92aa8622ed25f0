//! `no-time-wait`: ports that are free as soon as their connection is closed.

use super::{Intervention, NotHere, Prediction, intervention};
use crate::aspect::Aspect;
use crate::treatment::Preload;

intervention! {
    /// # no-time-wait
    ///
    /// ## What it does
    /// Closes each connection that a program opened by a reset (SO_LINGER of 0 s), so that its local port is free at once
    /// and not kept in TIME_WAIT: where all that was sent has been acknowledged, and the other end has not closed first.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that open and close their sockets through libc. Not Go, not static programs. The host's
    /// own settings (net.ipv4.ip_local_port_range) are not touched.
    ///
    /// ## How we know it took effect
    /// The shim counts the connections that it ended so.
    ///
    /// ## What it cannot prove
    /// That TIME_WAIT can be done without: it keeps late segments out of the next connection with the same port.
    pub const NO_TIME_WAIT: Intervention = Intervention {
        name: "no-time-wait",
        summary: "frees the local port of a connection as soon as it is closed",
        predictions: &[Prediction::gains("P48"), Prediction::does_nothing("P07")],
        // That is how it ends connections.
        may_change: &[Aspect::Resets],
        treat: |request, treatment| {
            if request.is_made_without_libc() {
                return Err(NotHere("needs a program that connects through libc".into()));
            }
            treatment.preloads.push(Preload { shim: "no-time-wait", parameter: "on".into() });
            Ok(())
        },
        applied: |counters| counters.of_shim("no-time-wait"),
    };
}
