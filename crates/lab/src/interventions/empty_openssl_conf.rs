//! `empty-openssl-conf`: OpenSSL starts without a configuration.

use super::{Intervention, Prediction, intervention};

/// The variable that names OpenSSL's configuration, and a file in which nothing stands.
const FILE: (&str, &str) = ("OPENSSL_CONF", "/dev/null");

intervention! {
    /// # empty-openssl-conf
    ///
    /// ## What it does
    /// Has OpenSSL read an empty configuration (`OPENSSL_CONF=/dev/null`): no engines, no providers but the default one,
    /// no names, no self-tests.
    ///
    /// ## What it reaches
    /// Programs that use OpenSSL and its default configuration. Not those that name a file themselves, or run with more
    /// rights than who started them.
    ///
    /// ## How we know it took effect
    /// The variable is in the environment of the programs. What a program itself reads counts for more and is not seen: so a
    /// gain proves the cause, and where there is none it is left open.
    ///
    /// ## What it cannot prove
    /// That the program can do without: one that needs a provider of the configuration fails, and then nothing is proved.
    pub const EMPTY_OPENSSL_CONF: Intervention = Intervention {
        name: "empty-openssl-conf",
        summary: "has OpenSSL start with an empty configuration",
        predictions: &[
            Prediction::gains("P16").refutes_nothing("a configuration that the program itself names counts for more"),
            Prediction::does_nothing("P12"),
        ],
        treat: |_, treatment| {
            treatment.environment.push((FILE.0.to_string(), Some(FILE.1.to_string())));
            Ok(())
        },
        applied: |_| Ok(1),
    };
}
