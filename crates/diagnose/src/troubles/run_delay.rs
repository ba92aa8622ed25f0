//! P30: threads that are ready to run while other programs keep the CPUs. Not a cause in the program, and true of every
//! program beside a busy neighbour: so it is said, and nobody is accused of it.

use crate::analysis::Analysis;
use case::tables::Switch;
use case::{Nanos, Trouble};

/// The scheduler wakes a thread on an idle CPU within microseconds, on a sleeping one within hundreds; what is longer
/// than this waits for somebody.
const SHORTEST: u64 = 1_000_000;

/// Fewer waits are chance.
const REPEATED: usize = 5;

/// What takes less of the requests' time than this is not what makes them slow.
const LEAST_SHARE: f64 = 0.2;

/// Others keep a CPU where the program's own threads ran for less than this part of a wait.
const OWN: f64 = 0.5;

/// The kernel's counter of periods in which a quota was used up: then it is the quota that kept the threads.
const THROTTLED: &str = "nr_throttled";

/// How long requests waited for CPUs that others kept, where that was a good part of their time.
pub fn find(analysis: &Analysis) -> Option<Trouble> {
    let long = |row: &Switch| row.end.0.saturating_sub(row.runnable.0) >= SHORTEST;
    let throttled =
        analysis.recording.counters.iter().any(|row| row.name.ends_with(THROTTLED) && row.after > row.before);
    if throttled || analysis.exchanges.is_empty() || !analysis.recording.switches.iter().any(long) {
        return None;
    }
    let running = Running::new(analysis);
    let is_kept = |row: &Switch| {
        let (from, to) = (row.runnable.0, row.end.0);
        (running.between(from, to) as f64) < OWN * (to - from) as f64
    };
    let kept = analysis.recording.switches.iter().filter(|row| long(row) && is_kept(row));
    let waits: Vec<u64> =
        kept.map(|row| analysis.split(row.tid, row.runnable.0, row.end.0).0).filter(|wait| *wait > 0).collect();
    let wall = waits.iter().fold(0u64, |sum, wait| sum.saturating_add(*wait));
    let share = Nanos(wall).share_of(Nanos(analysis.exchange_wall())).0.min(1.0);
    let count = waits.len() as u64;
    let ns_per_exchange = wall / analysis.exchanges.len() as u64;
    let is_worth_saying = waits.len() >= REPEATED && share >= LEAST_SHARE;
    is_worth_saying.then_some(Trouble::RunDelay { count, ns_per_exchange, share })
}

/// How many of the program's threads were on a CPU, over time.
pub(crate) struct Running {
    /// When the number changes, what it is from then on, and the time on CPU of all threads up to then.
    turns: Vec<(u64, i64, u64)>,
}

impl Running {
    pub fn new(analysis: &Analysis) -> Running {
        let mut changes: Vec<(u64, i64)> = Vec::new();
        for thread in analysis.threads.all() {
            changes.extend([(thread.start, 1), (thread.end.max(thread.start), -1)]);
            for row in &analysis.recording.switches[thread.switches.clone()] {
                changes.extend([(row.start.0, -1), (row.end.0, 1)]);
            }
        }
        changes.sort_unstable();
        let mut turns: Vec<(u64, i64, u64)> = Vec::with_capacity(changes.len());
        let (mut number, mut total, mut last) = (0i64, 0u64, 0u64);
        for (time, change) in changes {
            total = total.saturating_add((number.max(0) as u64).saturating_mul(time - last));
            number += change;
            last = time;
            turns.push((time, number, total));
        }
        Running { turns }
    }

    /// The time on CPU of all threads between two times, in nanoseconds.
    pub fn between(&self, from: u64, to: u64) -> u64 {
        self.until(to).saturating_sub(self.until(from))
    }

    fn until(&self, time: u64) -> u64 {
        let next = self.turns.partition_point(|&(at, _, _)| at <= time);
        let last = next.checked_sub(1).and_then(|last| self.turns.get(last));
        last.map_or(0, |&(at, number, total)| total.saturating_add((number.max(0) as u64).saturating_mul(time - at)))
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, MS, SERVER, US, WRITE, keep_alive};
    use crate::tests::answer;
    use case::tables::Counter;
    use case::{Recording, Trouble};

    /// Requests in each of which the client, its answer there, is ready for so long before it runs; meanwhile the
    /// server works or does not.
    fn ready_for(time: u64, server_works: bool) -> Recording {
        let mut fixture = keep_alive(1, 50 * US);
        let begun = fixture.now;
        for _ in 0..20 {
            fixture.moves(CLIENT, 1, WRITE, 20);
            fixture.waits_for(CLIENT, 1, 200 * US, 100);
            fixture.preempted(CLIENT, time);
            fixture.waits_for(CLIENT, 1, 20 * US, 100);
        }
        let now = fixture.now;
        if !server_works {
            fixture.off(SERVER, begun + MS, now);
        }
        fixture.end()
    }

    #[test]
    fn threads_that_are_ready_while_nothing_of_the_program_runs_are_told_and_accuse_nobody() {
        let answer = answer(&ready_for(4 * MS, false));
        let [Trouble::RunDelay { count: 20, ns_per_exchange, share }] = answer.troubles[..] else {
            panic!("{:?}", answer.troubles)
        };
        assert!((3 * MS..5 * MS).contains(&ns_per_exchange) && share > 0.8, "{ns_per_exchange} {share}");
        assert_eq!(answer.findings, []);
    }

    #[test]
    fn short_waits_waits_for_the_programs_own_threads_and_a_quota_are_left_alone() {
        assert_eq!(answer(&ready_for(500 * US, false)).troubles, []);
        assert_eq!(answer(&ready_for(4 * MS, true)).troubles, []);
        let mut limited = ready_for(4 * MS, false);
        let (scope, name) = ("cgroup:/".into(), "cpu.stat.nr_throttled".into());
        limited.counters.push(Counter { scope, name, before: 1, after: 9 });
        assert_eq!(answer(&limited).troubles, []);
    }
}
