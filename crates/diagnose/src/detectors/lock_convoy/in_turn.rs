//! A server that deals with one of the requests that it has read at a time, though it has nothing to do meanwhile: where they wait
//! for each other is known to a language's runtime alone (Go's mutex, asyncio's).
//!
//! While requests wait, each is answered as long after the one before it as one takes that comes alone. Where they were dealt with
//! side by side, answers would leave at shorter distances.

use super::{LEAST_REQUESTS, LEAST_SHARE_BLOCKED};
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::detectors::{Found, median, rows};
use crate::in_hand::{self, InHand};
use crate::number;
use crate::questions;
use crate::spans;
use crate::syscall;
use crate::threads::call_end;
use case::{Nanos, Share};

/// Fewer distances between answers may be even by accident.
const DISTANCES: usize = 20;
/// Shorter distances, in nanoseconds, cannot be told from work and from wake-ups.
const SHORTEST: u64 = 2_000_000;
/// One distance in so many may be shorter than what a request takes by itself: a turn that is cut short, an answer that failed.
const RARE: usize = 20;
/// What is shorter than this part of the time that a request takes alone is shorter.
const SHORTER: f64 = 0.7;
/// And what is longer than so many times that time has another reason as well.
const LONGER: f64 = 1.5;
/// A server that usually computes, or waits for a CPU, for more of one CPU's time meanwhile is busy itself.
const BUSY: f64 = 0.3;
/// Shares are compared by so many parts of the whole.
const PARTS: u64 = 10_000;
/// More than this part of the answers may not leave right after something was read: what comes is what they wait for then.
const UPON_READ: f64 = 0.3;
/// Right after: within this part of a distance.
const RIGHT_AFTER: f64 = 0.1;
/// Where others are asked for longer than this part of the time, they may be what takes turns.
const ASKING: f64 = 0.1;

/// The requests of a server that wait for each other.
struct Line<'r> {
    program: &'r str,
    requests: usize,
    /// Those that had been read before the one before them was answered, each with the time until then.
    waited: Vec<u64>,
    most: usize,
    /// How long after the one before it such a request is answered, in the middle.
    distance: u64,
    /// How long one takes that comes when no other is in hand, in the middle.
    alone: u64,
    cpu: f64,
    answers: Vec<usize>,
}

impl Line<'_> {
    fn waited(&self) -> u64 {
        self.waited.iter().copied().fold(0, u64::saturating_add)
    }
}

pub(super) fn detect(analysis: &Analysis) -> Option<Found> {
    let processes = in_hand::by_process(analysis);
    let lines = processes.into_iter().filter_map(|(pid, requests)| of_process(analysis, pid, requests));
    let line = lines.max_by_key(Line::waited)?;
    let (count, whole) = (analysis.exchanges.len(), analysis.exchange_wall());
    let waited = line.waited();
    let is_seldom = line.waited.len() < LEAST_REQUESTS.max(count / RARE);
    (!is_seldom && waited as f64 >= LEAST_SHARE_BLOCKED * whole as f64).then(|| found(analysis, &line, waited))
}

fn of_process<'a>(analysis: &'a Analysis, pid: u32, mut requests: Vec<InHand>) -> Option<Line<'a>> {
    requests.sort_unstable_by_key(|one| one.to);
    let in_line: Vec<(&InHand, &InHand)> =
        requests.iter().zip(&requests[1..]).filter(|(before, one)| one.from < before.to).collect();
    let distances: Vec<u64> = in_line.iter().map(|(before, one)| one.to - before.to).collect();
    if distances.len() < DISTANCES {
        return None;
    }
    let distance = median(distances.clone());
    let alone = alone(&requests, distance);
    let alone = (!alone.is_empty()).then(|| median(alone))?;
    let short = distances.iter().filter(|one| (**one as f64) < SHORTER * alone as f64).count();
    let is_serial = short * RARE <= distances.len() && distance as f64 <= LONGER * alone as f64;
    if !is_serial || alone < SHORTEST {
        return None;
    }
    let turns = spans::merge(in_line.iter().map(|(before, one)| (before.to, one.to)).collect());
    let whole = spans::length(turns.iter().copied());
    let cpu = usually_busy(analysis, pid, &in_line);
    if cpu > BUSY || asks_others(analysis, pid, &turns, whole) || answers_what_comes(analysis, pid, &in_line) {
        return None;
    }
    let mut read: Vec<u64> = requests.iter().map(|one| one.from).collect();
    read.sort_unstable();
    let in_hand =
        |at: u64| read.partition_point(|&from| from < at).saturating_sub(requests.partition_point(|one| one.to <= at));
    let process = analysis.recording.processes.iter().rfind(|row| row.pid == pid)?;
    Some(Line {
        program: analysis.recording.program(process),
        requests: requests.len(),
        waited: in_line.iter().map(|(before, one)| before.to - one.from).collect(),
        most: in_line.iter().map(|(before, _)| in_hand(before.to)).max().unwrap_or_default(),
        distance,
        alone,
        cpu,
        answers: in_line.iter().filter_map(|(_, one)| row_of(analysis, one.answers, one.to)).collect(),
    })
}

