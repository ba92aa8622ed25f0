//! A history: what services did, interval by interval, for as long as anybody wants to know. A folder that several watchers write
//! at the same time, each in a folder of its own.
//!
//! Promises: what was appended is there after a crash or `kill -9` (a torn end is passed over); a year of a service takes some
//! megabytes, since old intervals are joined to longer ones ([`Resolution`]); the sums of counts and times stay the same when they are.

mod read;
mod resolution;
mod sample;
mod write;

pub use read::read_history;
pub use resolution::Resolution;
pub use sample::ServiceSample;
pub use write::HistoryWriter;

use crate::error::CaseError;
use std::path::{Path, PathBuf};

/// The stream that a watcher appends to.
const OPEN: &str = "open.arrows";
/// The file that is locked as long as a watcher lives.
const LOCK: &str = "lock";
/// So many watchers write to one history at a time.
const MOST_WATCHERS: usize = 256;

/// The folder of a watcher, counted from 0.
fn folder_of(history: &Path, watcher: usize) -> PathBuf {
    history.join(format!("watcher-{watcher}"))
}

fn io(path: &Path) -> impl FnOnce(std::io::Error) -> CaseError + '_ {
    CaseError::io(path)
}

#[cfg(test)]
mod tests;
