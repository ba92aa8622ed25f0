//! Requests that wait in line for threads which compute for each of them for long: an event loop that does, say, while CPUs idle.

use super::{Found, common_place, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::detectors::held_up::{are_quick, held_up};
use crate::syscall;
use crate::threads::ThreadRows;
use crate::waits;
use case::tables::Sample;
use case::{Activity, Nanos, Queue, ServedKind, Share};
use std::collections::BTreeSet;

/// A thread that takes less than this for a request and has more to do than it can is at its capacity, as load tests want it. From
/// here on a request notices each one that is before it.
const LONG: u64 = 10_000_000;
/// Where those that wait are quick beside it no load is to blame: from here on.
const LONG_FOR_QUICK_ONES: u64 = 1_000_000;
/// Where less of the requests' time is spent in line, being computed is what takes it.
const LEAST_SHARE: f64 = 0.3;
/// Fewer requests than this, or than one in so many, met by accident.
const LEAST_REQUESTS: u64 = 5;
const RARE: u64 = 20;

pub(super) fn detect(analysis: &Analysis) -> Option<Found> {
    let processors = u64::from(analysis.recording.manifest.host.processors);
    let threads = readers(analysis);
    let number = threads.len() as u64;
    if number == 0 || number >= processors {
        return None;
    }
    let sum = |of: fn(&ThreadRows) -> u64| threads.iter().map(|thread| of(thread)).fold(0, u64::saturating_add);
    let (on_processor, runnable) = (sum(|thread| thread.on_processor), run_delay(analysis, &threads));
    let others = analysis.total_cpu().saturating_sub(on_processor);
    // The CPUs that these threads leave.
    let left = (processors - number).saturating_mul(analysis.wall());
    if others.saturating_mul(2) >= left || on_processor < LONG_FOR_QUICK_ONES {
        return None;
    }
    let queue = waits::queue(analysis)?;
    let count = analysis.exchanges.len() as u64;
    let is_seldom = queue.waited < LEAST_REQUESTS.max(count / RARE);
    let holder = holder(queue)?;
    // On a busy machine a request takes the thread for longer than it computes.
    let computes = on_processor as f64 / on_processor.saturating_add(runnable).max(1) as f64;
    let long = (holder.usual_ns as f64 * computes) as u64;
    let is_long = long >= LONG || long >= LONG_FOR_QUICK_ONES && are_quick(queue, holder);
    if is_seldom || queue.share() < LEAST_SHARE || !is_long {
        return None;
    }
    Some(found(analysis, queue, long, &threads, (on_processor, processors)))
}

/// The kind of requests behind which others wait most, where threads compute for it.
fn holder(queue: &Queue) -> Option<&ServedKind> {
    let holder = queue.kinds.iter().max_by_key(|kind| kind.held_ns)?;
    matches!(holder.activity, Activity::OnCpu | Activity::RunDelay).then_some(holder)
}

/// The threads that read requests.
fn readers<'a>(analysis: &'a Analysis) -> Vec<&'a ThreadRows> {
    let first_read = |exchange| {
        let calls = analysis.server_transfers(exchange).iter().map(|&row| analysis.call(row as usize));
        calls.into_iter().find(|call| syscall::is_read(call.number) && call.result > 0).map(|call| call.tid)
    };
    let tids: BTreeSet<u32> = analysis.exchanges.iter().filter_map(first_read).collect();
    tids.into_iter().filter_map(|tid| analysis.threads.get(tid)).collect()
}

/// For how long some threads were ready to run and waited for a CPU.
fn run_delay(analysis: &Analysis, threads: &[&ThreadRows]) -> u64 {
    let switches = threads.iter().flat_map(|thread| &analysis.recording.switches[thread.switches.clone()]);
    switches.map(|row| row.end.0.saturating_sub(row.runnable.0)).fold(0, u64::saturating_add)
}

