//! `large-http2-windows`: HTTP/2 receivers open their windows.

use super::{Intervention, Prediction, intervention};
use crate::aspect::Aspect;
use crate::treatment::Preload;

intervention! {
    /// # large-http2-windows
    ///
    /// ## What it does
    /// Has receivers tell their peers that 16 MB may be under way, on each HTTP/2 stream and on the connection, where they
    /// would have said less or nothing (`nghttp2_submit_settings`, `nghttp2_session_set_local_window_size`).
    ///
    /// ## What it reaches
    /// Programs that load the library nghttp2: curl and all that uses libcurl, nghttp, h2load, Apache. Not Go, Java, Node.js
    /// and nginx, which have implementations of their own.
    ///
    /// ## How we know it took effect
    /// The shim counts the windows that it enlarged.
    ///
    /// ## What it cannot prove
    /// Which size would do: bandwidth times round trip is enough, and what a slow receiver has not read lies in its memory.
    /// With larger windows fewer updates are sent, each of which looks like a request, so whole runs are compared.
    pub const LARGE_HTTP2_WINDOWS: Intervention = Intervention {
        name: "large-http2-windows",
        summary: "lets 16 MB be under way on each HTTP/2 stream and connection",
        predictions: &[Prediction::gains("P21")],
        // An update that is not sent looks like a request that is not made, and is not part of an answer.
        may_change: &[Aspect::Exchanges, Aspect::Bytes],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: "large-http2-windows", parameter: "on".into() });
            Ok(())
        },
        applied: |counters| counters.of_shim("large-http2-windows"),
    };
}
