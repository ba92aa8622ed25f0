//! Servers that turn themselves into daemons leave the process that we started and would be nobody's child. While a
//! server runs, whyslow adopts such orphans, so that they can be found and stopped.

use crate::listening::{ProcessStat, children};

/// From now on, descendants whose parent ends become our children.
pub fn adopt_orphans() {
    // SAFETY: prctl with numbers only. An old kernel refuses; then daemons are not found, and nothing else changes.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
}

/// Collects adopted children that have ended, among processes that were looked at, so that they do not stay behind as zombies.
/// Children whose ids are in `ours` are left to those who wait for them.
pub fn reap_orphans(running: &[ProcessStat], ours: &[u32]) {
    let ended = children(running, std::process::id());
    for process in ended.into_iter().filter(|process| process.is_zombie() && !ours.contains(&process.pid)) {
        // SAFETY: a null status is allowed, and the id is that of a child of ours that has ended.
        unsafe { libc::waitpid(process.pid as libc::pid_t, std::ptr::null_mut(), libc::WNOHANG) };
    }
}
