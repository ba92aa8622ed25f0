//! `kept-algorithms`: OpenSSL 3 looks each algorithm up once.

use super::{Intervention, Prediction, intervention};
use crate::treatment::Preload;

/// What the shim is called.
const SHIM: &str = "kept-algorithms";

intervention! {
    /// # kept-algorithms
    ///
    /// ## What it does
    /// Keeps what EVP_MD_fetch, EVP_MAC_fetch and their kin have found, and hands it out again for the same name and
    /// properties. Where a provider comes or goes, or default properties change, all is looked up anew.
    ///
    /// ## What it reaches
    /// Dynamically linked programs with OpenSSL 3, and what the library fetches for itself where it calls its own functions
    /// through the linker's table, as Debian's does. Not a libcrypto that is linked with -Bsymbolic or statically.
    ///
    /// ## How we know it took effect
    /// The shim counts the look-ups that it spared.
    ///
    /// ## What it cannot prove
    /// What a later OpenSSL would gain: it still copies names and takes the locks of what is not looked up.
    pub const KEPT_ALGORITHMS: Intervention = Intervention {
        name: "kept-algorithms",
        summary: "has OpenSSL look each algorithm up once",
        predictions: &[Prediction::gains("P12")],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: SHIM, parameter: "on".into() });
            Ok(())
        },
        applied: |counters| counters.of_shim(SHIM),
    };
}
