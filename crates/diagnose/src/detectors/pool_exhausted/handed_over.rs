//! Requests that one thread has read and others work off, which are fewer: those of a pool.
//!
//! A pool are threads of one process that read no requests and wait at one place in the code while there are none. While none of
//! them waits there, of the requests that the process has read and not answered only as many as there are threads are being
//! dealt with; the others wait in line, wherever the program keeps them.

use crate::analysis::Analysis;
use crate::detectors::occupied::is_others;
use crate::in_hand::{self, InHand};
use crate::spans::{self, merge};
use crate::threads::{Cursor, State, call_end};
use crate::{syscall, waits};
use case::syscall::Class;
use case::tables::Call;
use std::collections::{BTreeMap, BTreeSet};

/// A shorter wait is no sign of having nothing to do.
const IDLE: u64 = 50_000;
/// Who reads the requests is idle itself for most of the time in which the pool is not: else it is what they wait for, or all
/// threads do the same.
const READER_BUSY: f64 = 0.3;
/// A pool whose threads wait for each other's locks, or for processors, gains little from more of them.
const IN_THE_WAY: f64 = 0.3;
/// A thread that is at work for less of the time than this has another task.
const AT_WORK: f64 = 0.01;
/// While there are no requests a pool's thread waits for work for this part of the time or more: one that is busy all the same
/// does something else.
const WITHOUT_WORK: f64 = 0.5;
/// For so many of the requests it must be seen that a thread of the pool answers, or wakes who does; for more where it is one thread
/// that does, since several can be done at a time: many that wait for one event, and are all answered then, are in no line.
const COMPLETED: f64 = 0.33;
const COMPLETED_BY_ONE: f64 = 0.6;
/// Of so many waits of the reader it is asked who ended them.
const MOST_ASKED: usize = 2_000;

/// What waits for a pool's threads.
pub(super) struct Line {
    /// How many threads it has.
    pub threads: usize,
    /// For how long requests waited in line, of that what more threads could save.
    pub waited: u64,
    /// How many came while all threads were taken.
    pub affected: usize,
    /// The most that waited at a time.
    pub most: usize,
    /// Whether the threads computed, and were not blocked, for most of the time.
    pub computes: bool,
    /// What they were blocked in: rows of calls.
    pub calls: BTreeMap<usize, u64>,
    /// Their samples: rows.
    pub samples: Vec<usize>,
}

/// The pool that requests wait for most; none where they wait for none.
pub(super) fn find(analysis: &Analysis) -> Option<Line> {
    let processes = in_hand::by_process(analysis);
    let lines = processes.iter().flat_map(|(&pid, requests)| of_process(analysis, pid, requests));
    lines.max_by_key(|line| line.waited)
}

/// A place at which threads wait: the call, and its script's stack where there is one, else its native one.
type Place = (u16, u32, u32);

fn place(call: &Call) -> Place {
    // An interpreter comes to one line of a script by several ways of its own.
    let native = if call.script_stack == 0 { call.stack } else { 0 };
    (call.number, native, call.script_stack)
}

fn of_process(analysis: &Analysis, pid: u32, requests: &[InHand]) -> Vec<Line> {
    let readers: BTreeSet<u32> = requests.iter().map(|one| one.reader).collect();
    let busy = merge(requests.iter().map(|one| (one.from, one.to)).collect());
    let threads = analysis.threads.all();
    let mut pools: BTreeMap<Place, Vec<usize>> = BTreeMap::new();
    for slot in (0..threads.len()).filter(|&slot| threads[slot].pid == pid && !readers.contains(&threads[slot].tid)) {
        if let Some(place) = waits_for_work(analysis, slot, &busy) {
            pools.entry(place).or_default().push(slot);
        }
    }
    pools.into_iter().filter_map(|(place, pool)| of_pool(analysis, requests, &busy, place, &pool)).collect()
}

