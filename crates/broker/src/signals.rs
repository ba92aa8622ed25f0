//! Signals to processes of a subject that has become another user.

use crate::request::{Reply, Request, reply};
use crate::watched::check_subject;
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Asks for a signal to be sent to a process, or to the process group that it leads.
#[derive(Serialize, Deserialize)]
pub struct Signal {
    /// The process.
    pub pid: u32,
    /// Whether its process group gets it too.
    pub to_group: bool,
    /// The signal's number.
    pub signal: i32,
}

/// A process that is held: whoever gets its id after its end is not reached.
pub struct Handle(OwnedFd);

impl Handle {
    /// Holds the one that has this id now (pidfd, Linux 5.3).
    ///
    /// # Errors
    /// Where there is none, or the kernel has no such handles.
    pub fn open(pid: u32) -> io::Result<Handle> {
        let pid = libc::pid_t::try_from(pid).ok().filter(|pid| *pid > 1);
        let pid = pid.ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
        // SAFETY: numbers only.
        let handle = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        if handle < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a new descriptor, which nobody else owns.
        Ok(Handle(unsafe { OwnedFd::from_raw_fd(handle as i32) }))
    }

    /// Sends it a signal.
    ///
    /// # Errors
    /// Where it has ended, or is another user's.
    pub fn send(&self, signal: i32) -> io::Result<()> {
        let nothing = std::ptr::null::<libc::siginfo_t>();
        // SAFETY: numbers and a null, which stands for the usual information.
        let sent = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, self.0.as_raw_fd(), signal, nothing, 0) };
        if sent == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

impl Request for Signal {
    const NAME: &'static str = "signal";
    const CHECKS: &'static str =
        "the process is the subject's; by a pidfd, so that none that gets its id meanwhile is reached";
    type Answer = ();

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<()>> {
        let handle = Handle::open(self.pid)?;
        // After it is held: it cannot become another's any more.
        check_subject(self.pid)?;
        if !self.to_group {
            handle.send(self.signal)?;
            return reply(());
        }
        // SAFETY: numbers only. The group is that of a process which is held.
        let sent = unsafe { libc::kill(-(self.pid as libc::pid_t), self.signal) };
        if sent == 0 { reply(()) } else { Err(io::Error::last_os_error()) }
    }
}
