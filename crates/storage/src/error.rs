//! What can go wrong with a case.

use std::path::{Path, PathBuf};

/// Why a case cannot be written or read. Every variant names the path it is about.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// The folder already exists; a case is never overwritten.
    #[error("{0} already exists, and a case is never overwritten")]
    Exists(PathBuf),
    /// The folder holds no manifest: it is not a case.
    #[error("{0} is not a case: it has no manifest.json")]
    NotACase(PathBuf),
    /// Nothing was ever watched into the folder.
    #[error("nothing was watched into {0}")]
    NoHistory(PathBuf),
    /// The case was written by another version of the schema.
    #[error("{path} has schema {found}; this whyslow reads schema {expected}")]
    Schema {
        /// The case.
        path: PathBuf,
        /// The schema number in its manifest.
        found: u32,
        /// The schema number this version writes.
        expected: u32,
    },
    /// A file of the case is damaged.
    #[error("{path} is damaged: {reason}")]
    Damaged {
        /// The damaged file.
        path: PathBuf,
        /// What the reader found.
        reason: String,
    },
    /// The operating system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl CaseError {
    /// Attaches the path to an I/O error.
    pub fn io(path: &Path) -> impl FnOnce(std::io::Error) -> CaseError {
        let path = path.to_path_buf();
        move |source| CaseError::Io { path, source }
    }

    /// Says that a file is damaged, and how it was noticed.
    pub fn damaged(path: &Path, reason: &dyn std::fmt::Display) -> CaseError {
        CaseError::Damaged { path: path.to_path_buf(), reason: reason.to_string() }
    }
}