/// Where a thread waits while there are no requests, for most of that time; none where there is no such place. Of a wait that was
/// not over when recording ended only the call is known.
fn waits_for_work(analysis: &Analysis, slot: usize, busy: &[(u64, u64)]) -> Option<Place> {
    let thread = &analysis.threads.all()[slot];
    let without_requests = |from: u64, to: u64| {
        let within = spans::length(spans::within(busy, from, to));
        to.saturating_sub(from).saturating_sub(within)
    };
    let mut idle: BTreeMap<Place, u64> = BTreeMap::new();
    let mut whole = 0_u64;
    let calls = &analysis.recording.calls[thread.calls.clone()];
    for call in calls.iter().filter(|call| call.blocked.0 >= IDLE && is_for_work(call)) {
        let length = without_requests(call.start.0, call_end(call));
        let sum = idle.entry(place(call)).or_default();
        *sum = sum.saturating_add(length);
        whole = whole.saturating_add(length);
    }
    let least = without_requests(thread.start, thread.end) as f64 * WITHOUT_WORK;
    let (place, length) = idle.into_iter().max_by_key(|(_, length)| *length)?;
    (length >= IDLE && whole as f64 >= least).then_some(place)
}

/// Whether a thread that is blocked in a call may wait for work that another one hands over.
fn is_for_work(call: &Call) -> bool {
    match syscall::class(call.number) {
        Class::Lock | Class::Poll | Class::WaitForSignal => true,
        Class::Read | Class::ReadVector => (call.connection, call.path) == (0, 0),
        _ => false,
    }
}

fn of_pool(analysis: &Analysis, requests: &[InHand], busy: &[(u64, u64)], idle: Place, pool: &[usize]) -> Option<Line> {
    let span = (busy.first()?.0, busy.last()?.1);
    let free = free(analysis, pool, idle, span);
    let (pool, free): (Vec<usize>, Vec<Spans>) = free.into_iter().filter(|(_, free)| works(free, span)).unzip();
    if pool.is_empty() {
        return None;
    }
    let taken = between(merge(free.into_iter().flatten().collect()), span);
    let mut line = in_line(requests, &taken, pool.len());
    let whole = spans::length(taken.iter().copied());
    if line.waited == 0 || !is_idle_otherwise(analysis, requests, &taken, whole) {
        return None;
    }
    let work = work(analysis, &pool, &taken, &mut line);
    let processors = u64::from(analysis.recording.manifest.host.processors).max(1);
    line.computes = work.on_cpu > work.blocked;
    if line.computes {
        // As many threads as processors do all that can be done; with fewer, what waits moves as much faster as there are more.
        let threads = pool.len() as u64;
        line.waited = line.waited.saturating_mul(processors.saturating_sub(threads)) / processors;
    }
    let all = work.on_cpu + work.blocked + work.in_the_way;
    let is_fixed = (work.in_the_way as f64) <= IN_THE_WAY * all as f64 && line.waited > 0;
    (is_fixed && completes(analysis, requests, &pool)).then_some(line)
}

type Spans = Vec<(u64, u64)>;

/// When each of some threads waited for work, or was not there.
fn free(analysis: &Analysis, pool: &[usize], idle: Place, (from, to): (u64, u64)) -> Vec<(usize, Spans)> {
    let of = |&slot: &usize| {
        let mut free = Vec::new();
        analysis.threads.walk(slot, from, to, &mut Cursor::default(), &mut |moment| {
            let waits =
                moment.state == State::Blocked && moment.call.is_some_and(|row| place(analysis.call(row)) == idle);
            if waits || moment.state == State::Absent {
                free.push((moment.start, moment.end));
            }
        });
        (slot, free)
    };
    pool.iter().map(of).collect()
}

/// Whether a thread does any work: one that waits for it at the same place and never gets any is none of the pool.
fn works(free: &[(u64, u64)], (from, to): (u64, u64)) -> bool {
    let free = spans::length(free.iter().copied());
    (to - from).saturating_sub(free) as f64 >= AT_WORK * (to - from) as f64
}

/// What lies between some spans, which are in order.
fn between(spans: Spans, (from, to): (u64, u64)) -> Spans {
    let mut between = Vec::new();
    let mut at = from;
    for (start, end) in spans.into_iter().chain([(to, to)]) {
        if at < start {
            between.push((at, start));
        }
        at = at.max(end);
    }
    between
}

