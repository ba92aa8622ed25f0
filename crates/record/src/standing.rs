//! Where a thread stands that runs already: on a processor, or off it since before it was watched, and in which call.

use crate::calls;
use crate::events::{ThreadState, begun};
use crate::peer;
use case::tables::reason;
use std::fs;

/// What /proc tells of a thread at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Whether it is on a processor, or waits for one.
    pub runs: bool,
    /// Whether a signal cannot end its waiting: as a rule it waits for a disk.
    pub uninterruptible: bool,
    /// The call it is blocked in.
    pub call: Option<StandingCall>,
    /// How often it was put on a processor so far. None where the kernel does not count.
    turns: Option<u64>,
}

/// A call that a thread is blocked in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandingCall {
    /// Its number.
    pub number: u32,
    /// Its first arguments.
    pub arguments: [u64; 5],
    /// The thread's stack pointer in user mode.
    pub stack_pointer: u64,
}

impl Standing {
    /// Looks at a thread; none where it is gone.
    pub fn look(pid: u32, tid: u32) -> Option<Standing> {
        let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/task/{tid}/{name}"));
        let turns = read("schedstat").ok().and_then(|line| line.split_whitespace().nth(2)?.parse().ok());
        // The kernel looks at a thread's call only while the thread stays off the processor.
        let call = peer::call(pid, tid);
        let stat = read("stat").ok()?;
        let state = stat.rsplit_once(')')?.1.trim_start().chars().next()?;
        if matches!(state, 'Z' | 'X' | 'x') {
            return None;
        }
        let runs = if call.is_empty() { state == 'R' } else { call.starts_with("running") };
        Some(Standing { runs, uninterruptible: state == 'D', call: parse_call(&call), turns })
    }

    /// What the kernel side is to know of a thread that has stood so since `now`.
    pub fn state(&self, pid: u32, now: u64) -> ThreadState {
        let state = ThreadState { pid, begun: begun::ENTERED, ..ThreadState::default() };
        if self.runs {
            return ThreadState { on_since: now, ..state };
        }
        let reason = if self.uninterruptible { reason::UNINTERRUPTIBLE } else { reason::BLOCKED };
        let off = ThreadState { off_since: now, reason: u16::from(reason), ..state };
        let recorded = |call: &&StandingCall| calls::is_followed(call.number);
        match self.call.as_ref().filter(recorded) {
            Some(call) => ThreadState {
                entered: now,
                recorded_calls: 1,
                number: call.number,
                arguments: call.arguments,
                stack_pointer: call.stack_pointer,
                ..off
            },
            None => off,
        }
    }

    /// Whether what was seen `before` the thread was given to the kernel side still held then: either nothing has
    /// happened since, as `self` shows, or what has happened was seen, as the kernel side's `entry` shows.
    pub fn confirms(&self, before: &Standing, entry: &ThreadState) -> bool {
        if before.runs {
            return self.runs || entry.off_since > 0 || entry.calls > 0;
        }
        let has_not_moved = !self.runs && self.turns == before.turns && self.call == before.call;
        has_not_moved || entry.on_since > 0 || entry.calls > 0
    }
}

/// The line is `running`, `-1 SP PC` for a thread blocked outside calls, or number, six arguments, SP and PC.
fn parse_call(line: &str) -> Option<StandingCall> {
    let mut words = line.split_whitespace();
    let number = words.next()?.parse().ok()?;
    let values: Vec<u64> =
        words.map(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16)).collect::<Result<_, _>>().ok()?;
    let (arguments, stack_pointer) = (values.first_chunk::<5>()?, values.get(6)?);
    Some(StandingCall { number, arguments: *arguments, stack_pointer: *stack_pointer })
}

#[cfg(test)]
mod tests {
    use super::*;

    const IN_READ: &str = "0 0x3 0x7f10 0x400 0x0 0x0 0x0 0x7ffd1000 0x7f2000\n";

    fn standing(runs: bool, call: &str, turns: u64) -> Standing {
        Standing { runs, uninterruptible: false, call: parse_call(call), turns: Some(turns) }
    }

    #[test]
    fn a_blocked_call_is_read_with_its_arguments() {
        let call = parse_call(IN_READ).expect("a call");
        assert_eq!((call.number, call.arguments, call.stack_pointer), (0, [3, 0x7f10, 0x400, 0, 0], 0x7ffd_1000));
        for other in ["running\n", "-1 0x7ffd1000 0x7f2000\n", "", "0 0x3"] {
            assert_eq!(parse_call(other), None, "{other}");
        }
    }

    #[test]
    fn a_thread_blocked_in_a_call_counts_as_in_it_from_now_on() {
        let state = standing(false, IN_READ, 1).state(7, 100);
        assert_eq!((state.entered, state.off_since, state.on_since, state.arguments[0]), (100, 100, 0, 3));
        let elsewhere = standing(false, "-1 0x1 0x2", 1).state(7, 100);
        assert_eq!((elsewhere.entered, elsewhere.off_since), (0, 100));
        let running = standing(true, "running", 1).state(7, 100);
        assert_eq!((running.entered, running.off_since, running.on_since), (0, 0, 100));
    }

    #[test]
    fn what_is_not_recorded_is_blocked_in_no_call() {
        let restarted = standing(false, &IN_READ.replacen('0', "219", 1), 1).state(7, 100);
        assert_eq!((restarted.entered, restarted.off_since), (0, 100));
    }

    #[test]
    fn what_moved_unseen_meanwhile_is_looked_at_again() {
        let (blocked, entry) = (standing(false, IN_READ, 5), ThreadState { off_since: 1, ..ThreadState::default() });
        assert!(standing(false, IN_READ, 5).confirms(&blocked, &entry));
        assert!(!standing(false, IN_READ, 6).confirms(&blocked, &entry), "it was on a processor in between");
        assert!(!standing(true, "running", 5).confirms(&blocked, &entry), "it may have left its call unseen");
        let woken = ThreadState { on_since: 9, ..entry };
        assert!(standing(true, "running", 6).confirms(&blocked, &woken), "it was seen to be put on a processor");
        let (running, entry) = (standing(true, "running", 5), ThreadState { on_since: 1, ..ThreadState::default() });
        assert!(standing(true, "running", 5).confirms(&running, &entry));
        assert!(!standing(false, IN_READ, 5).confirms(&running, &entry), "it blocked unseen");
    }

    #[test]
    fn a_sleeping_thread_of_our_own_is_seen_in_its_call() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("sleep");
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        let call = loop {
            let standing = Standing::look(child.id(), child.id()).expect("a thread");
            if let Some(call) = standing.call.filter(|call| matches!(call.number, 35 | 230)) {
                break Some(call);
            }
            if std::time::Instant::now() > deadline {
                break None;
            }
        };
        child.kill().expect("killed");
        child.wait().expect("collected");
        assert!(call.is_some(), "sleep was not seen to sleep");
        assert_eq!(Standing::look(child.id(), child.id()), None);
    }
}
