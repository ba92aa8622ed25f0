//! Several clients of one server, with one thread or a pool of them.

use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE};
use crate::tests::{answer, names};
use case::tables::{Call, Connection, Thread};
use case::{Nanos, Recording};

const NANOSLEEP: u16 = 35;
const FUTEX: u16 = 202;
const POLL: u16 = 7;
const CLIENTS: u32 = 4;

/// Clients with a connection each to one server.
fn connected() -> Fixture {
    let mut fixture = Fixture::new();
    for client in 0..CLIENTS {
        if client > 0 {
            fixture.process(CLIENT + client, "client");
        }
        fixture.connect(client + 1, CLIENT + client);
    }
    fixture
}

/// All clients ask at once, and the server, which has waited since it was idle, hears of it.
fn all_ask(fixture: &mut Fixture, start: u64, idle: u64) {
    for client in 0..CLIENTS {
        fixture.now = start;
        fixture.moves(CLIENT + client, client + 1, WRITE, 200);
        fixture.travels(start + 3 * US, client + 1, client + 1001, 200);
    }
    fixture.now = idle;
    fixture.waits(SERVER, start + 12 * US - idle, EPOLL_WAIT, |call| call.result = CLIENTS.into());
}

/// Rounds in which four clients ask at the same time; `work` is what the server's only thread does for each request.
fn rounds(mut work: impl FnMut(&mut Fixture)) -> Recording {
    let mut fixture = connected();
    fixture.script(6, &["server.py:7:handle"]);
    let mut idle = fixture.now;
    for _ in 0..10 {
        let start = fixture.now;
        all_ask(&mut fixture, start, idle);
        let mut answered = Vec::new();
        for client in 0..CLIENTS {
            fixture.moves(SERVER, client + 1001, READ, 200);
            work(&mut fixture);
            answered.push(fixture.now);
            fixture.moves(SERVER, client + 1001, WRITE, 1000);
            fixture.travels(fixture.now - 2 * US, client + 1001, client + 1, 1000);
        }
        idle = fixture.now;
        for client in 0..CLIENTS {
            fixture.now = start + 5 * US;
            let end = answered[client as usize] + 12 * US;
            fixture.waits_for(CLIENT + client, client + 1, end - fixture.now, 1000);
        }
        fixture.now = idle + 100 * US;
    }
    fixture.off(SERVER, idle, fixture.now + MS);
    fixture.end()
}

#[test]
fn requests_that_lie_unread_while_the_only_thread_sleeps_for_others_are_found() {
    let answer = answer(&rounds(|fixture| {
        fixture.waits(SERVER, 5 * MS, NANOSLEEP, |call| call.script_stack = 6);
    }));
    let finding = answer.findings.iter().find(|one| one.name == "pool-exhausted").expect("it is found");
    // Of 5 + 10 + 15 + 20 ms, 5 each are a request's own.
    assert!((0.55..0.65).contains(&finding.cost.share_of_wall), "{finding:#?}");
    assert_eq!(finding.place[0].line, 7);
    assert!(finding.title.contains("the server's only worker"), "{}", finding.title);
    assert!(finding.mechanism[0].starts_with("30 of 40 requests"), "{:?}", finding.mechanism);
    assert!(finding.mechanism[0].contains("up to 3 at a time"), "{:?}", finding.mechanism);
}

#[test]
fn a_worker_that_polls_the_connection_on_which_it_asked_is_not_to_be_had() {
    let answer = answer(&rounds(|fixture| {
        if fixture.recording.connections.iter().all(|row| row.id != 77) {
            let asked = Connection { id: 77, pid: SERVER, peer: 0, ..fixture.recording.connections[0].clone() };
            fixture.recording.connections.push(asked);
        }
        fixture.waits(SERVER, 5 * MS, POLL, |call| (call.connection, call.argument_1, call.result) = (77, 1, 1));
    }));
    assert!(answer.findings.iter().any(|finding| finding.name == "pool-exhausted"), "{:?}", answer.findings);
    // Nor does the ledger say that it is about to wake up for the request.
    let wake_up = case::Account::WakeUp { end: case::End::Server };
    let wake_ups = answer.ledger.accounts.iter().filter(|one| one.account == wake_up).map(|one| one.ns);
    assert!(wake_ups.sum::<u64>() < MS, "{:#?}", answer.ledger);
}

