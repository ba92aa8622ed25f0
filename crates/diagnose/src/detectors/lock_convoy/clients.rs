//! Threads of a client that wait for their turn before they ask: so many at a time have it, and each makes its request then. Where
//! it is one, that is a lock.
//!
//! Those that never ask are a pool that waits for work of its own, as a runtime's compilers do: they wake each other at one place, too.

use super::{LEAST_REQUESTS, LEAST_SHARE_BLOCKED, LEAST_WAIT, length};
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::detectors::{Found, costly_call, rows};
use crate::number;
use crate::place::of_stacks;
use crate::spans::{self, merge};
use crate::syscall;
use crate::threads::{Cursor, Moment, State, ThreadRows};
use crate::waits;
use case::syscall::Class;
use case::{Nanos, Place};
use std::collections::{BTreeMap, BTreeSet};

/// Requests that are under one lock hardly ever run at the same time: one in so many may, where the lock is let go of early.
const RARE: usize = 20;
/// At least one request in so many has such a wait before it: a lock that is contended is waited for before most, while idle threads
/// of a pool happen to wake each other now and then.
const CONTENDED: usize = 4;
/// So much of a wait as many requests must have been under way as may: else it is no request that the turn is for.
const MOSTLY: f64 = 0.5;
/// Less than this of the waits is while a request of the thread itself is under way.
const WITHIN: f64 = 0.1;

/// A wait for a lock, outside requests, that another thread ended.
struct Wait {
    thread: usize,
    by: usize,
    moment: Moment,
    row: usize,
    /// Where, by its number.
    place: usize,
}

/// Threads of a client that wait at one place and let each other go in turn.
pub(in crate::detectors) struct Turns {
    /// The client's file name.
    pub program: String,
    /// The requests that it makes.
    pub requests: usize,
    /// How many threads take turns.
    pub threads: usize,
    /// What they wait in, and for how long: rows of calls.
    pub waits: Vec<(usize, u64)>,
    /// How much of one CPU's time the client takes while they wait.
    pub cpu: f64,
}

impl Turns {
    /// For how long they wait, all together.
    pub fn waited(&self) -> u64 {
        self.waits.iter().map(|(_, length)| length).sum()
    }

    /// What is saved where nobody waits.
    pub fn saving(&self) -> PotentialSaving {
        PotentialSaving { outside: self.waited(), affected: self.waits.len() as u64, ..PotentialSaving::default() }
    }
}

pub(super) fn detect(analysis: &Analysis) -> Option<Found> {
    let turns = by_process(analysis).into_iter().filter(|(_, requests)| one_at_a_time(requests));
    let turns = turns.filter_map(|(pid, requests)| turns_of(analysis, pid, &requests, 1));
    let turns = turns.max_by_key(Turns::waited)?;
    let count = analysis.exchanges.len().max(1) as u64;
    let place = costly_call(analysis, turns.waits.iter().copied());
    let outside = turns.waited();
    let (part, whole) = (Nanos(outside / count), Nanos((analysis.exchange_wall() + outside) / count));
    Some(Found {
        title: format!("Requests wait for a lock before they are sent: {part} of every {whole} request{}", place.in_words()),
        what: "Requests wait for a lock before they are sent".to_string(),
        mechanism: vec![format!(
            "{} threads of {} wait at one place, {} times, until another of them releases it. Meanwhile its {} requests run one \
             at a time: each is made under the lock.",
            turns.threads,
            turns.program,
            number::count(turns.waits.len() as u64),
            number::count(turns.requests as u64),
        )],
        saving: turns.saving(),
        place,
        remedy: "Release the lock before the request is sent, or give each thread a client or a connection of its own; most clients \
                 may be shared without a lock."
            .to_string(),
        rows: rows("calls", turns.waits.iter().map(|(row, _)| *row)),
        ..Found::default()
    })
}

/// When each process, by its id, had a request under way at its client's end, in order of their starts.
pub(in crate::detectors) fn by_process(analysis: &Analysis) -> BTreeMap<u32, Vec<(u64, u64)>> {
    let mut by_process: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
    for exchange in analysis.exchanges.iter().filter(|exchange| exchange.end_seen == End::Client) {
        let pid = analysis.connections.row(exchange.connection).pid;
        by_process.entry(pid).or_default().push((exchange.start, exchange.end));
    }
    by_process
}

/// Whether hardly any of some requests, in order of their starts, begins before the one before it is over.
fn one_at_a_time(requests: &[(u64, u64)]) -> bool {
    let overlaps = requests.windows(2).filter(|pair| pair[1].0 < pair[0].1).count();
    requests.len() >= RARE && overlaps * RARE <= requests.len()
}