/// The part of one CPU's time that a process is busy from one answer to the next, in the middle of all. A processor that others take
/// for a while (another program, a hypervisor) makes some of them long and busy, and says nothing of the server.
fn usually_busy(analysis: &Analysis, pid: u32, in_line: &[(&InHand, &InHand)]) -> f64 {
    let turns: Vec<(u64, u64)> = in_line.iter().map(|(before, one)| (before.to, one.to)).collect();
    let busy = analysis.busy_in_each(pid, &turns).into_iter().zip(&turns);
    let shares = busy.map(|(busy, (from, to))| busy.saturating_mul(PARTS) / (to - from).max(1)).collect();
    median(shares) as f64 / PARTS as f64
}

/// The call that a thread began at a time.
fn row_of(analysis: &Analysis, tid: u32, start: u64) -> Option<usize> {
    let calls = analysis.threads.get(tid)?.calls.clone();
    let row = calls.start + analysis.recording.calls[calls.clone()].partition_point(|call| call.start.0 < start);
    (row < calls.end).then_some(row)
}

/// How long after a request the next answer left, where it came when none was in hand, nor had been answered for such a distance: a
/// limit of the rate lets it pass at once. Of several that come together any may be the first. The requests are in order of their
/// answers.
fn alone(requests: &[InHand], distance: u64) -> Vec<u64> {
    let mut by_arrival: Vec<&InHand> = requests.iter().collect();
    by_arrival.sort_unstable_by_key(|one| one.from);
    let mut free_from = 0;
    let mut alone = Vec::new();
    for one in by_arrival {
        if one.from >= free_from {
            let first = requests.partition_point(|other| other.to < one.from);
            alone.extend(requests.get(first).map(|answered| answered.to - one.from));
        }
        free_from = free_from.max(one.to.saturating_add(distance));
    }
    alone
}

/// Whether the process has questions of its own under way meanwhile.
fn asks_others(analysis: &Analysis, pid: u32, turns: &[(u64, u64)], whole: u64) -> bool {
    let slots = (0..analysis.connections.all().len()).filter(|&slot| {
        analysis.connections.all()[slot].end == Some(End::Client) && analysis.connections.row(slot).pid == pid
    });
    let asked = slots.flat_map(|slot| questions::of_connection(analysis, slot));
    let asked = spans::merge(asked.map(|question| (question.start, question.end)).collect());
    let meanwhile = spans::length(asked.iter().flat_map(|&(from, to)| spans::within(turns, from, to)));
    meanwhile as f64 > ASKING * whole as f64
}

/// Whether answers mostly leave right after the process has read something of others: items of a queue, say, that others send.
fn answers_what_comes(analysis: &Analysis, pid: u32, in_line: &[(&InHand, &InHand)]) -> bool {
    let threads = analysis.threads.all().iter().filter(|thread| thread.pid == pid);
    let calls = threads.flat_map(|thread| &analysis.recording.calls[thread.calls.clone()]);
    let reads = calls.filter(|call| syscall::is_read(call.number) && call.connection != 0 && call.result > 0);
    let mut read: Vec<u64> = reads.map(call_end).collect();
    read.sort_unstable();
    let upon_read = in_line.iter().filter(|(before, one)| {
        let right_before = one.to - ((one.to - before.to) as f64 * RIGHT_AFTER) as u64;
        let last = read[..read.partition_point(|&at| at <= one.to)].last();
        last.is_some_and(|&at| at >= right_before)
    });
    upon_read.count() as f64 > UPON_READ * in_line.len() as f64
}

