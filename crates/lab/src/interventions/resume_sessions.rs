//! `resume-sessions`: the session of the last connection offered on the next.

use super::parse_ca_once::{SHIM, took_hold};
use super::{Intervention, Purpose, intervention};
use crate::treatment::Preload;

intervention! {
    /// # resume-sessions
    ///
    /// ## What it does
    /// Keeps the session of a client's connection when it ends, and offers it on the next connection to the same server
    /// name (where there is none, the same address) that is set up in the same way: the same settings, the same trusted
    /// certificates, the same name to be verified. A server that takes the offer spares both ends the certificates and
    /// the signature. Contexts are made as before; with `share-ssl-context` under it, it is the last step of the
    /// ladder.
    ///
    /// ## What it reaches
    /// Clients that load OpenSSL's libssl (1.1.1 or 3) dynamically. A program that offers sessions itself, or shows a
    /// certificate of its own, is left alone. A server that hands out no sessions has none to offer: then it does
    /// nothing. Connections that are opened before the first has ended shake hands in full.
    ///
    /// ## How it is told that it took hold
    /// The shim counts handshakes that a client began, and sessions offered. Whether the server took them shows in the
    /// effect.
    pub const RESUME_SESSIONS: Intervention = Intervention {
        name: "resume-sessions",
        summary: "offers the session of the last connection to the same server on the next",
        tried_for: &[("P08", Purpose::Cause), ("P09", Purpose::Ladder), ("P10", Purpose::Ladder)],
        doses: &[],
        unit: "",
        stands_on: &["share-ssl-context"],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: SHIM, parameter: "resume-sessions".into() });
            Ok(())
        },
        applied: took_hold,
    };
}