/// The turns that threads of a process wait for while so many of its requests are under way; none where they wait for none, or not
/// for long.
pub(in crate::detectors) fn turns_of(
    analysis: &Analysis,
    pid: u32,
    requests: &[(u64, u64)],
    at_a_time: usize,
) -> Option<Turns> {
    let threads = || analysis.threads.all().iter().enumerate().filter(|(_, thread)| thread.pid == pid);
    let mut places = Vec::new();
    let waits: Vec<Wait> =
        threads().flat_map(|(slot, thread)| lock_waits(analysis, slot, thread, &mut places)).collect();
    // Who lets go has waited at the same place: threads that are handed work wait for somebody who has not.
    let waiting: BTreeSet<(usize, usize)> = waits.iter().map(|wait| (wait.thread, wait.place)).collect();
    let (asking, taken) = (asking(analysis, pid), taken(requests, at_a_time));
    let is_turn = |wait: &&Wait| {
        let both_ask = asking.contains(&wait.thread) && asking.contains(&wait.by);
        both_ask && waiting.contains(&(wait.by, wait.place)) && mostly_within(&taken, &wait.moment)
    };
    let mut by_place: BTreeMap<usize, Vec<&Wait>> = BTreeMap::new();
    for wait in waits.iter().filter(is_turn) {
        by_place.entry(wait.place).or_default().push(wait);
    }
    let sum = |turns: &[&Wait]| turns.iter().map(|wait| length(&wait.moment)).sum::<u64>();
    let turns = by_place.into_values().max_by_key(|turns| sum(turns))?;
    if !is_for_requests(analysis, &turns) {
        return None;
    }
    let taking_turns: BTreeSet<usize> = turns.iter().flat_map(|wait| [wait.thread, wait.by]).collect();
    if turns.len() < LEAST_REQUESTS.max(requests.len() / CONTENDED)
        || (sum(&turns) as f64) < LEAST_SHARE_BLOCKED * analysis.wall() as f64
    {
        return None;
    }
    let waited = merge(turns.iter().map(|wait| (wait.moment.start, wait.moment.end)).collect());
    let cpu = analysis.busy(pid, &waited) as f64 / spans::length(waited.iter().copied()).max(1) as f64;
    let program = analysis.recording.processes.iter().rfind(|row| row.pid == pid);
    let program = program.map_or("a program", |row| analysis.recording.program(row)).to_string();
    let waits = turns.iter().map(|wait| (wait.row, length(&wait.moment))).collect();
    Some(Turns { program, requests: requests.len(), threads: taking_turns.len(), waits, cpu })
}

/// Whether threads wait before requests of their own, and not until one is answered. Those of a runtime that runs many tasks on few
/// threads do both at one place. Who has waited need not get its turn: another thread may come first.
fn is_for_requests(analysis: &Analysis, turns: &[&Wait]) -> bool {
    let (mut within, mut whole) = (0_u64, 0_u64);
    for wait in turns {
        let tid = analysis.threads.all()[wait.thread].tid;
        let (inside, outside) = analysis.split(tid, wait.moment.start, wait.moment.end);
        within = within.saturating_add(inside);
        whole = whole.saturating_add(inside).saturating_add(outside);
    }
    (within as f64) < WITHIN * whole as f64
}

/// When so many of some requests, or more, were under way.
fn taken(requests: &[(u64, u64)], at_a_time: usize) -> Vec<(u64, u64)> {
    let mut steps: Vec<(u64, isize)> = requests.iter().flat_map(|&(from, to)| [(from, 1), (to, -1)]).collect();
    // Of what happens at one time the ends come first.
    steps.sort_unstable();
    let (mut taken, mut count, mut at) = (Vec::new(), 0_isize, 0);
    for (time, step) in steps {
        if count.unsigned_abs() >= at_a_time && at < time {
            taken.push((at, time));
        }
        (count, at) = (count + step, time);
    }
    merge(taken)
}

/// The threads of a process that send requests or read answers.
fn asking(analysis: &Analysis, pid: u32) -> BTreeSet<usize> {
    let own = analysis.exchanges.iter().filter(|exchange| exchange.end_seen == End::Client);
    let calls = own.flat_map(|exchange| analysis.transfers(exchange)).map(|&row| analysis.call(row as usize));
    let threads: BTreeSet<u32> = calls.filter(|call| call.pid == pid).map(|call| call.tid).collect();
    threads.into_iter().filter_map(|tid| analysis.threads.slot(tid)).collect()
}

