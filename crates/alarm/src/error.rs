//! What is wrong with a file of rules.

use std::path::PathBuf;

/// Why rules cannot be used. No secret is in any of these.
#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    /// The file cannot be read.
    #[error("{}: {error}", .file.display())]
    Unread {
        /// The file.
        file: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// It is not what it should be.
    #[error("{}: {why}", .file.display())]
    Invalid {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        why: String,
    },
}
