//! P59: threads that may run on few CPUs queue there, while others are idle.

use super::{Found, detector, idle_cpus, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::code::base_name;
use crate::images::Images;
use crate::number;
use crate::troubles::Running;
use case::Nanos;
use case::tables::{Process, Switch};
use std::collections::BTreeMap;

detector! {
    /// # cpu-affinity
    ///
    /// ## What it is
    /// A program's threads may run on some of the CPUs only: `taskset`, a container's cpuset, CPUAffinity in a unit
    /// file, an option of its own. More of them are ready to run than these CPUs can take, so that they wait in line
    /// for each other, while other CPUs have nothing to do.
    ///
    /// ## Evidence
    /// The CPUs that the program was allowed when it started (`Cpus_allowed` in /proc/PID/status), fewer than there
    /// are; its threads waited for one of them for a millisecond or more, while threads of the same recording ran;
    /// these waits take a fifth of the requests' time or more; and as much as half a CPU or more was idle on average.
    ///
    /// ## What proves it
    /// The same program on all CPUs: whatever was allowed, each process allows itself all of them when it begins, and
    /// asking for less does nothing.
    ///
    /// ## Remedy
    /// Allow it more CPUs, or run as few workers as it has CPUs. Look at the command (`taskset`, `numactl`), the unit
    /// (CPUAffinity, AllowedCPUs), the container (`--cpuset-cpus`), the program's configuration.
    ///
    /// ## Not to be confused with
    /// cpu-quota-throttling (a limit on time, not on CPUs); a neighbour that keeps these CPUs (it is told, and not
    /// accused).
    "P59" "cpu-affinity",
    needs: &[Server]
}

/// The scheduler's turns between threads that need each other take less.
const SHORTEST: u64 = 1_000_000;
/// Fewer waits are chance.
const REPEATED: usize = 5;
/// What takes less of the requests' time than this is not what makes them slow.
const LEAST_SHARE: f64 = 0.2;
/// The program's own threads kept a CPU where they ran for this part of a wait or more.
const OWN: f64 = 0.5;
fn detect(analysis: &Analysis) -> Option<Found> {
    let online = analysis.recording.manifest.host.processors;
    let confined = |process: &&Process| (1..online).contains(&process.allowed_processors);
    if analysis.exchanges.is_empty() || !analysis.recording.processes.iter().any(|process| confined(&process)) {
        return None;
    }
    let idle = idle_cpus::with_room(analysis)?;
    let images = Images::new(analysis.recording);
    let running = Running::new(analysis);
    let mut waits: BTreeMap<(&str, u32), Vec<(usize, u64)>> = BTreeMap::new();
    for thread in analysis.threads.all() {
        let Some(process) = images.at(thread.pid, thread.start).filter(confined) else { continue };
        for row in thread.switches.clone() {
            let switch = &analysis.recording.switches[row];
            let inside = analysis.split(switch.tid, switch.runnable.0, switch.end.0).0;
            if inside > 0 && is_in_line(&running, switch) {
                let of = (base_name(&process.executable), process.allowed_processors);
                waits.entry(of).or_default().push((row, inside));
            }
        }
    }
    let sum = |waits: &[(usize, u64)]| waits.iter().map(|(_, length)| length).sum::<u64>();
    let ((program, allowed), waits) = waits.into_iter().max_by_key(|(_, waits)| sum(waits))?;
    let wall = sum(&waits).min(analysis.exchange_wall());
    let is_costly = wall as f64 >= LEAST_SHARE * analysis.exchange_wall() as f64;
    (waits.len() >= REPEATED && is_costly).then(|| found(analysis, (program, allowed, online), &waits, (wall, idle)))
}

/// Whether a thread waited for a CPU that threads of the recording kept.
fn is_in_line(running: &Running, row: &Switch) -> bool {
    let (from, to) = (row.runnable.0, row.end.0);
    to.saturating_sub(from) >= SHORTEST && running.between(from, to) as f64 >= OWN * (to - from) as f64
}

fn found(
    analysis: &Analysis,
    (program, allowed, online): (&str, u32, u32),
    waits: &[(usize, u64)],
    (wall, idle): (u64, f64),
) -> Found {
    let requests = analysis.exchanges.len() as u64;
    let (of, it) = if allowed == 1 { ("one CPU".to_string(), "it") } else { (format!("{allowed} CPUs"), "them") };
    let what = format!("The threads of {program} may run on {of} of {online} only and wait in line for {it}");
    let span = |row: usize| &analysis.recording.switches[row];
    Found {
        title: format!(
            "{what}: {} of every {} request",
            Nanos(wall / requests),
            Nanos(analysis.exchange_wall() / requests)
        ),
        what,
        mechanism: vec![format!(
            "{} times a thread was ready to run for a millisecond or longer, while others of the same programs had the CPUs that it \
             may use. Meanwhile {idle:.1} of the {online} CPUs were idle on average.",
            number::count(waits.len() as u64),
        )],
        saving: PotentialSaving { wall, outside: 0, cpu: 0, affected: requests },
        remedy: format!("Allow {program} more CPUs, or have it run no more threads at a time than it has CPUs."),
        rows: rows("switches", waits.iter().map(|(row, _)| *row)),
        stalls: waits.iter().map(|&(row, _)| (span(row).runnable.0, span(row).end.0)).collect(),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, SERVER};
    use crate::tests::{answer, names};
    use case::tables::{Counter, Thread};
    use case::{Nanos, Recording};

    /// Twenty requests for which the server waits 5 ms for a CPU, where another of its threads runs or not.
    fn queued(allowed: u32, own: bool, idle: u64) -> Recording {
        let mut fixture = Fixture::new();
        let other = 201;
        fixture.recording.threads.push(Thread { tid: other, pid: SERVER, start: Nanos(MS), ..Thread::default() });
        fixture.connect(1, CLIENT);
        let mut last = MS;
        for _ in 0..20 {
            fixture.served(|fixture| {
                if own {
                    fixture.off(other, last, fixture.now);
                }
                fixture.preempted(SERVER, 5 * MS);
                last = fixture.now;
            });
        }
        let end = fixture.now;
        fixture.off(other, if own { last } else { MS }, end);
        let mut recording = fixture.end();
        for process in recording.processes.iter_mut().filter(|process| process.pid == SERVER) {
            process.allowed_processors = allowed;
        }
        let (scope, name) = ("cpu".to_string(), "idle".to_string());
        recording.counters.push(Counter { scope, name, before: 0, after: idle });
        recording
    }

    /// Ticks of a run in which as much as two CPUs were idle: it takes about 0.13 s.
    const TWO: u64 = 26;

    #[test]
    fn threads_that_queue_on_their_only_cpu_while_others_idle_are_found() {
        let answer = answer(&queued(1, true, TWO));
        let finding = answer.findings.iter().find(|finding| finding.id == "P59").expect("found");
        let expected = "The threads of server may run on one CPU of 4 only and wait in line for it";
        assert!(finding.title.starts_with(expected), "{}", finding.title);
        assert!(finding.cost.share_of_wall > 0.8, "{:?}", finding.cost);
    }

    #[test]
    fn all_cpus_or_none_idle_or_a_neighbour_is_no_affinity() {
        for (allowed, own, idle) in [(4, true, TWO), (0, true, TWO), (1, true, 1), (1, false, TWO)] {
            let names = names(&queued(allowed, own, idle));
            assert!(!names.contains(&"cpu-affinity".to_string()), "{allowed} {own} {idle}");
        }
    }
}
