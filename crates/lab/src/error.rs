//! Why a subject cannot be set into its world.

use crate::link::LinkError;
use record::{Ended, RecordError};
use std::path::PathBuf;
use std::time::Duration;

/// What went wrong, in terms a user can act on. The binary adds the command to try.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The link between client and server was not made.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// A program was not started, or a BPF program not attached.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The world is described wrongly, or asks for something that this machine does not have.
    #[error("{0}")]
    World(String),
    /// A link leads nowhere.
    #[error("a link needs a server at its other end")]
    NoServer,
    /// A whole world could not be made or entered.
    #[error("{why}")]
    NoWorld {
        /// Its name, or what was to be done with it.
        world: String,
        /// What stands in the way.
        why: String,
        /// The command to try.
        remedy: String,
    },
    /// The kernel did not accept what the world asks for.
    #[error("{what}: asked for `{asked}`, but the kernel shows `{shown}`")]
    NotTaken {
        /// What was set: a sysctl, a route, a limit.
        what: String,
        /// What it was set to.
        asked: String,
        /// What it is.
        shown: String,
    },
    /// There is no folder in which undos can be kept.
    #[error("cannot write an undo journal: {0}")]
    NoJournal(String),
    /// A file or folder of ours could not be made, written, read or removed.
    #[error("{path}: {source}")]
    Io {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A server ended before it listened.
    #[error("the server `{command}` never listened")]
    ServerEnded {
        /// Its command.
        command: String,
        /// How it ended.
        ended: Ended,
    },
    /// A server runs and does not listen.
    #[error("the server `{command}` never listened")]
    ServerSilent {
        /// Its command.
        command: String,
        /// How long whyslow waited.
        waited: Duration,
    },
    /// A server that had listened did not come up again, for a trial.
    #[error("the server `{command}` did not start again: {said}")]
    ServerGone {
        /// Its command.
        command: String,
        /// What it said last, or how it ended.
        said: String,
    },
    /// The build of a commit failed.
    #[error("its build failed with {how}; last output: {last} (full log: {log})")]
    NotBuilt {
        /// Its short hash.
        commit: String,
        /// The status or signal it ended with.
        how: String,
        /// Its last lines of output, with bars between them.
        last: String,
        /// The file with all of its output.
        log: PathBuf,
    },
    /// The user gave up while the server was starting.
    #[error("interrupted while the server was starting")]
    Interrupted,
}

impl LabError {
    /// Attaches the file to an I/O error.
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> LabError {
        let path = path.into();
        move |source| LabError::Io { path, source }
    }
}
