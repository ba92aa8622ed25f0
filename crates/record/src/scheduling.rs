//! When threads of ours get a processor.

use crate::clock::now;
use broker::{Reply, Request, command_pid, reply};
use case::Nanos;
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

/// The shortest turn on a processor that the kernel gives.
const SHORTEST_TURN_NS: u64 = 100_000;

/// Nine times a usual thread's weight (1.25 a step): the drain takes up to half a processor, and gets it beside as many threads as
/// there are that are always runnable.
const FIRST: i32 = -10;

/// The lowest priority of those before all usual threads.
const BEFORE_USUAL: u32 = 1;

/// How long the drain may find the ring not empty before it is asked why: two of its periods, in each of which it should empty it.
const BEHIND: Nanos = Nanos(40_000_000);

/// Who waits for one part in so many of the time that it runs could catch up by as much.
const WAITS: u64 = 5;

/// What a thread is changed to.
#[derive(Default)]
struct Attributes {
    policy: i32,
    flags: u64,
    nice: i32,
    priority: u32,
    turn_ns: u64,
}

/// Of a thread, 0 being the calling one.
fn set(thread: u32, attributes: &Attributes) -> io::Result<()> {
    let attributes = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: attributes.policy as u32,
        sched_flags: attributes.flags,
        sched_nice: attributes.nice,
        sched_priority: attributes.priority,
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
    let _ = set(0, &Attributes { turn_ns: SHORTEST_TURN_NS, ..Attributes::default() });
}

/// Whether a thread that does not catch up with its work waits for a processor, rather than having too much to do.
#[derive(Default)]
pub(crate) struct Starvation {
    /// Since when it has not, and its time by then: on a processor, and waiting for one.
    behind: Option<(Nanos, [u64; 2])>,
}

impl Starvation {
    /// Whether the calling thread has been behind for too long, and waited for a good part of that.
    pub fn is_there(&mut self, has_caught_up: bool) -> bool {
        if has_caught_up {
            self.behind = None;
            return false;
        }
        let time = time_of_this_thread();
        let (since, before) = *self.behind.get_or_insert((now(), time));
        let [ran, waited] = [0, 1].map(|of| time[of].saturating_sub(before[of]));
        now() - since >= BEHIND && waited * WAITS > ran
    }
}

/// How long the calling thread was on a processor, and waited for one (nanoseconds; both 0 where the kernel does not tell).
fn time_of_this_thread() -> [u64; 2] {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let mut numbers = text.split_whitespace().map(|word| word.parse().unwrap_or_default());
    [numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default()]
}

/// Lets a thread of the command's go before those of the usual kind, as long as it lives; what it starts does not.
#[derive(Serialize, Deserialize)]
pub(crate) struct Prefer {
    /// The thread.
    pub thread: u32,
    /// Whether it goes before all of them, and not just gets more of a processor than each. The kernel shares processors among
    /// sessions first, as a rule (autogroups, sched(7)), and a server has one of its own: beside two of those a thread has a fifth
    /// of a processor, whatever its weight is in its own session.
    pub before_all: bool,
}

impl Request for Prefer {
    const NAME: &'static str = "prefer";
    const CHECKS: &'static str = "a thread of the command's; one of two priorities, which nothing inherits";
    type Answer = ();

    fn carry_out(self, _: Vec<OwnedFd>) -> io::Result<Reply<()>> {
        if !Path::new(&format!("/proc/{}/task/{}", command_pid(), self.thread)).exists() {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        let usual = Attributes { flags: libc::SCHED_FLAG_RESET_ON_FORK as u64, ..Attributes::default() };
        let preferred = if self.before_all {
            Attributes { policy: libc::SCHED_RR, priority: BEFORE_USUAL, ..usual }
        } else {
            Attributes { nice: FIRST, ..usual }
        };
        set(self.thread, &preferred)?;
        reply(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use broker::ask;

    /// The calling thread's policy and nice value.
    fn how() -> (i32, i32) {
        // SAFETY: they touch no memory.
        let (policy, nice) = unsafe { (libc::sched_getscheduler(0), libc::getpriority(libc::PRIO_PROCESS, 0)) };
        (policy & !libc::SCHED_RESET_ON_FORK, nice)
    }

    #[test]
    fn a_thread_that_is_preferred_starts_others_that_are_not() {
        if !nix::unistd::geteuid().is_root() {
            testing::skip("only root may prefer a thread");
            return;
        }
        for before_all in [false, true] {
            let preferred = std::thread::spawn(move || {
                let thread = nix::unistd::gettid().as_raw() as u32;
                ask(Prefer { thread, before_all }, &[]).expect("preferred");
                (how(), std::thread::spawn(how).join().expect("an answer"))
            });
            let ((policy, nice), (of_child, nice_of_child)) = preferred.join().expect("two answers");
            // Before all others it does not matter how nice it is.
            assert!(if before_all { policy == libc::SCHED_RR } else { (policy, nice) == (libc::SCHED_OTHER, FIRST) });
            assert!(of_child == libc::SCHED_OTHER && nice_of_child >= 0, "{of_child} {nice_of_child}");
        }
    }

    #[test]
    fn whoever_has_caught_up_or_need_not_wait_does_not_starve() {
        let mut starvation = Starvation::default();
        assert!(!starvation.is_there(true) && !starvation.is_there(false));
        // Far behind, and it has not waited since.
        starvation.behind = Some((Nanos(0), [0, u64::MAX]));
        assert!(!starvation.is_there(false));
        // As far, and it was kept waiting, if only for a moment: it has not run since.
        let [ran, waited] = time_of_this_thread();
        starvation.behind = Some((Nanos(0), [ran + 1_000_000_000, waited.saturating_sub(1)]));
        assert_eq!(starvation.is_there(false), waited > 0);
        assert!(!starvation.is_there(true) && starvation.behind.is_none());
    }

    #[test]
    fn a_thread_of_another_program_is_not_preferred() {
        assert_eq!(
            ask(Prefer { thread: 1, before_all: false }, &[]).err().and_then(|error| error.raw_os_error()),
            Some(libc::ESRCH)
        );
    }
}
