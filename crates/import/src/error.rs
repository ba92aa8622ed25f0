//! What keeps logs from being read at all.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why logs cannot be read.
#[derive(Debug, Error)]
pub enum ImportError {
    /// A file cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is nothing to read.
    #[error("no log was found in {}", .0.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "))]
    NoFiles(Vec<PathBuf>),
    /// A file is in no format that is known.
    #[error("{} is in none of the known formats of access logs", .0.display())]
    NotALog(PathBuf),
    /// Nothing is appended to a file: it is packed, or none.
    #[error("{} cannot be followed: it is packed, or no regular file", .0.display())]
    NotFollowed(PathBuf),
    /// A file is no capture of packets.
    #[error("{} is neither pcap nor pcapng", .0.display())]
    NotACapture(PathBuf),
    /// A cube cannot be read or written.
    #[error(transparent)]
    Cube(#[from] case::CaseError),
    /// A question in SQL cannot be answered.
    #[error("{0}")]
    Question(String),
    /// A file of address ranges holds none.
    #[error("{} holds no address range", .0.display())]
    NoRanges(PathBuf),
}

impl ImportError {
    /// Says at which file the system refused something.
    pub fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> ImportError {
        let path = path.into();
        |source| ImportError::Io { path, source }
    }
}