#[test]
fn a_worker_that_a_client_takes_an_answer_from_slowly_is_not_to_be_had_and_one_that_waits_for_more_is() {
    let found = |number: u16| {
        let recording = rounds(|fixture| {
            let connection = fixture.recording.calls.last().expect("it read a request").connection;
            fixture
                .waits(SERVER, 5 * MS, number, |call| (call.connection, call.fd, call.result) = (connection, 3, 100));
        });
        answer(&recording).findings.into_iter().find(|finding| finding.name == "pool-exhausted")
    };
    let finding = found(WRITE).expect("it is found");
    assert!(finding.mechanism[1].contains("by clients that take their answers slowly"), "{:?}", finding.mechanism);
    assert!(finding.remedy.contains("proxy before the server"), "{}", finding.remedy);
    assert!(found(READ).is_none());
}

#[test]
fn a_runtime_that_sleeps_in_a_lock_until_a_time_is_over_sleeps() {
    let found = |result: i64| {
        let recording = rounds(|fixture| {
            fixture.waits(SERVER, 5 * MS, FUTEX, |call| (call.script_stack, call.result) = (6, result));
        });
        names(&recording).contains(&"pool-exhausted".to_string())
    };
    assert!(found(crate::syscall::TIMED_OUT));
    assert!(!found(0), "somebody let go of it");
}

#[test]
fn a_server_at_its_capacity_and_one_that_waits_for_a_lock_are_left_alone() {
    assert!(!names(&rounds(|fixture| fixture.now += 5 * MS)).contains(&"pool-exhausted".to_string()));
    let locked = rounds(|fixture| {
        fixture.waits(SERVER, 5 * MS, FUTEX, |_| {});
    });
    assert!(!names(&locked).contains(&"pool-exhausted".to_string()));
}

#[test]
fn one_request_at_a_time_waits_in_no_line() {
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    let mut idle = fixture.now;
    for _ in 0..20 {
        let start = fixture.now;
        crate::fixture::request(&mut fixture, CLIENT, 1, 5 * MS, &mut idle);
        let end = fixture.now;
        fixture.now = start + 20 * US;
        fixture.waits(SERVER, 4 * MS, NANOSLEEP, |_| {});
        fixture.now = end;
    }
    let mut recording = fixture.end();
    recording.calls.iter_mut().for_each(|call| call.blocked = call.blocked.min(Nanos(call.duration.0)));
    assert!(!names(&recording).contains(&"pool-exhausted".to_string()));
}

/// What the threads of a pool do for a request, for 5 ms.
#[derive(Clone, Copy, PartialEq)]
enum Work {
    Sleeps,
    Computes,
    /// For somebody's answer, until a time-out at most.
    Polls,
    /// For what another one has.
    Locks,
}

/// Where the pool's threads wait for work, and what they sleep in.
const WAITS_FOR_WORK: u32 = 8;

/// What a thread of the pool does for a request, which takes 5 ms.
fn works(fixture: &mut Fixture, tid: u32, work: Work) {
    let waits = |call: &mut Call| (call.pid, call.script_stack) = (SERVER, 6);
    match work {
        Work::Sleeps => _ = fixture.waits(tid, 5 * MS, NANOSLEEP, waits),
        Work::Polls => _ = fixture.waits(tid, 5 * MS, POLL, waits),
        Work::Locks => _ = fixture.waits(tid, 5 * MS, FUTEX, waits),
        Work::Computes => {
            fixture.computes(tid, 5 * MS, 9);
            fixture.recording.samples.iter_mut().filter(|row| row.tid == tid).for_each(|row| row.pid = SERVER);
        }
    }
}

