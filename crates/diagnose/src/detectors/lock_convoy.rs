//! P38: requests wait for a lock that other requests hold.

use super::{Found, costly_call, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::syscall;
use crate::threads::{Cursor, Moment, State};
use crate::waits;
use case::syscall::Class;
use case::{Nanos, Share};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

detector! {
    /// # lock-convoy
    ///
    /// ## What it is
    /// Threads that handle requests wait for each other: for a lock, for the interpreter's own lock, or for anything else that only
    /// so many can hold at once. Whatever is done under it is done one at a time, however many threads there are.
    ///
    /// ## Evidence
    /// Threads blocked on a lock (futex) for a millisecond or more while they handle a request, and woken by a thread that was
    /// handling another request in the meantime; what that thread did until then.
    ///
    /// ## What proves it
    /// The same load with a process per worker, or with the work moved out of the lock: the waits disappear. Nothing can take a lock
    /// away from outside without changing what the program does, so this remains a suspicion with an upper bound.
    ///
    /// ## Remedy
    /// Do what is slow before or after holding the lock, use finer locks instead of one for everything, or processes instead of
    /// threads where it is the interpreter's lock.
    ///
    /// ## Not to be confused with
    /// A request handed to another thread that does its work, and is waited for; a background thread that holds a lock;
    /// pool-exhausted, in which requests have not been read yet.
    "P38" "lock-convoy"
}

/// Taking a lock over takes microseconds, and interpreters pass theirs on within some; a longer wait is for what is done
/// under it.
const LEAST_WAIT: u64 = 1_000_000;
/// Where less of all requests' time is spent waiting so, it is not what makes them slow: the threads of an interpreter that all
/// compute now and then wait for each other as well.
const LEAST_SHARE: f64 = 0.4;
/// Fewer requests than this, or than one in so many, met by accident.
const LEAST_REQUESTS: usize = 3;
const RARE: usize = 20;
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
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let services = services(analysis);
    let waits = lock_waits(analysis, &services);
    let longest: u64 = waits.iter().map(|wait| length(&wait.moment)).sum();
    let (count, whole) = (analysis.exchanges.len(), analysis.exchange_wall());
    // Whoever had the lock is asked for only where it can matter.
    if waits.is_empty() || (longest as f64) < LEAST_SHARE * whole as f64 {
        return None;
    }
    let every = waits.len().div_ceil(MOST_WAITS);
    let mut calls: BTreeMap<usize, u64> = BTreeMap::new();
    let mut of_exchange: BTreeMap<usize, u64> = BTreeMap::new();
    let mut doing = Doing::default();
    for wait in waits.iter().step_by(every) {
        let Some(holder) = waits::ended_by(analysis, wait.thread, &wait.moment) else { continue };
        let is_busy_with_another = services.get(&holder).is_some_and(|all| {
            let first = all.partition_point(|one| one.to <= wait.moment.start);
            all[first..].iter().take_while(|one| one.from < wait.moment.end).any(|one| one.exchange != wait.exchange)
        });
        if holder == wait.thread || !is_busy_with_another {
            continue;
        }
        *of_exchange.entry(wait.exchange).or_default() += length(&wait.moment);
        if let Some(row) = wait.moment.call {
            *calls.entry(row).or_default() += length(&wait.moment);
        }
        doing.add(analysis, holder, &wait.moment);
    }
    let wall = of_exchange.values().sum::<u64>() * every as u64;
    let affected = of_exchange.len() * every;
    if affected < LEAST_REQUESTS.max(count / RARE) || (wall as f64) < LEAST_SHARE * whole as f64 {
        return None;
    }
    let place = costly_call(analysis, calls.iter().map(|(&row, &length)| (row, length)));
    let requests = count.max(1) as u64;
    let (part, each) = (Nanos(wall / requests), Nanos(whole / requests));
    let usual = Nanos(median(of_exchange.values().copied().collect()));
    Some(Found {
        title: format!("Requests wait for a lock that other requests hold: {part} of every {each} request{}", place.in_words()),
        what: "Requests wait for a lock that other requests hold".to_string(),
        mechanism: vec![
            format!("Half of {} requests waited at least {usual} in total, each time until another request let go.", affected.min(count)),
            doing.in_words(),
        ],
        saving: PotentialSaving { wall, affected: affected.min(count) as u64, ..PotentialSaving::default() },
        place,
        remedy: "Do what is slow before or after holding the lock, use finer locks instead of one for everything, or processes \
                 instead of threads where it is the interpreter's lock."
            .to_string(),
        rows: rows("calls", calls.keys().copied()),
        ..Found::default()
    })
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

/// The waits for locks within what the threads dealt with.
fn lock_waits(analysis: &Analysis, services: &FxHashMap<usize, Vec<Service>>) -> Vec<LockWait> {
    let mut found = Vec::new();
    for (&thread, all) in services {
        let mut cursor = Cursor::default();
        for service in all {
            analysis.threads.walk(thread, service.from, service.to, &mut cursor, &mut |moment| {
                let is_lock = |row: usize| case::syscall::class(analysis.call(row).number) == Class::Lock;
                if moment.state == State::Blocked && length(&moment) >= LEAST_WAIT && moment.call.is_some_and(is_lock) {
                    found.push(LockWait { exchange: service.exchange, thread, moment });
                }
            });
        }
    }
    found.sort_by_key(|wait| (wait.moment.start, wait.thread));
    found
}

/// What those did who had the lock.
#[derive(Default)]
struct Doing {
    on_cpu: u64,
    blocked: BTreeMap<u16, u64>,
}

impl Doing {
    fn add(&mut self, analysis: &Analysis, holder: usize, during: &Moment) {
        let slept = |moment: &Moment| moment.call.is_some_and(|row| analysis.call(row).result == syscall::TIMED_OUT);
        analysis.threads.walk(holder, during.start, during.end, &mut Cursor::default(), &mut |moment| {
            let call = moment.call.map(|row| analysis.call(row).number);
            match (moment.state, call) {
                (State::OnProcessor, _) => self.on_cpu += length(&moment),
                // It waited for its own turn, and not for a time to pass.
                (State::Blocked, Some(number)) if case::syscall::class(number) == Class::Lock && !slept(&moment) => (),
                (State::Blocked | State::BlockedOnDisk, Some(number)) => {
                    *self.blocked.entry(number).or_default() += length(&moment);
                }
                _ => (),
            }
        });
    }

    fn in_words(&self) -> String {
        let blocked: u64 = self.blocked.values().sum();
        let all = (self.on_cpu + blocked).max(1) as f64;
        let most = self.blocked.iter().max_by_key(|(_, length)| **length).map(|(&number, _)| syscall::name(number));
        match most {
            Some(call) if blocked > self.on_cpu => {
                format!("Whoever held it was blocked {} of the time, mostly in {call}.", Share(blocked as f64 / all))
            }
            _ => format!("Whoever held it was on CPU {} of the time.", Share(self.on_cpu as f64 / all)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::syscall::FUTEX;
    use crate::tests::{answer, names};
    use case::tables::Thread;
    use case::{Nanos, Recording};

    const OTHER: u32 = SERVER + 1;
    const HELPER: u32 = SERVER + 2;
    const NANOSLEEP: u16 = 35;

    /// Rounds in which two clients ask at the same time, each on a thread of its own of the server; the second thread waits until
    /// `waker` lets go of what it holds for 10 ms, asleep.
    fn rounds(waker: u32) -> Recording {
        let mut fixture = Fixture::new();
        fixture.process(CLIENT + 1, "client");
        fixture.connect(1, CLIENT);
        fixture.connect(2, CLIENT + 1);
        let start = Nanos(fixture.now);
        for tid in [OTHER, HELPER] {
            fixture.recording.threads.push(Thread { tid, pid: SERVER, start, ..Thread::default() });
        }
        fixture.script(6, &["server.py:7:enter"]);
        for _ in 0..10 {
            let start = fixture.now;
            for (client, thread) in [(0, SERVER), (1, OTHER)] {
                fixture.now = start;
                fixture.moves(CLIENT + client, client + 1, WRITE, 200);
                fixture.travels(start + 3 * US, client + 1, client + 1001, 200);
                fixture.now = start + 12 * US;
                fixture.does(thread, 5 * US, READ, |call| {
                    (call.pid, call.connection, call.fd, call.result) = (SERVER, client + 1001, 9, 200);
                });
            }
            // The first sleeps, or its answer is due at once and a helper sleeps.
            let let_go = start + 10 * MS;
            fixture.now = start + 20 * US;
            fixture.waits(waker, let_go - fixture.now, NANOSLEEP, |call| call.pid = SERVER);
            fixture.does(waker, 20 * US, FUTEX, |call| (call.pid, call.result) = (SERVER, 1));
            fixture.now = start + 25 * US;
            fixture.waits(OTHER, let_go + US - fixture.now, FUTEX, |call| (call.pid, call.script_stack) = (SERVER, 6));
            fixture.recording.switches.last_mut().expect("it waited").waker = waker;
            let answers = [
                (0, SERVER, if waker == SERVER { let_go + 30 * US } else { start + 30 * US }),
                (1, OTHER, let_go + 40 * US),
            ];
            for (client, thread, at) in answers {
                fixture.now = at;
                fixture.does(thread, 5 * US, WRITE, |call| {
                    (call.pid, call.connection, call.fd, call.result) = (SERVER, client + 1001, 9, 1000);
                });
                fixture.travels(at + 3 * US, client + 1001, client + 1, 1000);
                fixture.now = start + 6 * US;
                fixture.waits_for(CLIENT + client, client + 1, at + 12 * US - fixture.now, 1000);
            }
            fixture.now = start + 11 * MS;
        }
        fixture.end()
    }

    #[test]
    fn a_request_that_waits_until_another_lets_go_is_found() {
        let answer = answer(&rounds(SERVER));
        let finding =
            answer.findings.iter().find(|one| one.name == "lock-convoy").unwrap_or_else(|| panic!("{answer:#?}"));
        assert!((0.45..0.55).contains(&finding.cost.share_of_wall), "{finding:#?}");
        assert_eq!(finding.place[0].line, 7);
        assert!(finding.mechanism[1].contains("mostly in nanosleep"), "{:?}", finding.mechanism);
    }

    #[test]
    fn a_request_that_waits_for_a_thread_of_the_background_is_left_alone() {
        assert!(!names(&rounds(HELPER)).contains(&"lock-convoy".to_string()));
    }
}
