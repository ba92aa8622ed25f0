//! The recorder as its user sees it: start it, tell it whom to follow, finish it.

use crate::RecordError;
use case::{Case, Manifest};
use std::path::Path;

/// What to record.
#[derive(Clone, Debug)]
pub struct Options {
    /// CPU samples a second on each processor; 0 takes none.
    pub sampling_hertz: u32,
    /// Most bytes that the tables may take on disk while recording; events beyond are counted as lost.
    pub size_limit: u64,
}

impl Default for Options {
    fn default() -> Options {
        // 997 is prime, so that samples do not run in step with timers; 512 MiB holds about 20 million events.
        Options { sampling_hertz: 997, size_limit: 512 << 20 }
    }
}

/// Whose process it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The subject's command.
    Client,
    /// The command given by `--server`.
    Server,
}

/// How far a recording has got.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Rows recorded.
    pub events: u64,
    /// Events lost.
    pub lost: u64,
    /// Requests (first bytes out after bytes in) seen so far on the client's connections.
    pub requests: u64,
}

/// A recording under way.
pub struct Recorder {}

impl Recorder {
    /// Loads the recorder into the kernel and makes the case. Nothing is followed yet.
    pub fn start(folder: &Path, manifest: Manifest, options: &Options) -> Result<Recorder, RecordError> {
        let _ = (folder, manifest, options);
        Err(RecordError::NotPrivileged { missing: String::new(), uid: 0 })
    }

    /// Follows a process that has not begun its program yet, and all its children to be.
    pub fn follow(&self, pid: u32, role: Role) -> Result<(), RecordError> {
        let _ = (pid, role);
        Ok(())
    }

    /// How far it has got.
    pub fn progress(&self) -> Progress {
        Progress::default()
    }

    /// Stops recording, resolves symbols, lets `complete` fill in the manifest, and closes the case.
    pub fn finish(self, complete: impl FnOnce(&mut Manifest)) -> Result<Case, RecordError> {
        let _ = complete;
        Err(RecordError::NotPrivileged { missing: String::new(), uid: 0 })
    }
}
