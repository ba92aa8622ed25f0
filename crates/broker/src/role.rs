//! Which of the two roles this process has, and how the command reaches the broker.

use crate::message;
use nix::unistd::getpid;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The broker of this process, for the command; unset without one, and in the broker.
pub(crate) static BROKER: OnceLock<Broker> = OnceLock::new();
/// The command's process, for the broker.
pub(crate) static COMMAND: OnceLock<u32> = OnceLock::new();
/// What the command may ask for, for the broker.
pub(crate) static ALLOWED: OnceLock<Allowed> = OnceLock::new();
/// Whether the command has become another user.
pub(crate) static DROPPED: OnceLock<()> = OnceLock::new();

/// Whom the command becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

/// What is settled before the division, by the words that whyslow was started with.
#[derive(Clone, Debug, Default)]
pub struct Allowed {
    /// Whom the command becomes; none where it stays root.
    pub becomes: Option<Identity>,
    /// Whom else it may start programs as.
    pub others: Vec<Identity>,
    /// Running processes that it may look into.
    pub named: Vec<u32>,
    /// Control groups, by their paths in the hierarchy: all processes in them it may look into, also those to come.
    pub groups: Vec<PathBuf>,
}

/// The other process, as the command reaches it.
pub(crate) struct Broker {
    pub(crate) pid: u32,
    /// None once it was dismissed.
    pub(crate) socket: Mutex<Option<OwnedFd>>,
}

impl Broker {
    /// Sends a request and waits for what comes back. One at a time.
    pub fn exchange(&self, bytes: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
        let socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = || io::Error::new(io::ErrorKind::BrokenPipe, "the part of whyslow that is root has ended");
        let socket = socket.as_ref().ok_or_else(gone)?;
        message::send(socket.as_fd(), bytes, files).map_err(|error| match error.raw_os_error() {
            Some(libc::EPIPE | libc::ECONNRESET) => gone(),
            _ => error,
        })?;
        message::receive(socket.as_fd())?.ok_or_else(gone)
    }
}

pub(crate) fn broker() -> Option<&'static Broker> {
    BROKER.get()
}

/// Whether this process is the broker.
pub fn is_broker() -> bool {
    COMMAND.get().is_some()
}

/// Whom the command has become, in the broker; none where it is root.
pub fn becomes() -> Option<Identity> {
    ALLOWED.get()?.becomes
}

/// Whether a program may be started as this user.
///
/// # Errors
/// Where nobody has named it.
pub fn check_user(user: Identity) -> io::Result<()> {
    let is_allowed =
        |allowed: &Allowed| allowed.becomes.is_none_or(|becomes| becomes == user) || allowed.others.contains(&user);
    let is_allowed = ALLOWED.get().is_none_or(is_allowed);
    if is_allowed { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::EPERM)) }
}

/// Whether the command is root itself.
///
/// # Errors
/// Where it is another user.
pub fn check_root() -> io::Result<()> {
    if becomes().is_none() { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::EPERM)) }
}

/// The broker's process, seen from the command.
pub fn broker_pid() -> Option<u32> {
    BROKER.get().map(|broker| broker.pid)
}

/// The command's process, in either role: whoever looks for whyslow finds this one.
pub fn command_pid() -> u32 {
    COMMAND.get().copied().unwrap_or_else(|| getpid().as_raw() as u32)
}

/// Whether the command is another user's than root's, and what needs root is the broker's.
pub fn has_dropped() -> bool {
    DROPPED.get().is_some()
}

/// Whether requests are carried out as root.
pub fn acts_as_root() -> bool {
    BROKER.get().is_some() || nix::unistd::geteuid().is_root()
}

/// Lets the broker end, and waits for that: what it holds in the kernel is gone then.
pub fn dismiss() {
    let Some(broker) = BROKER.get() else { return };
    if broker.socket.lock().unwrap_or_else(PoisonError::into_inner).take().is_some() {
        let _ = nix::sys::wait::waitpid(nix::unistd::Pid::from_raw(broker.pid as i32), None);
    }
}