/// Rounds in which four clients ask at the same time, whose requests the server's first thread reads and hands over to so many
/// others, which wake it for each answer.
fn handed_over(threads: u32, processors: u32, work: Work) -> Recording {
    let mut fixture = connected();
    fixture.recording.manifest.host.processors = processors;
    fixture.script(6, &["server.py:7:look"]);
    fixture.stack(9, &["server!hash", "server!work"]);
    let pool: Vec<u32> = (1..=threads).map(|thread| SERVER + thread).collect();
    for &tid in &pool {
        let start = Nanos(fixture.now);
        fixture.recording.threads.push(Thread { tid, pid: SERVER, start, ..Thread::default() });
    }
    let mut idle = fixture.now;
    let mut free = vec![fixture.now; pool.len()];
    for _ in 0..10 {
        let start = fixture.now;
        all_ask(&mut fixture, start, idle);
        for client in 0..CLIENTS {
            fixture.moves(SERVER, client + 1001, READ, 200);
        }
        let (begun, mut answered) = (fixture.now, Vec::new());
        for client in 0..CLIENTS {
            let worker = client as usize % pool.len();
            let tid = pool[worker];
            if client < threads {
                fixture.now = free[worker];
                let waits = |call: &mut Call| (call.pid, call.script_stack) = (SERVER, WAITS_FOR_WORK);
                fixture.waits(tid, begun - fixture.now, FUTEX, waits);
            } else {
                fixture.now = free[worker];
            }
            works(&mut fixture, tid, work);
            answered.push((fixture.now, client, tid));
            // An eventfd.
            fixture.does(tid, 5 * US, WRITE, |call| (call.pid, call.result) = (SERVER, 8));
            free[worker] = fixture.now;
        }
        answered.sort_unstable();
        let mut at = begun;
        for &(done, client, tid) in &answered {
            fixture.now = at;
            let until = (done + 3 * US).max(at + 4 * US);
            fixture.waits(SERVER, until - at, EPOLL_WAIT, |call| call.result = 1);
            fixture.recording.switches.last_mut().expect("it waited").waker = tid;
            fixture.does(SERVER, US, READ, |call| (call.fd, call.result) = (12, 8));
            fixture.moves(SERVER, client + 1001, WRITE, 1000);
            fixture.travels(fixture.now - 2 * US, client + 1001, client + 1, 1000);
            at = fixture.now;
        }
        idle = at;
        for &(done, client, _) in &answered {
            fixture.now = start + 5 * US;
            fixture.waits_for(CLIENT + client, client + 1, done + 60 * US - fixture.now, 1000);
        }
        fixture.now = idle + 100 * US;
    }
    let end = fixture.now + MS;
    for (&tid, &from) in pool.iter().zip(&free) {
        fixture.now = from;
        fixture.waits(tid, end + MS - from, FUTEX, |call| (call.pid, call.script_stack) = (SERVER, WAITS_FOR_WORK));
    }
    fixture.off(SERVER, idle, end);
    fixture.now = end;
    fixture.end()
}

#[test]
fn requests_that_wait_for_the_threads_that_they_are_handed_over_to_are_found() {
    for (threads, work, share) in
        [(1, Work::Sleeps, 0.6), (2, Work::Sleeps, 0.33), (1, Work::Polls, 0.6), (1, Work::Computes, 0.45)]
    {
        let answer = answer(&handed_over(threads, 4, work));
        let finding = answer.findings.iter().find(|one| one.name == "pool-exhausted");
        let finding = finding.unwrap_or_else(|| panic!("{threads}: {:#?}", answer.findings));
        // Of 5 + 10 + 15 + 20 ms with one thread, of 5 + 5 + 10 + 10 ms with two, 5 each are a request's own.
        assert!((share - 0.05..share + 0.05).contains(&finding.cost.share_of_wall), "{threads}: {finding:#?}");
        let thread = if threads == 1 { "the one thread to which" } else { "the 2 threads to which" };
        assert!(finding.title.contains(thread), "{}", finding.title);
        let place = finding.place.first().map(|place| place.function.as_str());
        assert_eq!(place, Some(if work == Work::Computes { "hash" } else { "look" }), "{finding:#?}");
    }
}

#[test]
fn a_thread_that_is_busy_without_requests_and_one_that_answers_all_at_once_are_no_pool() {
    let is_found = |recording: &Recording| names(recording).contains(&"pool-exhausted".to_string());
    let mut busy = handed_over(1, 4, Work::Sleeps);
    assert!(is_found(&busy));
    // Between the requests as well it sleeps.
    for call in busy.calls.iter_mut().filter(|call| call.script_stack == WAITS_FOR_WORK) {
        call.number = NANOSLEEP;
    }
    assert!(!is_found(&busy));
    // One event in three wakes the thread that answers.
    let mut at_once = handed_over(1, 4, Work::Sleeps);
    for (number, switch) in at_once.switches.iter_mut().filter(|one| one.waker == SERVER + 1).enumerate() {
        switch.waker = if number % 3 == 0 { switch.waker } else { 0 };
    }
    assert!(!is_found(&at_once));
}

