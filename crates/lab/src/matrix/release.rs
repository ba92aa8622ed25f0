//! One version of a library as a registry has it.

/// A package of the registry that carries a version of upstream's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// Upstream's version.
    pub upstream: String,
    /// The package's: `300.0.5+3.0.2`.
    pub version: String,
    /// The SHA-256 of its file.
    pub checksum: String,
    /// Whether it was withdrawn.
    pub is_yanked: bool,
}
