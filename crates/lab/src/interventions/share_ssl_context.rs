//! `share-ssl-context`: one TLS context for all connections that are made alike.

use super::parse_ca_once::{SHIM, took_hold};
use super::{Intervention, Purpose};
use crate::arrangement::Preload;

/// # share-ssl-context
///
/// ## What it does
/// Follows how each TLS context is made: the method, and every setting and file of certificates in order. A context that
/// is made in the very same way as an earlier one is that one: its settings are not done again, its certificates not
/// loaded, and connections are made with the first. It predicts what sharing a context in the source would bring.
///
/// ## What it reaches
/// Clients that load OpenSSL's libssl (1.1.1 or 3) dynamically. A context with a private key, with data or deciding
/// callbacks of the program, with certificates handed over in memory, or with anything that is not understood is left
/// alone, and so are servers. Where a library fills a context's store after the connection was begun (libcurl does),
/// the server is verified with the other's store only if both were filled alike. Handshakes are still full.
///
/// ## How it is told that it took hold
/// The shim counts contexts that were made, and those in whose place another served.
pub const SHARE_SSL_CONTEXT: Intervention = Intervention {
    name: "share-ssl-context",
    summary: "makes one TLS context serve all connections that ask for the same",
    tried_for: &[("P09", Purpose::Cause), ("P10", Purpose::Ladder)],
    doses: &[],
    unit: "",
    stands_on: &["parse-ca-once"],
    arrange: |_, arrangement| {
        arrangement.preloads.push(Preload { shim: SHIM, parameter: "share-ssl-context".into() });
        Ok(())
    },
    applied: took_hold,
};
