//! `resume-sessions`: the session of the last connection offered on the next.

use super::parse_ca_once::{SHIM, took_effect};
use super::{Intervention, Prediction, intervention};
use crate::aspect::Aspect;
use crate::treatment::Preload;

intervention! {
    /// # resume-sessions
    ///
    /// ## What it does
    /// Keeps the session of a client's connection when it ends, and offers it on the next connection to the same server
    /// name (or, without one, the same address) that is set up the same way: same settings, same trusted certificates,
    /// same name to verify. A server that accepts it saves both ends the certificates and the signature. Contexts are
    /// created as before; on top of `share-ssl-context`, it shows what resumption adds.
    ///
    /// ## What it reaches
    /// Clients that load OpenSSL's libssl (1.1.1 or 3) dynamically. Programs that offer sessions themselves, or present
    /// a client certificate, are left alone. If a server issues no sessions, there is nothing to offer. Connections
    /// opened before the first has ended make full handshakes.
    ///
    /// ## How we know it took effect
    /// The shim counts client handshakes and sessions offered. Whether the server accepted them shows in the effect.
    pub const RESUME_SESSIONS: Intervention = Intervention {
        name: "resume-sessions",
        summary: "offers the TLS session of the last connection to a server on the next",
        predictions: &[Prediction::gains("P08"), Prediction::adds("P09"), Prediction::adds("P10")],
        doses: &[],
        unit: "",
        stands_on: &["share-ssl-context"],
        // A resumed session gets fewer tickets, or none.
        may_change: &[Aspect::Bytes],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: SHIM, parameter: "resume-sessions".into() });
            Ok(())
        },
        applied: took_effect,
    };
}
