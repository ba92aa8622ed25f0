//! P38: requests wait for a lock that other requests hold.

use super::{Found, costly_call, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::syscall;
use crate::threads::{Cursor, Moment, State};
use crate::waits;
use case::syscall::Class;
use case::tables::Call;
use case::{Nanos, Share};
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
    /// Threads blocked on a lock (futex) for a millisecond or more while they handle a request, and woken by a thread that was
    /// handling another request in the meantime; what that thread did until then. Where that one waited for its own turn, whoever
    /// had the lock before it counts. A place at which threads wait without a request, too, is where they wait for work.
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
    /// pool-exhausted, in which requests have not been read yet. Locks that only a language's runtime knows (Go's mutex, asyncio's)
    /// are not seen.
    "P38" "lock-convoy"
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
}

fn detect(analysis: &Analysis) -> Option<Found> {
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
    let mut holders = Holders::default();
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

/// The waits for locks within what the threads dealt with, in order of their ends.
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
    let idle = waits_for_work(analysis, services, &found);
    found.retain(|wait| wait.moment.call.is_none_or(|row| !idle.contains(&place(analysis.call(row)))));
    found.sort_by_key(|wait| (wait.moment.end, wait.thread));
    found
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
        if case::syscall::class(call.number) == Class::Lock && servers.contains(&call.pid) {
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

/// Who had locks, as far as it has been asked.
#[derive(Default)]
struct Holders {
    /// The waits of each thread, in order of their ends, with the share of them in which requests had the lock.
    known: FxHashMap<usize, Vec<(Moment, f64)>>,
    doing: Doing,
}

impl Holders {
    /// For how long of a wait other requests had the lock. Whoever let go of it may have waited before for somebody else who had
    /// it: of that part it is known from that wait, which ended earlier.
    fn held_by_requests(
        &mut self,
        analysis: &Analysis,
        services: &FxHashMap<usize, Vec<Service>>,
        wait: &LockWait,
    ) -> u64 {
        let Some(holder) = waits::ended_by(analysis, wait.thread, &wait.moment) else { return 0 };
        let is_busy_with_another = services.get(&holder).is_some_and(|all| {
            let first = all.partition_point(|one| one.to <= wait.moment.start);
            all[first..].iter().take_while(|one| one.from < wait.moment.end).any(|one| one.exchange != wait.exchange)
        });
        let mut held = 0.0;
        if holder != wait.thread && is_busy_with_another {
            let turns = self.known.get(&holder).map_or(&[][..], Vec::as_slice);
            let during = &wait.moment;
            analysis.threads.walk(holder, during.start, during.end, &mut Cursor::default(), &mut |moment| {
                let share = self.doing.add(analysis, turns, &moment);
                held += length(&moment) as f64 * share;
            });
        }
        let share = held / length(&wait.moment).max(1) as f64;
        self.known.entry(wait.thread).or_default().push((wait.moment, share));
        held as u64
    }
}

/// What those did who had the lock.
#[derive(Default)]
struct Doing {
    on_cpu: u64,
    blocked: BTreeMap<u16, u64>,
}

impl Doing {
    /// Adds a moment of a thread that let go of a lock later, and says which share of it a request had the lock. `turns` are that
    /// thread's own waits for locks.
    fn add(&mut self, analysis: &Analysis, turns: &[(Moment, f64)], moment: &Moment) -> f64 {
        let call = moment.call.map(|row| analysis.call(row));
        match (moment.state, call) {
            (State::OnProcessor, _) => self.on_cpu += length(moment),
            (State::Blocked, Some(call)) if case::syscall::class(call.number) == Class::Lock => {
                let first = turns.partition_point(|(turn, _)| turn.end <= moment.start);
                // It waited for its own turn, and not for a time to pass.
                if let Some((_, share)) = turns.get(first).filter(|(turn, _)| turn.start < moment.end) {
                    return *share;
                }
                if call.result == syscall::TIMED_OUT {
                    *self.blocked.entry(call.number).or_default() += length(moment);
                }
            }
            (State::Blocked | State::BlockedOnDisk, Some(call)) => {
                *self.blocked.entry(call.number).or_default() += length(moment);
            }
            _ => (),
        }
        1.0
    }

    /// For how much of the time they were blocked.
    fn blocked_share(&self) -> f64 {
        let blocked = self.blocked.values().sum::<u64>();
        blocked as f64 / (self.on_cpu + blocked).max(1) as f64
    }

    fn in_words(&self) -> String {
        let blocked = self.blocked_share();
        let most = self.blocked.iter().max_by_key(|(_, length)| **length).map(|(&number, _)| syscall::name(number));
        match most.filter(|_| blocked > 0.5) {
            Some(call) => format!("Whoever held it was blocked {} of the time, mostly in {call}.", Share(blocked)),
            None => format!("Whoever held it was on CPU {} of the time.", Share(1.0 - blocked)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::syscall::FUTEX;
    use crate::tests::{answer, names};
    use case::tables::{Call, Thread};
    use case::{Nanos, Recording};

    const OTHER: u32 = SERVER + 1;
    const HELPER: u32 = SERVER + 2;
    const NANOSLEEP: u16 = 35;

    /// What whoever lets go does before.
    #[derive(Clone, Copy, PartialEq)]
    enum Before {
        Sleeps,
        Computes,
        /// For the lock, which the helper has that is in the background.
        Waits,
    }

    /// What happens while the second request waits.
    #[derive(Clone, Copy)]
    struct Scene {
        /// The thread that lets go.
        waker: u32,
        before: Before,
        /// When the second request needs what the first has for 10 ms.
        needed_after: u64,
        /// Whether the server's threads are in their reads before a request comes.
        reads_ahead: bool,
    }

    const SLEEPS: Scene = Scene { waker: SERVER, before: Before::Sleeps, needed_after: 25 * US, reads_ahead: false };

    /// Rounds in which two clients ask at the same time, each on a thread of its own of the server; the second thread waits until
    /// the waker lets go of what it holds for 10 ms.
    fn rounds(scene: Scene) -> Recording {
        let mut fixture = Fixture::new();
        fixture.process(CLIENT + 1, "client");
        fixture.connect(1, CLIENT);
        fixture.connect(2, CLIENT + 1);
        let start = Nanos(fixture.now);
        for tid in [OTHER, HELPER] {
            fixture.recording.threads.push(Thread { tid, pid: SERVER, start, ..Thread::default() });
        }
        fixture.script(6, &["server.py:7:enter"]);
        let mut idle = [fixture.now; 2];
        fixture.now += 100 * US;
        for _ in 0..10 {
            let start = fixture.now;
            for (client, thread) in [(0, SERVER), (1, OTHER)] {
                fixture.now = start;
                fixture.moves(CLIENT + client, client + 1, WRITE, 200);
                fixture.travels(start + 3 * US, client + 1, client + 1001, 200);
                let reads = |call: &mut Call| {
                    (call.pid, call.connection, call.fd, call.result) = (SERVER, client + 1001, 9, 200);
                };
                if scene.reads_ahead {
                    fixture.now = idle[client as usize];
                    fixture.waits(thread, start + 17 * US - fixture.now, READ, reads);
                } else {
                    fixture.now = start + 12 * US;
                    fixture.does(thread, 5 * US, READ, reads);
                }
            }
            // The first has it, or its answer is due at once and a helper has it.
            let let_go = start + 10 * MS;
            fixture.now = start + 20 * US;
            match scene.before {
                Before::Sleeps => {
                    fixture.waits(scene.waker, let_go - fixture.now, NANOSLEEP, |call| call.pid = SERVER);
                }
                Before::Computes => (),
                Before::Waits => {
                    fixture.waits(scene.waker, let_go - fixture.now, FUTEX, |call| call.pid = SERVER);
                    fixture.recording.switches.last_mut().expect("it waited").waker = HELPER;
                    fixture.now = let_go - 5 * US;
                    fixture.does(HELPER, 10 * US, FUTEX, |call| (call.pid, call.result) = (SERVER, 1));
                }
            }
            fixture.now = let_go;
            fixture.does(scene.waker, 20 * US, FUTEX, |call| (call.pid, call.result) = (SERVER, 1));
            fixture.now = start + scene.needed_after;
            let waits = let_go + US - fixture.now;
            fixture.waits(OTHER, waits, FUTEX, |call| (call.pid, call.script_stack) = (SERVER, 6));
            fixture.recording.switches.last_mut().expect("it waited").waker = scene.waker;
            let answers = [
                (0, SERVER, if scene.waker == SERVER { let_go + 30 * US } else { start + 30 * US }),
                (1, OTHER, let_go + 40 * US),
            ];
            for (client, thread, at) in answers {
                fixture.now = at;
                fixture.does(thread, 5 * US, WRITE, |call| {
                    (call.pid, call.connection, call.fd, call.result) = (SERVER, client + 1001, 9, 1000);
                });
                idle[client as usize] = fixture.now + US;
                fixture.travels(at + 3 * US, client + 1001, client + 1, 1000);
                fixture.now = start + 6 * US;
                fixture.waits_for(CLIENT + client, client + 1, at + 12 * US - fixture.now, 1000);
            }
            fixture.now = start + 11 * MS;
        }
        fixture.end()
    }

    fn is_found(scene: Scene) -> bool {
        names(&rounds(scene)).contains(&"lock-convoy".to_string())
    }

    #[test]
    fn a_request_that_waits_until_another_lets_go_is_found() {
        for scene in [SLEEPS, Scene { reads_ahead: true, ..SLEEPS }] {
            let answer = answer(&rounds(scene));
            let finding =
                answer.findings.iter().find(|one| one.name == "lock-convoy").unwrap_or_else(|| panic!("{answer:#?}"));
            assert!((0.45..0.55).contains(&finding.cost.share_of_wall), "{finding:#?}");
            assert_eq!(finding.place[0].line, 7);
            assert!(finding.mechanism[1].contains("mostly in nanosleep"), "{:?}", finding.mechanism);
        }
    }

    #[test]
    fn a_request_that_waits_for_a_thread_of_the_background_is_left_alone() {
        assert!(!is_found(Scene { waker: HELPER, ..SLEEPS }));
        assert!(!is_found(Scene { waker: HELPER, reads_ahead: true, ..SLEEPS }));
        // Nor is whoever had it for a moment in between.
        assert!(!is_found(Scene { before: Before::Waits, ..SLEEPS }));
    }

    #[test]
    fn a_thread_that_waits_at_the_same_place_without_a_request_waits_for_work() {
        let mut recording = rounds(SLEEPS);
        let end = recording.calls.iter().map(|call| call.start).max().expect("calls");
        let wait = recording.calls.iter().find(|call| call.number == FUTEX && call.script_stack == 6).expect("a wait");
        let idle = Call { start: end + Nanos(MS), blocked: Nanos(30 * MS), duration: Nanos(30 * MS), ..wait.clone() };
        let elsewhere = Call { script_stack: 0, ..idle.clone() };
        recording.calls.push(elsewhere);
        recording.sort();
        assert!(names(&recording).contains(&"lock-convoy".to_string()));
        recording.calls.push(idle);
        recording.sort();
        assert!(!names(&recording).contains(&"lock-convoy".to_string()));
    }

    #[test]
    fn less_of_it_counts_where_whoever_has_it_sleeps_with_it() {
        let a_third = Scene { needed_after: 4 * MS, ..SLEEPS };
        assert!(is_found(a_third));
        assert!(!is_found(Scene { before: Before::Computes, ..a_third }));
        assert!(!is_found(Scene { needed_after: 8 * MS, ..SLEEPS }), "a tenth");
    }
}
