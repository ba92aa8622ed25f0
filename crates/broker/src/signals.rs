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

impl Request for Signal {
    const NAME: &'static str = "signal";
    const CHECKS: &'static str =
        "the process is the subject's; by a pidfd, so that none that gets its id meanwhile is reached";
    type Answer = ();

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<()>> {
        let pid = libc::pid_t::try_from(self.pid).ok().filter(|pid| *pid > 1);
        let pid = pid.ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
        // SAFETY: numbers only.
        let handle = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        if handle < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a new descriptor, which nobody else owns.
        let handle = unsafe { OwnedFd::from_raw_fd(handle as i32) };
        // After it is held: it cannot become another's any more.
        check_subject(self.pid)?;
        let nothing = std::ptr::null::<libc::siginfo_t>();
        // SAFETY: numbers and a null, which stands for the usual information. The group is that of a process which is held.
        let sent = unsafe {
            if self.to_group {
                libc::c_long::from(libc::kill(-pid, self.signal))
            } else {
                libc::syscall(libc::SYS_pidfd_send_signal, handle.as_raw_fd(), self.signal, nothing, 0)
            }
        };
        if sent == 0 { reply(()) } else { Err(io::Error::last_os_error()) }
    }
}