/// Those of one thread; `places` are those seen so far.
fn lock_waits(analysis: &Analysis, slot: usize, thread: &ThreadRows, places: &mut Vec<Place>) -> Vec<Wait> {
    let mut found = Vec::new();
    for row in thread.calls.clone() {
        let call = analysis.call(row);
        let is_wait = syscall::class(call.number) == Class::Lock && call.result != syscall::TIMED_OUT;
        if !is_wait || call.blocked.0 < LEAST_WAIT {
            continue;
        }
        let Some(place) = of_stacks(&analysis.code, call.script_stack, call.stack).into_iter().next() else { continue };
        let (from, to) = (call.start.0, crate::threads::call_end(call));
        let mut longest: Option<Moment> = None;
        analysis.threads.walk(slot, from, to, &mut Cursor::default(), &mut |moment| {
            let is_longer = longest.as_ref().is_none_or(|known| length(known) < length(&moment));
            if moment.state == State::Blocked && is_longer {
                longest = Some(moment);
            }
        });
        let Some(moment) = longest.filter(|moment| length(moment) >= LEAST_WAIT) else { continue };
        if let Some(by) = waits::ended_by(analysis, slot, &moment).filter(|by| *by != slot) {
            let place = places.iter().position(|known| *known == place).unwrap_or_else(|| {
                places.push(place);
                places.len() - 1
            });
            found.push(Wait { thread: slot, by, moment, row, place });
        }
    }
    found
}

/// Whether most of a wait lies within some spans, which are in order.
fn mostly_within(spans: &[(u64, u64)], wait: &Moment) -> bool {
    let covered = spans::length(spans::within(spans, wait.start, wait.end));
    covered as f64 >= MOSTLY * length(wait) as f64
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, US, request};
    use crate::syscall::FUTEX;
    use crate::tests::{answer, names};
    use case::tables::Thread;
    use case::{Nanos, Recording};

    const OTHER: u32 = CLIENT + 5;
    const MAIN: u32 = CLIENT + 6;

    /// Forty requests of 5 ms by two threads in turns; the one that does not ask waits meanwhile, and this one wakes it. Or a third one
    /// wakes it, or asks.
    fn in_turns(waker: Option<u32>, asker: Option<u32>) -> Recording {
        let mut fixture = Fixture::new();
        fixture.script(6, &["client.py:7:fetch"]);
        fixture.connect(1, CLIENT);
        let start = Nanos(fixture.now);
        for tid in [OTHER, MAIN] {
            fixture.recording.threads.push(Thread { tid, pid: CLIENT, start, ..Thread::default() });
        }
        let mut idle = fixture.now;
        for number in 0..40 {
            let (asks, waits) = if number % 2 == 0 { (CLIENT, OTHER) } else { (OTHER, CLIENT) };
            let from = fixture.now;
            let calls = fixture.recording.calls.len();
            let asker = asker.unwrap_or(asks);
            request(&mut fixture, asker, 1, 5 * MS, &mut idle);
            fixture.recording.calls[calls..]
                .iter_mut()
                .filter(|call| call.tid == asker)
                .for_each(|call| call.pid = CLIENT);
            let woken = fixture.now;
            let waker = waker.unwrap_or(asks);
            fixture.does(waker, 20 * US, FUTEX, |call| (call.pid, call.result) = (CLIENT, 1));
            fixture.now = from + 10 * US;
            let length = woken + US - fixture.now;
            fixture.waits(waits, length, FUTEX, |call| (call.pid, call.script_stack) = (CLIENT, 6));
            fixture.recording.switches.last_mut().expect("it waited").waker = waker;
            fixture.now = woken + 30 * US;
        }
        fixture.end()
    }

    #[test]
    fn threads_of_a_client_that_ask_one_at_a_time_under_a_lock_are_found() {
        let answer = answer(&in_turns(None, None));
        let finding = answer.findings.iter().find(|one| one.name == "lock-convoy").expect("it is found");
        assert!(finding.place[0].line == 7 && finding.cost.between_ns_per_exchange > 4 * MS, "{finding:#?}");
        assert!(finding.mechanism[0].starts_with("2 threads of client wait at one place, 40 times"), "{finding:#?}");
    }

    #[test]
    fn a_pools_threads_that_wake_each_other_now_and_then_are_left_alone() {
        let mut recording = in_turns(None, None);
        // Nine waits for forty requests were ended by a thread of its own.
        let waits = recording.switches.iter_mut().filter(|switch| switch.waker != 0);
        waits
            .enumerate()
            .filter(|(number, _)| number % 4 != 0 || *number == 0)
            .for_each(|(_, switch)| switch.waker = 0);
        assert!(!names(&recording).contains(&"lock-convoy".to_string()));
    }

    #[test]
    fn a_runtimes_own_threads_that_wake_each_other_are_left_alone() {
        assert!(!names(&in_turns(None, Some(MAIN))).contains(&"lock-convoy".to_string()));
    }

    #[test]
    fn threads_that_wait_for_work_from_another_one_are_left_alone() {
        assert!(!names(&in_turns(Some(MAIN), None)).contains(&"lock-convoy".to_string()));
    }
}
