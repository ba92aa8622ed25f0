//! CPU time, run delay and memory of the processes of a service, from /proc.
//!
//! CPU time is that of the living processes with what they collected of children that ended (proc(5): utime, stime, cutime, cstime),
//! so that a child's time only moves. It is counted in ticks of 10 ms, which are not lost but come later. Run delay is the
//! threads' own (schedstat); what a thread waited after the last look before it ended is not seen.

use crate::listening::ProcessStat;
use crate::running::threads;
use case::{Nanos, ServiceSample};
use nix::unistd::{SysconfVar, sysconf};
use std::collections::{BTreeMap, HashMap};
use std::fs;

/// So many threads of a service are asked how long they waited; reading one takes some microseconds.
const MOST_THREADS: usize = 2_048;

/// A process as it stood at the last look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Times {
    user: u64,
    system: u64,
    started: u64,
}

/// The processes of a service at the last look.
#[derive(Default)]
pub struct Tree {
    times: BTreeMap<u32, Times>,
    waited: HashMap<u32, u64>,
    /// When that was, in ticks since boot.
    looked: u64,
}

/// A process and all below it.
pub fn below(main: u32, table: &[ProcessStat]) -> Vec<u32> {
    let mut found = vec![main];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(table.iter().filter(|process| process.parent == parent).map(|process| process.pid));
        next += 1;
    }
    found
}

impl Tree {
    /// Looks again, and enters what came since.
    pub fn look(&mut self, processes: &[u32], figures: &mut ServiceSample) {
        let now = processes.iter().filter_map(|pid| Some((*pid, times(*pid)?))).collect::<BTreeMap<_, _>>();
        let (user, system) = self.used(&now);
        figures.user = ticks(user);
        figures.system = ticks(system);
        self.times = now;
        self.looked = ticks_since_boot();
        let mut waited = HashMap::new();
        for thread in processes.iter().flat_map(|pid| threads(*pid).into_iter().map(|tid| (*pid, tid))) {
            figures.threads += 1;
            if waited.len() < MOST_THREADS
                && let Some(delay) = run_delay(thread)
            {
                let before = self.waited.get(&thread.1).copied().unwrap_or(delay);
                figures.run_delay += Nanos(delay.saturating_sub(before));
                waited.insert(thread.1, delay);
            }
        }
        self.waited = waited;
        figures.memory = processes.iter().map(|pid| resident(*pid)).sum();
    }

    /// The ticks since the last look, in user mode and in the kernel.
    fn used(&self, now: &BTreeMap<u32, Times>) -> (u64, u64) {
        let is_known = |pid: &u32, times: &Times| self.times.get(pid).is_some_and(|it| it.started == times.started);
        // One that is new here but older than the last look has come from elsewhere: what it used before is not ours.
        let came = |pid: &u32, times: &Times| !is_known(pid, times) && times.started < self.looked;
        let counted = || now.iter().filter(|(pid, times)| self.looked > 0 && !came(pid, times));
        let sum = |of: fn(&Times) -> u64| {
            let after: u64 = counted().map(|(_, times)| of(times)).sum();
            let before: u64 = self.times.values().map(of).sum();
            // Where one ended that nobody collected, the others' own are what is left.
            let survivors = || {
                let known = counted().filter(|(pid, times)| is_known(pid, times));
                known.map(|(pid, times)| of(times).saturating_sub(of(&self.times[pid]))).sum()
            };
            after.checked_sub(before).unwrap_or_else(survivors)
        };
        (sum(|times| times.user), sum(|times| times.system))
    }
}

fn times(pid: u32) -> Option<Times> {
    parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Of the line of /proc/PID/stat (proc(5)): utime (14), stime (15), cutime (16), cstime (17), starttime (22).
fn parse(line: &str) -> Option<Times> {
    let fields = line[line.rfind(')')? + 1..].split_whitespace().collect::<Vec<_>>();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    Some(Times { user: field(14)? + field(16)?, system: field(15)? + field(17)?, started: field(22)? })
}

fn run_delay((pid, tid): (u32, u32)) -> Option<u64> {
    let line = fs::read_to_string(format!("/proc/{pid}/task/{tid}/schedstat")).ok()?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Resident memory in bytes: the second field of /proc/PID/statm, in pages. What processes share counts in each.
fn resident(pid: u32) -> u64 {
    let line = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    let pages: u64 = line.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * sysconf(SysconfVar::PAGE_SIZE).ok().flatten().unwrap_or(4_096) as u64
}

fn hertz() -> u64 {
    sysconf(SysconfVar::CLK_TCK).ok().flatten().unwrap_or(100).max(1) as u64
}

fn ticks(ticks: u64) -> Nanos {
    Nanos(ticks * (1_000_000_000 / hertz()))
}

fn ticks_since_boot() -> u64 {
    crate::clock::now().0 / (1_000_000_000 / hertz())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(known: &[(u32, u64, u64)]) -> Tree {
        let times =
            known.iter().map(|(pid, user, started)| (*pid, Times { user: *user, system: 0, started: *started }));
        Tree { times: times.collect(), waited: HashMap::new(), looked: 100 }
    }

    fn used(before: &[(u32, u64, u64)], now: &[(u32, u64, u64)]) -> u64 {
        tree(before).used(&tree(now).times).0
    }

    #[test]
    fn a_child_that_ends_moves_its_time_to_whoever_collects_it() {
        // 7 ticks of a child were counted; its parent has collected 9 since.
        assert_eq!(used(&[(1, 10, 5), (2, 7, 50)], &[(1, 10 + 9, 5)]), 2);
    }

    #[test]
    fn a_new_process_counts_from_its_start_and_a_newcomer_from_now() {
        assert_eq!(used(&[(1, 10, 5)], &[(1, 11, 5), (2, 3, 101)]), 4);
        assert_eq!(used(&[(1, 10, 5)], &[(1, 11, 5), (3, 500, 20)]), 1, "it came from elsewhere");
    }

    #[test]
    fn a_process_that_nobody_collected_does_not_take_from_others() {
        assert_eq!(used(&[(1, 10, 5), (2, 700, 50)], &[(1, 14, 5)]), 4);
    }

    #[test]
    fn a_name_with_parentheses_does_not_confuse_the_reader() {
        let line = "42 (a) b) S 7 42 41 0 -1 4194560 1 2 3 4 50 6 7 8 20 0 1 0 9876 0 0";
        assert_eq!(parse(line), Some(Times { user: 57, system: 14, started: 9876 }));
        assert_eq!(parse("42 (torn"), None);
    }
}