/// How many requests waited, and for how long, while as many others had all threads.
fn in_line(requests: &[InHand], taken: &[(u64, u64)], threads: usize) -> Line {
    let mut steps: Vec<(u64, isize)> = requests.iter().flat_map(|one| [(one.from, 1), (one.to, -1)]).collect();
    // Of what happens at one time the ends come first.
    steps.sort_unstable();
    let threads = threads as isize;
    let mut line = Line {
        threads: threads.unsigned_abs(),
        waited: 0,
        affected: 0,
        most: 0,
        computes: false,
        calls: BTreeMap::new(),
        samples: Vec::new(),
    };
    let (mut count, mut at, mut spans) = (0_isize, 0, taken.iter().peekable());
    for (time, step) in steps {
        while let Some(&&(from, to)) = spans.peek().filter(|span| span.0 < time) {
            let waiting = (count - threads).max(0).unsigned_abs();
            let length = to.min(time).saturating_sub(from.max(at));
            line.waited = line.waited.saturating_add(length.saturating_mul(waiting as u64));
            if length > 0 {
                line.most = line.most.max(waiting);
            }
            if to > time {
                break;
            }
            spans.next();
        }
        let is_taken = spans.peek().is_some_and(|span| span.0 < time);
        count += step;
        line.affected += usize::from(step > 0 && count > threads && is_taken);
        at = time;
    }
    line
}

/// Whether those that read the requests had next to nothing to do while the pool had.
fn is_idle_otherwise(analysis: &Analysis, requests: &[InHand], taken: &[(u64, u64)], whole: u64) -> bool {
    let readers: BTreeSet<u32> = requests.iter().map(|one| one.reader).collect();
    readers.into_iter().filter_map(|tid| analysis.threads.slot(tid)).all(|slot| {
        let mut busy = 0_u64;
        each_moment(analysis, slot, taken, &mut |moment| {
            if matches!(moment.state, State::OnProcessor | State::Runnable) {
                busy = busy.saturating_add(moment.end - moment.start);
            }
        });
        busy as f64 <= READER_BUSY * whole as f64
    })
}

fn each_moment(analysis: &Analysis, slot: usize, spans: &[(u64, u64)], emit: &mut dyn FnMut(crate::threads::Moment)) {
    let mut cursor = Cursor::default();
    for &(from, to) in spans {
        analysis.threads.walk(slot, from, to, &mut cursor, emit);
    }
}

/// What the threads of a pool did.
#[derive(Default)]
struct Work {
    on_cpu: u64,
    /// For others: a disk, a clock, another service.
    blocked: u64,
    /// For locks, or for processors.
    in_the_way: u64,
}

fn work(analysis: &Analysis, pool: &[usize], taken: &[(u64, u64)], line: &mut Line) -> Work {
    let mut work = Work::default();
    for &slot in pool {
        each_moment(analysis, slot, taken, &mut |moment| {
            let length = moment.end - moment.start;
            // What it polls elsewhere than where it waits for work is somebody else's answer.
            let is_busy = |row: usize| syscall::is_poll(analysis.call(row).number) || is_others(analysis, row);
            let others = moment.call.filter(|&row| is_busy(row));
            let sum = match (moment.state, others) {
                (State::OnProcessor, _) => &mut work.on_cpu,
                (State::Blocked | State::BlockedOnDisk, Some(row)) => {
                    *line.calls.entry(row).or_default() += length;
                    &mut work.blocked
                }
                (State::BlockedOnDisk, None) => &mut work.blocked,
                (State::Blocked | State::Runnable, _) => &mut work.in_the_way,
                (State::Absent, _) => return,
            };
            *sum = sum.saturating_add(length);
        });
        line.samples.extend(analysis.threads.all()[slot].samples.clone());
    }
    work
}

/// Whether the pool's threads answer the requests, or wake who has read and not answered them.
fn completes(analysis: &Analysis, requests: &[InHand], pool: &[usize]) -> bool {
    let threads = analysis.threads.all();
    let is_of_pool = |tid: u32| pool.iter().any(|&slot| threads[slot].tid == tid);
    let answered = requests.iter().filter(|one| is_of_pool(one.answers)).count();
    let (mut woken, mut asked) = (0, 0);
    // Who has no request in hand waits for one.
    for (reader, in_hand) in in_hand::by_reader_of(requests.iter()) {
        let Some(slot) = analysis.threads.slot(reader) else { continue };
        each_moment(analysis, slot, &in_hand, &mut |moment| {
            if moment.state != State::Blocked || asked >= MOST_ASKED {
                return;
            }
            asked += 1;
            woken += usize::from(waits::ended_by(analysis, slot, &moment).is_some_and(|slot| pool.contains(&slot)));
        });
    }
    let of = requests.len().min(MOST_ASKED);
    let least = if pool.len() == 1 { COMPLETED_BY_ONE } else { COMPLETED };
    (answered + woken) as f64 >= least * of as f64
}
