//! Starting the subject: made, put into its namespaces, held before its first instruction, then released.
//!
//! Promises: a held process has executed nothing of the program yet; a process that is never released goes away by
//! itself, also when whyslow is killed; a program that cannot be executed is reported as an error and never as an
//! exit status. The client is left alone whatever happens to us; a server that is tethered ends when we do.

mod c_string;
mod child;
mod environment;
mod network;
mod orphans;
mod rights;
mod root;
mod search;
mod streams;
mod surroundings;
pub mod trees;
mod try_tree;
mod user;
mod word;

use crate::RecordError;
pub(crate) use child::Plan;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;

pub use network::Network;
pub use orphans::{adopt_orphans, reap_orphans};
pub use root::Root;
pub use streams::{Input, Output};
pub use surroundings::Mount;
pub(crate) use try_tree::{TryTree, try_tree};
pub use user::User;
use word::Word;

/// What becomes of a program when whyslow ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ParentDeathSignal {
    /// Nothing: it runs on. It shares our terminal, and gets its signals.
    #[default]
    None,
    /// It gets SIGTERM. It has a session of its own and no input of ours, so that a terminal's Ctrl-C does not
    /// reach it first.
    Terminate,
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
    /// Its standard input.
    pub input: Input,
    /// Its standard output.
    pub output: Output,
    /// Its standard error.
    pub errors: Output,
    /// Variables of the environment that are set, or removed where there is no value, in this order.
    pub environment: Vec<(OsString, Option<OsString>)>,
    /// The folder that it starts in, entered as its user; none is ours. A command given by a relative path is found
    /// from there.
    pub folder: Option<PathBuf>,
    /// The processors that it may use; empty for any.
    pub processors: Vec<usize>,
    /// The tree of files that it sees as `/`; none is ours.
    pub root: Option<Root>,
    /// What is shown to it in the place of the files of its tree.
    pub mounts: Vec<Mount>,
    /// What becomes of it when we end.
    pub parent_death_signal: ParentDeathSignal,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Its exit status; none where a signal ended it.
    pub exit: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

/// A process made for a program and held before it executes it. Dropped unreleased, it goes away.
pub struct Held {
    /// None once it is released.
    process: Option<Running>,
    program: Program,
    /// Closed without a byte, as by our end, it makes the child go away.
    gate: Option<File>,
    words: File,
}

/// A program that runs.
pub struct Running {
    pid: u32,
    parent_death_signal: ParentDeathSignal,
    ended: Option<Ended>,
}

impl Program {
    /// Makes the process, in its namespaces, and holds it there.
    pub fn hold(&self) -> Result<Held, RecordError> {
        let (gate_read, gate_write) = pipe()?;
        let (words_read, words_write) = pipe()?;
        let (plan, streams) = Plan::of(self, [gate_write.as_raw_fd(), words_read.as_raw_fd()])?;
        let ends = [gate_read.as_fd(), words_write.as_fd()];
        let files = ends.into_iter().chain(streams.files.iter().flatten().map(AsFd::as_fd)).collect::<Vec<_>>();
        let made = broker::ask(plan, &files).map_err(RecordError::io("making a process"))?;
        let pid = made.answer.map_err(RecordError::from)?;
        drop((gate_read, words_write));
        let process = Running { pid, parent_death_signal: self.parent_death_signal, ended: None };
        let mut held = Held {
            process: Some(process),
            program: self.clone(),
            gate: Some(File::from(gate_write)),
            words: File::from(words_read),
        };
        match held.next_word()? {
            Some(word) if word.step == word::READY => Ok(held),
            Some(word) => Err(held.failed(word)),
            None => Err(RecordError::Io {
                action: format!("starting {}", self.arguments.join(" ")),
                source: std::io::Error::other("the new process ended before it began"),
            }),
        }
    }
}