fn found(
    analysis: &Analysis,
    queue: &Queue,
    long: u64,
    threads: &[&ThreadRows],
    (on_processor, processors): (u64, u64),
) -> Found {
    let numbers: Vec<usize> = threads.iter().flat_map(|thread| thread.samples.clone()).collect();
    let samples: Vec<&Sample> = numbers.iter().map(|&row| &analysis.recording.samples[row]).collect();
    let place = common_place(analysis, &samples);
    let number = threads.len() as u64;
    // With as many threads as processors what waits moves as much faster as there are more.
    let waited = queue.ns.saturating_mul(processors - number) / processors;
    let (part, each) = (Nanos(waited), Nanos(queue.of_ns));
    let (whose, they) = match number {
        1 => ("the server's only thread, which computes".to_string(), "the thread"),
        several => (format!("the server's {several} threads, which compute"), "a thread"),
    };
    let whole = if number == 1 { "The thread was" } else { "Each of the threads was" };
    let observed = held_up(queue, analysis.exchanges.len());
    let busy: Share = Nanos(on_processor / number).share_of(Nanos(analysis.wall()));
    Found {
        title: format!("Requests wait in line for {whose}: {part} of every {each} request{}", place.in_words()),
        what: format!("Requests wait in line for {whose}"),
        mechanism: vec![
            format!(
                "{} of {} requests had arrived while {they} computed for others, up to {} waited at a time. One of them \
                 takes {they} for {} of CPU time.",
                queue.waited,
                analysis.exchanges.len(),
                queue.most,
                Nanos(long),
            ),
            format!("{whole} on CPU for {busy} of the time, and there are {processors} CPUs."),
        ],
        saving: PotentialSaving {
            wall: waited.saturating_mul(analysis.exchanges.len() as u64),
            affected: queue.waited,
            ..PotentialSaving::default()
        },
        place,
        remedy: "Do what computes for long in other threads or processes (a worker thread, a pool, more workers), or in short steps \
                 with others served in between, or do less of it for each request: keep its result, or make it cheaper."
            .to_string(),
        rows: rows("samples", numbers.iter().copied()),
        // What computes for few is a matter of its own, whatever explains the time of these: the others wait.
        explains: if observed.is_some() { Vec::new() } else { analysis.stretches(&samples) },
        observed: observed.into_iter().collect(),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{self, MS, US, WRITE};
    use crate::tests::answer;
    use case::facts::Observation;
    use case::tables::Command;
    use case::{Finding, Recording};

    /// The same, of a server that computes in its own code.
    fn asked_at_once(work: u64, kept: u64, processors: u32) -> Recording {
        fixture::asked_at_once(&["server!render", "server!handle"], work, kept, processors)
    }

    fn is_found(recording: &Recording) -> bool {
        answer(recording).findings.iter().any(|finding| finding.name == "saturated-thread")
    }

    #[test]
    fn requests_that_wait_for_an_event_loop_that_computes_are_found() {
        let answer = answer(&asked_at_once(20 * MS, 0, 4));
        let finding = answer.findings.iter().find(|one| one.name == "saturated-thread").expect("it is found");
        // Of 20 + 40 + 60 + 80 ms, 20 each are a request's own; three of four processors are left.
        assert!((0.4..0.5).contains(&finding.cost.share_of_wall), "{finding:#?}");
        assert!(finding.title.contains("the server's only thread, which computes"), "{}", finding.title);
        assert!(finding.mechanism[0].starts_with("30 of 40 requests"), "{:?}", finding.mechanism);
        assert_eq!(finding.place[0].function, "render");
    }

    #[test]
    fn a_server_that_takes_little_for_each_and_one_that_has_all_processors_are_left_alone() {
        assert!(!is_found(&asked_at_once(5 * MS, 0, 4)), "it is at its capacity");
        assert!(!is_found(&asked_at_once(20 * MS, 0, 1)), "there is no other processor");
    }

    /// What is found where the first of four clients asks for keys, over which the server computes for so long, and the others for
    /// what takes it so long.
    fn behind_keys(keys: u64, others: u64) -> Option<Finding> {
        let frames = ["redis!dictNext", "redis!keysCommand"];
        let mut recording = fixture::asked_at_once_for(&frames, [keys, others, others, others], 0, 4);
        for call in recording.calls.iter().filter(|call| call.number == WRITE && call.connection < 1000) {
            let name = if call.connection == 1 { "KEYS" } else { "GET" };
            let row = Command { time: call.start, connection: call.connection, tid: call.tid, ..Command::default() };
            recording.commands.push(Command { name: name.into(), ..row });
        }
        recording.commands.sort_by_key(|row| (row.connection, row.time));
        answer(&recording).findings.into_iter().find(|one| one.name == "saturated-thread")
    }

    #[test]
    fn quick_requests_behind_one_that_takes_milliseconds_are_no_load() {
        let finding = behind_keys(5 * MS, 20 * US).expect("it is found");
        assert_eq!(finding.place[0].function, "dictNext");
        assert!(matches!(finding.observed[..], [Observation::HeldUp { requests: 10, of: 40, .. }]), "{finding:#?}");
        assert_eq!(behind_keys(5 * MS, MS), None, "a fifth");
        assert_eq!(behind_keys(500 * US, 20 * US), None, "half a millisecond");
    }

    #[test]
    fn a_server_that_waits_for_processors_that_others_keep_does_not_compute_for_long() {
        assert!(is_found(&asked_at_once(20 * MS, 4 * MS, 4)));
        assert!(!is_found(&asked_at_once(20 * MS, 16 * MS, 4)));
    }
}
