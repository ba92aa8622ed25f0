//! P38: requests wait for a lock that other requests hold.

pub(super) mod clients;
mod held;
mod holders;
mod in_turn;
mod interpreter;
mod refused;
mod signalled;

use super::{Found, costly_call, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::syscall;
use crate::threads::{Cursor, Moment, State};
use case::Nanos;
use case::syscall::Class;
use case::tables::Call;
use held::Held;
use holders::Holders;
use refused::Locked;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

detector! {
    /// # lock-convoy
    ///
    /// ## What it is
    /// Threads that handle requests wait for each other: for a lock, for the interpreter's own lock, or for anything else that only
    /// so many can hold at once. Whatever is done under it is done one at a time, however many threads there are.
    ///
    /// ## Evidence
    /// Threads blocked on a lock (a futex, or a file's: flock, fcntl) for a millisecond or more while they handle a request, and
    /// woken by a thread that was handling another request in the meantime; what that thread did until then. Where that one
    /// waited for its own turn, whoever had the lock before it counts. A place at which threads wait without a request, too, is
    /// where they wait for work.
    ///
    /// A sleep between two attempts at a file's lock that is refused is such a wait as well, for the request that got it last.
    /// So is a process that waits for events until another one, which waits at the same place at other times, sends it a
    /// signal: PostgreSQL's do that for a row that another transaction has changed. Where whoever has the lock waited for its
    /// client meanwhile, it was kept from one request to the next.
    ///
    /// Or threads of one process of which exactly one computes while others wait for a lock, and never two at the same time,
    /// though each computes in its turn: an interpreter's own lock (Python's GIL, Ruby's GVL). Who waits for that asks again
    /// and again, so that no single wait tells who had it; what counts is for how long one thread computed while requests were
    /// in hand and others waited. Processes, of which as many compute at a time as there are CPUs, would not save all of that;
    /// only what they would save is counted.
    ///
    /// Or threads of a client that wait at one place and let each other go in turn, while its requests run one at a time: each
    /// is made under the lock.
    ///
    /// Or answers of a server that has nothing to do: while requests that it has read wait, each leaves as long after the one before
    /// it as one takes that comes alone. Its runtime alone knows where they wait for each other (Go's mutex, asyncio's lock), but not
    /// that they do.
    ///
    /// In Java the methods in which a thread waits tell what for: a lock, a permit of a semaphore, something that is put
    /// back into a queue. Who waits for a result of another thread's (a future, a latch) waits for nothing that is held.
    ///
    /// ## What proves it
    /// The same load with a process per worker, or with the work moved out of the lock: the waits disappear. Nothing can take a lock
    /// away from outside without changing what the program does, so this remains a suspicion with an upper bound.
    ///
    /// ## Remedy
    /// Do what is slow before or after holding the lock, use finer locks instead of one for everything, or processes instead of
    /// threads where it is the interpreter's lock. A file of a session is to be closed before what is slow begins. In a
    /// transaction, change what all others change last, do nothing else before it is committed, and spread a counter
    /// over several rows.
    ///
    /// ## Not to be confused with
    /// A request handed to another thread that does its work, and is waited for; a background thread that holds a lock;
    /// pool-exhausted, in which requests have not been read yet, or each asks another server; server-rate-limit, in which one that
    /// comes when nobody waits is answered at once.
    "P38" "lock-convoy",
    not_switched: "What a lock guards may break without it."
}

/// Taking a lock over takes microseconds, and interpreters pass theirs on within some; a longer wait is for what is done
/// under it.
const LEAST_WAIT: u64 = 1_000_000;
/// Where less of all requests' time is spent waiting so, it is not what makes them slow: the threads of an interpreter that all
/// compute now and then wait for each other as well.
const LEAST_SHARE: f64 = 0.4;
/// Where whoever has it is blocked with it, that is no interpreter's lock, which is let go of before: less is worth mending. Of two
/// requests that take turns with all of their work each waits for a little less than half of its time.
const LEAST_SHARE_BLOCKED: f64 = 0.2;
/// So much of the time they are blocked then: who comes to an interpreter's lock after a wait of its own was blocked as well.
const NEARLY_ALWAYS: f64 = 0.8;
/// Fewer requests than this, or than one in so many, met by accident.
const LEAST_REQUESTS: usize = 3;
const RARE: usize = 20;
/// A place at which threads wait for this part of the time that they wait there within requests, or longer, without any in hand, is
/// where they wait for work: schedulers' threads (Go) park themselves in the same way in the middle of a request.
const WITHOUT_REQUEST: f64 = 0.25;
/// So many waits are asked about at most, evenly spread.
const MOST_WAITS: usize = 20_000;

/// A stretch in which a thread dealt with an exchange, from its first read to its last write.
#[derive(Clone, Copy)]
struct Service {
    exchange: usize,
    from: u64,
    to: u64,
}

/// A wait for a lock, by a thread that dealt with an exchange.
struct LockWait {
    exchange: usize,
    thread: usize,
    moment: Moment,
    /// The path whose lock is asked for again and again, where that is what it sleeps for.
    asks_for: Option<u32>,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let among_requests = || among_requests(analysis).or_else(|| clients::detect(analysis));
    interpreter::detect(analysis).or_else(among_requests).or_else(|| in_turn::detect(analysis))
}

/// Threads that wait in the middle of a request for another one.
fn among_requests(analysis: &Analysis) -> Option<Found> {
    let services = services(analysis);
    let waits = lock_waits(analysis, &services);
    let longest: u64 = waits.iter().map(|wait| length(&wait.moment)).sum();
    let (count, whole) = (analysis.exchanges.len(), analysis.exchange_wall());
    // Whoever had the lock is asked for only where it can matter.
    if waits.is_empty() || (longest as f64) < LEAST_SHARE_BLOCKED * whole as f64 {
        return None;
    }
    let every = waits.len().div_ceil(MOST_WAITS);
    let mut calls: BTreeMap<usize, u64> = BTreeMap::new();
    let mut of_exchange: BTreeMap<usize, u64> = BTreeMap::new();
    let asks_again = waits.iter().any(|wait| wait.asks_for.is_some());
    let mut holders = Holders::new(if asks_again { Locked::of(analysis, &services) } else { Locked::default() });
    for wait in waits.iter().step_by(every) {
        let by_requests = holders.held_by_requests(analysis, &services, wait);
        if by_requests < LEAST_WAIT {
            continue;
        }
        *of_exchange.entry(wait.exchange).or_default() += by_requests;
        if let Some(row) = wait.moment.call {
            *calls.entry(row).or_default() += by_requests;
        }
    }
    let doing = holders.doing;
    let wall = of_exchange.values().sum::<u64>() * every as u64;
    let affected = of_exchange.len() * every;
    let least = if doing.blocked_share() >= NEARLY_ALWAYS { LEAST_SHARE_BLOCKED } else { LEAST_SHARE };
    if affected < LEAST_REQUESTS.max(count / RARE) || (wall as f64) < least * whole as f64 {
        return None;
    }
    let place = costly_call(analysis, calls.iter().map(|(&row, &length)| (row, length)));
    let requests = count.max(1) as u64;
    let (part, each) = (Nanos(wall / requests), Nanos(whole / requests));
    let usual = Nanos(median(of_exchange.values().copied().collect()));
    let held = Held::of_most(analysis, &calls);
    let what = format!("Requests wait for {} that other requests hold", held.in_words());
    Some(Found {
        title: format!("{what}: {part} of every {each} request{}", place.in_words()),
        what,
        mechanism: vec![
            format!(
                "Half of {} requests waited at least {usual} in total, each time until another request released it.",
                affected.min(count)
            ),
            doing.in_words(analysis),
        ],
        saving: PotentialSaving { wall, affected: affected.min(count) as u64, ..PotentialSaving::default() },
        place,
        remedy: held.remedy(doing.remedy()).to_string(),
        rows: rows("calls", calls.keys().copied()),
        ..Found::default()
    })
}

/// Whether most of some sleeps, rows of the table of calls, are for a file's lock that is refused, and that other requests hold.
pub(super) fn explains(analysis: &Analysis, sleeps: &[usize]) -> bool {
    let refused = sleeps.iter().filter(|&&row| refused::path_asked_for(analysis, row).is_some()).count();
    refused * 2 >= sleeps.len() && refused > 0 && among_requests(analysis).is_some()
}

fn length(moment: &Moment) -> u64 {
    moment.end - moment.start
}

/// What each of the server's threads dealt with, in order of time.
fn services(analysis: &Analysis) -> FxHashMap<usize, Vec<Service>> {
    let mut services: FxHashMap<usize, Vec<Service>> = FxHashMap::default();
    for (number, exchange) in analysis.exchanges.iter().enumerate() {
        let mut of_thread: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        for &row in analysis.server_transfers(exchange) {
            let call = analysis.call(row as usize);
            // What it read it has from the end of the call on; what it writes it is done with at its start.
            let time = if syscall::is_read(call.number) { crate::threads::call_end(call) } else { call.start.0 };
            let span = of_thread.entry(call.tid).or_insert((time, time));
            *span = (span.0.min(time), span.1.max(time));
        }
        for (tid, (from, to)) in of_thread {
            if let Some(thread) = analysis.threads.slot(tid).filter(|_| from < to) {
                services.entry(thread).or_default().push(Service { exchange: number, from, to });
            }
        }
    }
    for all in services.values_mut() {
        all.sort_by_key(|one| one.to);
    }
    services
}

/// The waits for locks within what the threads dealt with, in order of their ends.
fn lock_waits(analysis: &Analysis, services: &FxHashMap<usize, Vec<Service>>) -> Vec<LockWait> {
    let (mut found, mut by_signal) = (Vec::new(), Vec::new());
    for (&thread, all) in services {
        let mut cursor = Cursor::default();
        for service in all {
            analysis.threads.walk(thread, service.from, service.to, &mut cursor, &mut |moment| {
                let Some(row) = moment.call.filter(|_| moment.state == State::Blocked && length(&moment) >= LEAST_WAIT)
                else {
                    return;
                };
                let asks_for = refused::path_asked_for(analysis, row);
                let wait = LockWait { exchange: service.exchange, thread, moment, asks_for };
                if asks_for.is_some() || case::syscall::class(analysis.call(row).number) == Class::Lock {
                    found.extend((!held::is_for_a_result(analysis, row)).then_some(wait));
                } else if let Some(holder) = signalled::holder(analysis, thread, &moment, row) {
                    by_signal.push((holder, wait));
                }
            });
        }
    }
    found.extend(in_turn(analysis, by_signal));
    let idle = waits_for_work(analysis, services, &found);
    found.retain(|wait| wait.moment.call.is_none_or(|row| !idle.contains(&place(analysis.call(row)))));
    found.sort_by_key(|wait| (wait.moment.end, wait.thread));
    found
}

/// The waits of those that whoever ended them makes as well: they take turns. A message between processes goes one way.
fn in_turn(analysis: &Analysis, by_signal: Vec<(usize, LockWait)>) -> Vec<LockWait> {
    let key = |thread: usize, wait: &LockWait| Some((thread, place(analysis.call(wait.moment.call?))));
    let waiting: BTreeSet<_> = by_signal.iter().filter_map(|(_, wait)| key(wait.thread, wait)).collect();
    let takes_turns = |holder: usize, wait: &LockWait| key(holder, wait).is_some_and(|key| waiting.contains(&key));
    by_signal.into_iter().filter(|(holder, wait)| takes_turns(*holder, wait)).map(|(_, wait)| wait).collect()
}

/// A place in the code: its native stack and its script's.
type Stacks = (u32, u32);

fn place(call: &Call) -> Stacks {
    (call.stack, call.script_stack)
}

/// The places at which the servers' threads wait without a request in hand as well.
fn waits_for_work(
    analysis: &Analysis,
    services: &FxHashMap<usize, Vec<Service>>,
    within: &[LockWait],
) -> BTreeSet<Stacks> {
    let mut inside: BTreeMap<Stacks, u64> = BTreeMap::new();
    for wait in within {
        if let Some(row) = wait.moment.call {
            *inside.entry(place(analysis.call(row))).or_default() += length(&wait.moment);
        }
    }
    let servers: BTreeSet<u32> = services.keys().map(|&thread| analysis.threads.all()[thread].pid).collect();
    let mut all: BTreeMap<Stacks, u64> = BTreeMap::new();
    for call in analysis.recording.calls.iter().filter(|call| call.blocked.0 >= LEAST_WAIT) {
        if inside.contains_key(&place(call)) && servers.contains(&call.pid) {
            let sum = all.entry(place(call)).or_default();
            *sum = sum.saturating_add(call.blocked.0);
        }
    }
    let is_idle = |place: &Stacks, inside: u64| {
        let outside = all.get(place).map_or(0, |all| all.saturating_sub(inside));
        outside as f64 >= WITHOUT_REQUEST * inside as f64
    };
    inside.into_iter().filter(|(place, inside)| is_idle(place, *inside)).map(|(place, _)| place).collect()
}

#[cfg(test)]
mod tests;
