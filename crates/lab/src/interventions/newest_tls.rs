//! `newest-tls`: TLS 1.3 where the library knows it.

use super::{Intervention, Prediction, intervention};
use crate::aspect::Aspect;
use crate::treatment::Preload;

intervention! {
    /// # newest-tls
    ///
    /// ## What it does
    /// Lets OpenSSL take TLS 1.3, whatever a program sets against it (SSL_OP_NO_TLSv1_3, the highest version that it allows).
    ///
    /// ## What it reaches
    /// Dynamically linked programs with OpenSSL 1.1.1 or later that set such a limit (nginx: ssl_protocols). Not limits of
    /// openssl.cnf, other libraries, and programs that carry their own.
    ///
    /// ## How we know it took effect
    /// The shim counts limits that it left out.
    pub const NEWEST_TLS: Intervention = Intervention {
        name: "newest-tls",
        summary: "lets the library take TLS 1.3, whatever the program allows",
        predictions: &[Prediction::gains("P68")],
        doses: &[],
        unit: "",
        // Each version frames its records in its own way, and a server of TLS 1.3 sends tickets that nobody asked for.
        may_change: &[Aspect::Bytes],
        stands_on: &[],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: "newest-tls", parameter: "on".into() });
            Ok(())
        },
        applied: |counters| counters.of_shim("newest-tls"),
    };
}
