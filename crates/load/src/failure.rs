//! Why a load could not begin.

use std::path::PathBuf;

/// Why a load could not begin.
#[derive(Debug, thiserror::Error)]
pub enum LoadFailure {
    /// URLs differ in more than their path.
    #[error("all URLs of a load are on one server: same scheme, host and port")]
    SeveralServers,
    /// The name has no address.
    #[error("`{host}` cannot be looked up: {error}")]
    LookUp {
        /// The name.
        host: String,
        /// What the resolver says.
        error: String,
    },
    /// The certificates to trust cannot be read.
    #[error("{file}: {error}", file = file.display())]
    Authorities {
        /// The file.
        file: PathBuf,
        /// Why.
        error: String,
    },
    /// The histogram of another load cannot be read.
    #[error("{file}: {error}", file = file.display())]
    Histogram {
        /// The file.
        file: PathBuf,
        /// Why.
        error: String,
    },
    /// A log holds no request that could be made again.
    #[error("{file} holds no request to make again ({left_out} lines were left out)", file = file.display())]
    NothingToReplay {
        /// The log.
        file: PathBuf,
        /// Lines that were left out.
        left_out: u64,
    },
    /// TLS cannot be set up.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
    /// The system refuses what every load needs.
    #[error("the system refuses what a load needs: {0}")]
    System(#[from] std::io::Error),
}
