//! `share-ssl-context`: one TLS context for all connections set up alike.

use super::parse_ca_once::{SHIM, took_effect};
use super::{Intervention, Prediction, Purpose, Request, intervention};
use crate::treatment::Preload;
use case::Recording;
use case::tables::content;
use std::collections::BTreeMap;

/// The calls that open a file: open, openat, openat2 (x86-64).
const OPENS: [u16; 3] = [2, 257, 437];

/// A file of certificates that is opened more often is loaded with each context.
const ONCE_FOR_EACH_PURPOSE: usize = 2;

intervention! {
    /// # share-ssl-context
    ///
    /// ## What it does
    /// Tracks how each TLS context is created: the method, and every setting and certificate file in order. A context
    /// created in exactly the same way as an earlier one is replaced by it: its settings are not repeated, its
    /// certificates not loaded, and connections use the first. It predicts what sharing a context in the source would
    /// gain.
    ///
    /// ## What it reaches
    /// Clients that load OpenSSL's libssl (1.1.1 or 3) dynamically. Contexts with a private key, with data or decision
    /// callbacks of the program, with certificates passed in memory, or with anything not understood are left alone,
    /// and so are servers. If a library fills a context's store after the connection has begun (libcurl does), the
    /// server is verified with the shared store only if both were filled alike. Handshakes are still full.
    ///
    /// If certificates are loaded for each context, this removes that cost, too, and so proves nothing about creating
    /// contexts. It is then a step on top of `parse-ca-once`, and only the step counts.
    ///
    /// ## How we know it took effect
    /// The shim counts the contexts that were created, and those for which another was used.
    pub const SHARE_SSL_CONTEXT: Intervention = Intervention {
        name: "share-ssl-context",
        summary: "uses one TLS context for all connections that ask for the same",
        predictions: &[Prediction::gains("P09"), Prediction::adds("P10")],
        doses: &[],
        unit: "",
        stands_on: &["parse-ca-once"],
        purpose_here: |request, declared| Some(purpose_here(request, declared)),
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: SHIM, parameter: "share-ssl-context".into() });
            Ok(())
        },
        applied: took_effect,
    };
}

/// A step on top of another where contexts are not all that it spares.
fn purpose_here(request: &Request, declared: Purpose) -> Purpose {
    let is_step = declared == Purpose::Cause && request.recording.is_some_and(loads_certificates_again);
    if is_step { Purpose::Incremental } else { declared }
}

/// Whether one process was seen opening one file of certificates again and again.
fn loads_certificates_again(recording: &Recording) -> bool {
    let mut openings: BTreeMap<(u32, u32), (usize, bool)> = BTreeMap::new();
    for call in recording.calls.iter().filter(|call| call.path != 0 && call.result >= 0) {
        let (opened, holds_certificates) = openings.entry((call.pid, call.path)).or_default();
        *opened += usize::from(OPENS.contains(&call.number));
        *holds_certificates |= call.content == content::PEM;
    }
    openings.values().any(|(opened, holds_certificates)| *holds_certificates && *opened > ONCE_FOR_EACH_PURPOSE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::interventions::tests::request;
    use case::tables::Call;

    /// What it is tried for where a file with certificates (or something else) is opened so many times.
    fn tried_for(opened: usize, content: u8) -> Option<Purpose> {
        let open = Call { pid: 1, path: 1, number: 257, ..Call::default() };
        let read = Call { pid: 1, path: 1, content, ..Call::default() };
        let calls = std::iter::repeat_n([open, read], opened).flatten().collect();
        let (recording, world) = (Recording { calls, ..Recording::default() }, World::default());
        SHARE_SSL_CONTEXT.purpose("P09", &Request { recording: Some(&recording), ..request(&world) })
    }

    #[test]
    fn it_is_a_cause_where_a_context_costs_by_itself_and_a_step_where_certificates_come_with_it() {
        assert_eq!(tried_for(1, content::PEM), Some(Purpose::Cause));
        assert_eq!(tried_for(60, content::PEM), Some(Purpose::Incremental));
        assert_eq!(tried_for(60, content::OTHER), Some(Purpose::Cause));
    }
}