fn found(analysis: &Analysis, line: &Line, waited: u64) -> Found {
    let (count, whole) = (analysis.exchanges.len().max(1) as u64, analysis.exchange_wall());
    let program = line.program;
    let what = format!("Requests wait for each other inside {program}, which deals with one at a time");
    Found {
        title: format!("{what}: {} of every {} request", Nanos(waited / count), Nanos(whole / count)),
        what,
        mechanism: vec![
            format!(
                "{} of {} requests had been read while another one was dealt with, up to {} waited at a time. Half of them were \
                 answered {} or more after the previous one, hardly any sooner; one that came alone took {}.",
                number::count(line.waited.len() as u64),
                number::count(line.requests as u64),
                line.most,
                Nanos(line.distance),
                Nanos(line.alone),
            ),
            format!(
                "From one answer to the next {program} usually took {} of one CPU, and asked nobody else. A lock of its language \
                 (Go's sync.Mutex, asyncio.Lock), a semaphore of one or a single worker lets one in at a time; which, \
                 only the program knows.",
                Share(line.cpu)
            ),
        ],
        saving: PotentialSaving { wall: waited, affected: line.waited.len() as u64, ..PotentialSaving::default() },
        remedy: "Do what is slow before or after holding the lock, use finer locks, or more workers. Go's mutex profile (pprof) names the \
                 lock."
            .to_string(),
        rows: rows("calls", line.answers.iter().copied()),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{MS, READ, SERVER, US, WRITE, paced};
    use crate::tests::answer;
    use case::tables::Call;
    use case::{Finding, Recording};

    fn found(recording: &Recording) -> Option<Finding> {
        answer(recording).findings.into_iter().find(|finding| finding.name == "lock-convoy")
    }

    #[test]
    fn answers_as_far_apart_as_one_takes_alone_are_dealt_with_in_turn() {
        let finding = found(&paced(20 * MS, &[20 * MS], 4, 0)).expect("found");
        assert!(finding.title.starts_with("Requests wait for each other inside server,"), "{}", finding.title);
        let said = &finding.mechanism[0];
        assert!(said.contains("up to 3 waited") && said.contains("alone took 20.0 ms"), "{said}");
        // Of four, three wait for the one before.
        assert!((0.65..0.85).contains(&finding.cost.share_of_wall), "{:?}", finding.cost);
        assert!(found(&paced(20 * MS, &[18 * MS, 25 * MS, 20 * MS], 4, 0)).is_some(), "not each takes as long");
    }

    #[test]
    fn what_is_dealt_with_side_by_side_or_passes_alone_is_left_alone() {
        assert!(found(&paced(20 * MS, &[5 * MS], 4, 0)).is_none(), "four at a time");
        let two = [20 * MS, 50 * US, 20 * MS, 20 * MS];
        assert!(found(&paced(20 * MS, &two, 4, 0)).is_none(), "two at a time, now and then");
        assert!(found(&paced(50 * US, &[20 * MS], 4, 0)).is_none(), "a limit of the rate");
        assert!(found(&paced(20 * MS, &[20 * MS], 1, 0)).is_none(), "nobody waits");
        assert!(found(&paced(20 * MS, &[50 * MS], 4, 0)).is_none(), "something else takes longer");
    }

    #[test]
    fn what_waits_for_something_to_come_is_no_line() {
        let mut recording = paced(20 * MS, &[20 * MS], 4, 0);
        // An item comes for each, right before it is answered.
        let is_answer = |call: &&Call| call.tid == SERVER && call.number == WRITE;
        let answers: Vec<_> = recording.calls.iter().filter(is_answer).cloned().collect();
        recording.calls.extend(answers.into_iter().map(|mut call| {
            call.start.0 -= 10 * US;
            (call.number, call.connection, call.result) = (READ, 1999, 10);
            call
        }));
        assert!(found(&recording).is_none());
    }

    /// Each wait of the server ends for the kernel after so long, and for the rest the server waits for a CPU.
    fn crowded(mut recording: Recording, idle: u64) -> Recording {
        for switch in recording.switches.iter_mut().filter(|switch| switch.tid == SERVER) {
            switch.runnable.0 = switch.end.0.min(switch.start.0 + idle);
        }
        recording
    }

    #[test]
    fn a_processor_that_is_taken_away_now_and_then_makes_no_server_busy_and_one_that_is_always_does() {
        let distances = [20 * MS, 20 * MS, 20 * MS, 80 * MS];
        let finding = found(&crowded(paced(20 * MS, &distances, 4, 0), 20 * MS)).expect("found");
        assert!(finding.mechanism[1].contains("usually took 0."), "{}", finding.mechanism[1]);
        assert!(
            found(&crowded(paced(20 * MS, &[20 * MS], 4, 0), 10 * MS)).is_none(),
            "it waits for a CPU half of the time"
        );
    }
}
