//! Why feeds cannot be refreshed.

use crate::failure::LoadFailure;
use std::path::PathBuf;

/// Why feeds cannot be refreshed.
#[derive(Debug, thiserror::Error)]
pub enum FeedsFailure {
    /// The list, or a file of hosts, cannot be read.
    #[error("{file}: {error}", file = file.display())]
    Unread {
        /// The file.
        file: PathBuf,
        /// Why.
        error: String,
    },
    /// The list names no feed.
    #[error("{file} names no feed", file = .0.display())]
    NoFeeds(PathBuf),
    /// Another process uses the database.
    #[error("{file} is in use", file = .0.display())]
    Busy(PathBuf),
    /// The database cannot be opened, read or written.
    #[error("{file}: {error}", file = file.display())]
    Database {
        /// The file.
        file: PathBuf,
        /// Why.
        error: String,
    },
    /// No round is kept.
    #[error("{file} keeps no round", file = .0.display())]
    NoRounds(PathBuf),
    /// What every load needs as well.
    #[error(transparent)]
    Load(#[from] LoadFailure),
    /// The system refuses what a round needs.
    #[error("the system refuses what a round needs: {0}")]
    System(#[from] std::io::Error),
}