impl Held {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.process.as_ref().map_or(0, Running::pid)
    }

    /// Lets it execute the program.
    pub fn release(mut self) -> Result<Running, RecordError> {
        if let Some(mut gate) = self.gate.take() {
            gate.write_all(&[1]).map_err(RecordError::io("releasing the held process"))?;
        }
        match self.next_word()? {
            Some(word) => Err(self.failed(word)),
            None => self.process.take().ok_or_else(|| RecordError::NotFound(String::new())),
        }
    }

    /// What the child has to say next; none once it executes the program (which closes its end) or has gone.
    fn next_word(&mut self) -> Result<Option<Word>, RecordError> {
        let mut bytes = [0_u8; Word::SIZE];
        match self.words.read_exact(&mut bytes) {
            Ok(()) => Ok(Some(Word::from_bytes(bytes))),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(RecordError::io("listening to the held process")(error)),
        }
    }

    fn failed(&self, word: Word) -> RecordError {
        let source = std::io::Error::from_raw_os_error(word.error);
        if word.step != word::EXECUTE {
            return RecordError::Io { action: word::describe(word.step, &self.program), source };
        }
        let name = self.program.arguments.first().cloned().unwrap_or_default();
        let reason = match word.error {
            libc::ENOENT => "the interpreter or loader that it names is missing".to_string(),
            libc::ENOEXEC => "neither a program nor a script that begins with #!".to_string(),
            _ => source.to_string(),
        };
        RecordError::NotExecutable { path: search::find(&name, &self.program).unwrap_or_else(|_| name.into()), reason }
    }
}

impl Drop for Held {
    /// Ends and collects the child, which has executed nothing of the program. Shutting the gate alone could leave it
    /// there: a process held later has inherited our end of it.
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.parent_death_signal = ParentDeathSignal::None;
            // Where it is root's still, and the broker that could signal it has gone, it goes by itself.
            drop(self.gate.take());
            process.signal(libc::SIGKILL);
            process.wait();
        }
    }
}

impl Running {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// How it ended, where it has.
    pub fn poll(&mut self) -> Result<Option<Ended>, RecordError> {
        if self.ended.is_none() {
            self.ended = collect(self.pid, libc::WNOHANG).map_err(RecordError::io("waiting for the program"))?;
        }
        Ok(self.ended)
    }

    /// Sends it a signal, unless it has ended.
    pub fn signal(&self, signal: i32) {
        if self.ended.is_none() {
            send(self.pid as libc::pid_t, signal);
        }
    }

    /// Sends a signal to it and to all of its process group. For tethered programs only, which have one of their own.
    pub fn signal_group(&self, signal: i32) {
        if self.parent_death_signal == ParentDeathSignal::Terminate {
            send(-(self.pid as libc::pid_t), signal);
        }
    }

    fn wait(&mut self) {
        if self.ended.is_none() {
            self.ended = collect(self.pid, 0).ok().flatten();
        }
    }
}

impl Drop for Running {
    /// A tethered program does not outlive its handle.
    fn drop(&mut self) {
        if self.ended.is_none() {
            self.signal_group(libc::SIGTERM);
        }
    }
}

/// Sends a signal to a process that is not one of ours by birth: an adopted part of a server.
pub fn send_signal(pid: u32, signal: i32) {
    send(pid as libc::pid_t, signal);
}

fn send(pid: libc::pid_t, signal: i32) {
    // SAFETY: kill takes numbers only. That the target has gone meanwhile is no error to us.
    let is_refused =
        unsafe { libc::kill(pid, signal) } != 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::EPERM);
    if is_refused && broker::has_dropped() {
        // It has become another user.
        let _ = broker::ask(broker::Signal { pid: pid.unsigned_abs(), to_group: pid < 0, signal }, &[]);
    }
}

/// Collects the exit of a child: none where it still runs.
fn collect(pid: u32, flags: i32) -> std::io::Result<Option<Ended>> {
    let mut status = 0;
    loop {
        // SAFETY: `status` outlives the call.
        let got = unsafe { libc::waitpid(pid as libc::pid_t, &raw mut status, flags) };
        if got > 0 {
            return Ok(Some(ended(status)));
        }
        let error = std::io::Error::last_os_error();
        match error.raw_os_error() {
            _ if got == 0 => return Ok(None),
            Some(libc::EINTR) => {}
            _ => return Err(error),
        }
    }
}

/// A status as `wait` reports it.
fn ended(status: i32) -> Ended {
    if libc::WIFSIGNALED(status) {
        Ended { exit: None, signal: Some(libc::WTERMSIG(status)) }
    } else {
        Ended { exit: Some(libc::WEXITSTATUS(status)), signal: None }
    }
}

/// A pipe whose ends no other program inherits.
fn pipe() -> Result<(OwnedFd, OwnedFd), RecordError> {
    let ends = nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC);
    ends.map_err(|error| RecordError::io("making a pipe")(error.into()))
}

#[cfg(test)]
mod tests;
