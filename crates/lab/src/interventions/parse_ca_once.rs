//! `parse-ca-once`: trusted certificates parsed once.

use super::{Intervention, Prediction, intervention};
use crate::intervention_counters::InterventionCounters;
use crate::treatment::Preload;

/// The shim of this step and of those that stand on it.
pub(super) const SHIM: &str = "tls-context";

intervention! {
    /// # parse-ca-once
    ///
    /// ## What it does
    /// Keeps the parsed contents of each file of trusted certificates. When the program loads the file again, and it
    /// has not changed on disk, the same certificates are added to the new context. Contexts are still created for each
    /// connection, and handshakes are still full; only the parsing goes away. Exactly the same certificates are trusted
    /// as before.
    ///
    /// ## What it reaches
    /// Programs that load OpenSSL's libssl (1.1.1 or 3) dynamically and load their certificates from a file. Not
    /// certificate directories, which are read one certificate at a time as needed; not certificates passed in memory;
    /// not GnuTLS, Go, Java, rustls or programs with OpenSSL linked in. If each request is a new process, each process
    /// still parses once, so nothing changes.
    ///
    /// ## How we know it took effect
    /// The shim counts the bundles that were loaded and those that were not parsed again.
    pub const PARSE_CA_ONCE: Intervention = Intervention {
        name: "parse-ca-once",
        summary: "parses each file of trusted certificates only once",
        predictions: &[Prediction::gains("P10")],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: SHIM, parameter: "parse-ca-once".into() });
            Ok(())
        },
        applied: took_effect,
    };
}

/// How often it changed something; why not, for this shim in particular.
pub(super) fn took_effect(counters: &InterventionCounters) -> Result<u64, String> {
    let seen = counters.shims.get(SHIM).is_some_and(|counts| counts.loaded > 0 && counts.seen == 0);
    if seen {
        return Err("the program does not load OpenSSL's libssl, or uses it only as a server".into());
    }
    counters.of_shim(SHIM)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intervention_counters::ShimCounts;

    #[test]
    fn a_program_without_the_library_is_distinguished_from_one_that_loads_once() {
        let outcome = |seen, changed| {
            let counts = ShimCounts { loaded: 1, seen, changed };
            took_effect(&InterventionCounters { shims: [(SHIM, counts)].into(), ..InterventionCounters::default() })
        };
        assert_eq!(outcome(10, 9), Ok(9));
        assert!(outcome(0, 0).is_err_and(|why| why.contains("OpenSSL")));
        assert!(outcome(1, 0).is_err_and(|why| why.contains("nothing to change")));
    }
}