#[test]
fn a_pool_that_is_large_enough_or_that_has_all_processors_or_that_waits_for_a_lock_is_left_alone() {
    for recording in [
        handed_over(4, 4, Work::Sleeps),
        handed_over(2, 2, Work::Computes),
        handed_over(1, 1, Work::Computes),
        handed_over(1, 4, Work::Locks),
    ] {
        assert!(!names(&recording).contains(&"pool-exhausted".to_string()));
    }
}

#[test]
fn a_server_that_looks_for_its_only_request_now_and_then_has_no_line() {
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    for _ in 0..10 {
        let start = fixture.now;
        fixture.moves(CLIENT, 1, WRITE, 200);
        fixture.travels(start + 3 * US, 1, 1001, 200);
        let waiting = fixture.now;
        fixture.now = start + US;
        fixture.waits(SERVER, 8 * MS, NANOSLEEP, |_| {});
        fixture.moves(SERVER, 1001, READ, 200);
        fixture.moves(SERVER, 1001, WRITE, 1000);
        let answered = fixture.now;
        fixture.travels(answered - 2 * US, 1001, 1, 1000);
        fixture.now = waiting;
        fixture.waits_for(CLIENT, 1, answered + 12 * US - waiting, 1000);
        fixture.now += 100 * US;
    }
    assert!(!names(&fixture.end()).contains(&"pool-exhausted".to_string()));
}

/// Rounds in which four clients ask at the same time, and the server's first thread wakes a thread for each, which reads the
/// request and waits 5 ms for somebody's answer. Meanwhile the first one waits for events at another place.
fn woken_for_each() -> Recording {
    let mut fixture = connected();
    let workers: Vec<u32> = (1..=CLIENTS).map(|thread| SERVER + thread).collect();
    let start = Nanos(fixture.now);
    let threads = workers.iter().map(|&tid| Thread { tid, pid: SERVER, start, ..Thread::default() });
    fixture.recording.threads.extend(threads);
    let (mut idle, mut free) = (fixture.now, vec![fixture.now; workers.len()]);
    for _ in 0..10 {
        let start = fixture.now;
        for client in 0..CLIENTS {
            fixture.now = start;
            fixture.moves(CLIENT + client, client + 1, WRITE, 200);
            fixture.travels(start + 3 * US, client + 1, client + 1001, 200);
        }
        fixture.now = idle;
        fixture.waits(SERVER, start + 12 * US - idle, EPOLL_WAIT, |call| call.script_stack = WAITS_FOR_WORK);
        let woken: Vec<u64> = workers
            .iter()
            .map(|_| {
                fixture.does(SERVER, 10 * US, FUTEX, |call| call.result = 1);
                fixture.now - 5 * US
            })
            .collect();
        let handed_over = fixture.now;
        for (client, &tid) in (0..CLIENTS).zip(&workers) {
            let index = client as usize;
            fixture.now = free[index];
            fixture.waits(tid, woken[index] - fixture.now, FUTEX, |call| call.pid = SERVER);
            fixture.recording.switches.last_mut().expect("it waited").waker = SERVER;
            fixture.moves(tid, client + 1001, READ, 200);
            fixture.waits(tid, 5 * MS, POLL, |call| call.pid = SERVER);
            fixture.moves(tid, client + 1001, WRITE, 1000);
            fixture.travels(fixture.now - 2 * US, client + 1001, client + 1, 1000);
            free[index] = fixture.now;
        }
        let answered = fixture.now + 20 * US;
        fixture.now = handed_over;
        fixture.waits(SERVER, answered - handed_over, EPOLL_WAIT, |call| call.script_stack = 7);
        idle = fixture.now;
        for client in 0..CLIENTS {
            fixture.now = start + 5 * US;
            let end = free[client as usize] + 10 * US;
            fixture.waits_for(CLIENT + client, client + 1, end - fixture.now, 1000);
        }
        fixture.now = idle + MS;
    }
    fixture.recording.calls.iter_mut().filter(|call| call.tid > SERVER).for_each(|call| call.pid = SERVER);
    workers.iter().zip(free).for_each(|(&tid, free)| fixture.off(tid, free, fixture.now + MS));
    fixture.off(SERVER, idle, fixture.now + MS);
    fixture.end()
}

#[test]
fn a_thread_that_only_wakes_others_for_their_requests_is_no_pool() {
    let found = names(&woken_for_each());
    assert!(!found.contains(&"pool-exhausted".to_string()), "{found:?}");
}
