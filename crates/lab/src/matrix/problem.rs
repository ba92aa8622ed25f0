//! Why there is no such version to run on.

use case::VersionState;
use std::path::{Path, PathBuf};

/// What ends the work on a version.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The user wants an end: of everything.
    Interrupted,
    /// Something failed, for this version alone.
    Failed(Problem),
}

/// What failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// What became of the version by that.
    pub state: VersionState,
    /// A sentence.
    pub why: String,
    /// The last lines of what failed.
    pub last_lines: Vec<String>,
    /// All of its lines; empty where there is no such file.
    pub log: PathBuf,
}

impl Fault {
    /// Of something that could not be fetched.
    pub fn fetching(why: impl Into<String>) -> Fault {
        Fault::Failed(Problem { state: VersionState::NotFetched, why: why.into(), ..Problem::default() })
    }

    /// Of something that could not be built.
    pub fn building(why: impl Into<String>) -> Fault {
        Fault::Failed(Problem { state: VersionState::NotBuilt, why: why.into(), ..Problem::default() })
    }

    /// Of a file or folder that could not be made, written, read or removed.
    pub fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Fault {
        move |error| Fault::building(format!("{}: {error}", path.display()))
    }
}
