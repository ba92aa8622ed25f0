//! When threads of ours get a processor.

use broker::{Reply, Request, command_pid, reply};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

/// The shortest turn on a processor that the kernel gives.
const SHORTEST_TURN_NS: u64 = 100_000;

/// Nine times a usual thread's weight (1.25 a step): the drain takes up to half a processor, and gets it beside as many threads as
/// there are that are always runnable.
const FIRST: i32 = -10;

/// What a thread is changed to.
struct Attributes {
    flags: u64,
    nice: i32,
    turn_ns: u64,
}

/// Of a thread, 0 being the calling one.
fn set(thread: u32, attributes: &Attributes) -> io::Result<()> {
    let attributes = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: libc::SCHED_OTHER as u32,
        sched_flags: attributes.flags,
        sched_nice: attributes.nice,
        sched_priority: 0,
        sched_runtime: attributes.turn_ns,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: the kernel reads a value of ours, whose size it is told.
    match unsafe { libc::syscall(libc::SYS_sched_setattr, thread, &raw const attributes, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Short turns for the calling thread, which come sooner (Linux 6.12): whoever records waits for answers that take microseconds, and
/// its share stays the same. Older kernels pass over it.
pub(crate) fn take_short_turns() {
    let _ = set(0, &Attributes { flags: 0, nice: 0, turn_ns: SHORTEST_TURN_NS });
}

/// Lets a thread of the command's go before those of the usual kind, as long as it lives; what it starts does not.
#[derive(Serialize, Deserialize)]
pub(crate) struct Prefer {
    /// The thread.
    pub thread: u32,
}

impl Request for Prefer {
    const NAME: &'static str = "prefer";
    const CHECKS: &'static str = "a thread of the command's; one priority, which nothing inherits";
    type Answer = ();

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<()>> {
        if !Path::new(&format!("/proc/{}/task/{}", command_pid(), self.thread)).exists() {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        set(self.thread, &Attributes { flags: libc::SCHED_FLAG_RESET_ON_FORK as u64, nice: FIRST, turn_ns: 0 })?;
        reply(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use broker::ask;

    fn nice_of(thread: u32) -> i32 {
        // SAFETY: touches no memory.
        unsafe { libc::getpriority(libc::PRIO_PROCESS, thread) }
    }

    #[test]
    fn a_thread_that_is_preferred_starts_others_that_are_not() {
        if !nix::unistd::geteuid().is_root() {
            testing::skip("only root may prefer a thread");
            return;
        }
        let own = || nix::unistd::gettid().as_raw() as u32;
        let preferred = std::thread::spawn(move || {
            ask(Prefer { thread: own() }, &[]).expect("preferred");
            let of_child = std::thread::spawn(move || nice_of(own())).join().expect("a number");
            (nice_of(own()), of_child)
        });
        assert_eq!(preferred.join().expect("two numbers"), (FIRST, 0));
    }

    #[test]
    fn a_thread_of_another_program_is_not_preferred() {
        assert_eq!(ask(Prefer { thread: 1 }, &[]).err().and_then(|error| error.raw_os_error()), Some(libc::ESRCH));
    }
}
