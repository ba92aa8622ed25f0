//! P30: requests wait for a CPU that others keep.

use super::{Found, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::number;
use crate::place::Located;
use case::tables::Switch;
use case::{Kind, Nanos};

detector! {
    /// # run-queue-delay
    ///
    /// ## What it is
    /// The program's threads are ready to run and get no CPU, since other programs keep them: a neighbour on the same machine, or
    /// on the same hypervisor.
    ///
    /// ## Evidence
    /// Threads with a request in hand were runnable for a millisecond or more and did not run, and for most of that time no other
    /// thread of the program ran either. Such waits make up a fifth of the exchanges' time or more, and no quota was used up.
    ///
    /// ## What proves it
    /// The same run with the CPUs to itself. whyslow does not stop other programs: this is an observation.
    ///
    /// ## Remedy
    /// Move the program or its neighbour, give it CPUs of its own (cpuset, taskset) or a higher weight (cpu.weight, nice). top and
    /// pidstat name the neighbour; steal time in /proc/stat tells of other machines.
    ///
    /// ## Not to be confused with
    /// More runnable threads of the program than there are CPUs; a CPU quota (cpu-quota-throttling); a lock, whose holder runs.
    "P30" "run-queue-delay",
    kind: Kind::Observation, follows_from: &["P29"]
}

/// The scheduler wakes a thread on an idle CPU within microseconds, on a sleeping one within hundreds; what is longer than this
/// waits for somebody.
const SHORTEST: u64 = 1_000_000;
/// Fewer waits are chance.
const REPEATED: usize = 5;
/// What takes less of the requests' time than this is not what makes them slow.
const LEAST_SHARE: f64 = 0.2;
/// Others keep a CPU where the program's own threads ran for less than this part of a wait.
const OWN: f64 = 0.5;

fn detect(analysis: &Analysis) -> Option<Found> {
    let long = |row: &Switch| row.end.0.saturating_sub(row.runnable.0) >= SHORTEST;
    if analysis.exchanges.is_empty() || !analysis.recording.switches.iter().any(long) {
        return None;
    }
    let running = Running::new(analysis);
    let is_kept = |row: &Switch| {
        let (from, to) = (row.runnable.0, row.end.0);
        (running.between(from, to) as f64) < OWN * (to - from) as f64
    };
    let mut waits: Vec<(usize, u64)> = Vec::new();
    for (number, row) in analysis.recording.switches.iter().enumerate().filter(|(_, row)| long(row) && is_kept(row)) {
        let (inside, _) = analysis.split(row.tid, row.runnable.0, row.end.0);
        if inside > 0 {
            waits.push((number, inside));
        }
    }
    let wall: u64 = waits.iter().map(|(_, inside)| inside).sum();
    let share = Nanos(wall).share_of(Nanos(analysis.exchange_wall()));
    if waits.len() < REPEATED || share.0 < LEAST_SHARE {
        return None;
    }
    let count = analysis.exchanges.len() as u64;
    waits.sort_by_key(|&(number, inside)| (std::cmp::Reverse(inside), number));
    let what = "Other programs keep the CPUs".to_string();
    Some(Found {
        title: format!(
            "{what}: threads wait for one for {} of every {} request",
            Nanos(wall / count),
            Nanos(analysis.exchange_wall() / count)
        ),
        what,
        mechanism: vec![format!(
            "{} times a thread was ready to run for a millisecond or more while none of the program's ran; half of these waits took \
             {} or longer.",
            number::count(waits.len() as u64),
            Nanos(median(waits.iter().map(|&(_, inside)| inside).collect())),
        )],
        saving: PotentialSaving { wall, affected: count.min(waits.len() as u64), ..PotentialSaving::default() },
        place: Located::default(),
        remedy: "Move the program or its neighbour, or give it CPUs of its own (cpuset) or a higher weight (cpu.weight, nice)."
            .to_string(),
        rows: rows("switches", waits.iter().map(|&(number, _)| number)),
        ..Found::default()
    })
}

/// How many of the program's threads were on a CPU, over time.
struct Running {
    /// When the number changes, what it is from then on, and the time on CPU of all threads up to then.
    turns: Vec<(u64, i64, u64)>,
}

impl Running {
    fn new(analysis: &Analysis) -> Running {
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
            total += number.max(0) as u64 * (time - last);
            number += change;
            last = time;
            turns.push((time, number, total));
        }
        Running { turns }
    }

    /// The time on CPU of all threads between two times, in nanoseconds.
    fn between(&self, from: u64, to: u64) -> u64 {
        self.until(to).saturating_sub(self.until(from))
    }

    fn until(&self, time: u64) -> u64 {
        let next = self.turns.partition_point(|&(at, _, _)| at <= time);
        let last = next.checked_sub(1).and_then(|last| self.turns.get(last));
        last.map_or(0, |&(at, number, total)| total + number.max(0) as u64 * (time - at))
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, SERVER, US, WRITE, keep_alive};
    use crate::tests::{answer, names};
    use case::tables::{Switch, reason};
    use case::{Kind, Nanos, Recording};

    /// Requests in each of which the client, its answer there, is ready for so long before it runs; meanwhile the server works or
    /// does not.
    fn ready_for(time: u64, server_works: bool) -> Recording {
        let mut fixture = keep_alive(1, 50 * US);
        let begun = fixture.now;
        for _ in 0..20 {
            fixture.moves(CLIENT, 1, WRITE, 20);
            fixture.waits_for(CLIENT, 1, 200 * US, 100);
            preempted(&mut fixture, time);
            fixture.waits_for(CLIENT, 1, 20 * US, 100);
        }
        let now = fixture.now;
        if !server_works {
            fixture.off(SERVER, begun + MS, now);
        }
        fixture.end()
    }

    fn preempted(fixture: &mut Fixture, time: u64) {
        let (start, end) = (Nanos(fixture.now), Nanos(fixture.now + time));
        let reason = reason::PREEMPTED;
        fixture.recording.switches.push(Switch { start, runnable: start, end, tid: CLIENT, reason, waker: 0 });
        fixture.now += time;
    }

    #[test]
    fn threads_that_are_ready_while_nothing_of_the_program_runs_are_found() {
        let answer = answer(&ready_for(4 * MS, false));
        let finding = answer.findings.iter().find(|finding| finding.name == "run-queue-delay").expect("found");
        assert_eq!(finding.kind, Kind::Observation);
        assert!((3 * MS..5 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
    }

    #[test]
    fn short_waits_and_waits_for_the_programs_own_threads_are_left_alone() {
        let is_found = |recording: &Recording| names(recording).contains(&"run-queue-delay".to_string());
        assert!(!is_found(&ready_for(500 * US, false)));
        assert!(!is_found(&ready_for(4 * MS, true)));
    }
}
