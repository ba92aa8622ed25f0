//! Threads that sleep, and what waits for them.

use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE, request};
use crate::syscall::FUTEX;
use crate::tests::{answer, names};
use case::Nanos;
use case::tables::Thread;

const WORKER: u32 = SERVER + 1;
const NANOSLEEP: u16 = 35;

/// Requests that a server hands to a worker, which sleeps for 3 ms at a time until it sees them; `between` is what the
/// worker does after each sleep.
fn handed_to_a_worker(sleeps: u64, between: impl Fn(&mut Fixture)) -> Fixture {
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    let start = Nanos(fixture.now);
    fixture.recording.threads.push(Thread { tid: WORKER, pid: SERVER, start, ..Thread::default() });
    fixture.script(5, &["server.py:12:answer"]);
    fixture.script(6, &["worker.py:7:run"]);
    let mut idle = fixture.now;
    for _ in 0..20 {
        let start = fixture.now;
        request(&mut fixture, CLIENT, 1, sleeps * 3 * MS + MS, &mut idle);
        let end = fixture.now;
        fixture.now = start + 100 * US;
        for _ in 0..sleeps {
            fixture.waits(WORKER, 3 * MS - 20 * US, NANOSLEEP, |call| (call.pid, call.script_stack) = (SERVER, 6));
            fixture.now += 10 * US;
            between(&mut fixture);
        }
        let woken = fixture.now;
        fixture.does(WORKER, 20 * US, FUTEX, |call| (call.pid, call.result) = (SERVER, 1));
        fixture.now = start + 100 * US;
        fixture.waits(SERVER, woken + US - fixture.now, FUTEX, |call| call.script_stack = 5);
        fixture.recording.switches.last_mut().expect("it waited").waker = WORKER;
        fixture.now = end + 20 * US;
    }
    fixture.off(SERVER, idle, fixture.now + MS);
    fixture
}

#[test]
fn a_thread_that_sleeps_all_the_time_and_is_waited_for_once_in_a_thousand_requests_is_left_alone() {
    let mut fixture = handed_to_a_worker(3, |_| {});
    let mut idle = fixture.now;
    for _ in 0..20_000 {
        request(&mut fixture, CLIENT, 1, 20 * US, &mut idle);
    }
    assert_eq!(names(&fixture.end()), Vec::<String>::new());
}

#[test]
fn a_thread_of_gos_runtime_that_looks_after_the_others_is_left_alone() {
    let found = |function: &str| {
        let mut fixture = handed_to_a_worker(3, |_| {});
        fixture.stack(9, &[&format!("server!{function}")]);
        let mut recording = fixture.end();
        let sleeps = recording.calls.iter_mut().filter(|call| call.number == NANOSLEEP);
        sleeps.for_each(|call| (call.stack, call.script_stack) = (9, 0));
        names(&recording).contains(&"sleep-polling".to_string())
    };
    assert!(!found("runtime.usleep"));
    assert!(found("main.wait"));
}

#[test]
fn requests_that_wait_for_a_worker_that_sleeps_and_looks_are_found() {
    let answer = answer(&handed_to_a_worker(3, |_| {}).end());
    let finding = answer.findings.iter().find(|one| one.name == "sleep-polling").expect("it is found");
    assert!(finding.cost.share_of_wall > 0.7 && finding.place[0].line == 7, "{finding:#?}");
}

/// Whether polling is found where the sleeps' lengths are these parts of what they were, over and over.
fn is_found_with(parts: &[u64]) -> bool {
    let mut recording = handed_to_a_worker(3, |_| {}).end();
    let sleeps = recording.calls.iter_mut().filter(|call| call.number == NANOSLEEP);
    for (call, part) in sleeps.zip(parts.iter().cycle()) {
        call.blocked = Nanos(call.blocked.0 * part / 100);
    }
    names(&recording).contains(&"sleep-polling".to_string())
}

#[test]
fn sleeps_that_back_off_and_begin_anew_are_polls_and_those_of_any_length_are_not() {
    assert!(is_found_with(&[100, 95, 90, 98]));
    assert!(is_found_with(&[25, 50, 100]));
    assert!(!is_found_with(&[90, 40, 75, 28, 100, 55, 35, 80, 45, 95, 60, 30]));
}

#[test]
fn a_worker_that_sleeps_in_a_wait_for_no_descriptors_is_found_and_one_that_waits_for_some_is_not() {
    const SELECT: u16 = 23;
    let found = |reads: u64| {
        let mut recording = handed_to_a_worker(3, |_| {}).end();
        for call in recording.calls.iter_mut().filter(|call| call.number == NANOSLEEP) {
            (call.number, call.argument_1, call.result) = (SELECT, reads, 0);
        }
        names(&recording).contains(&"sleep-polling".to_string())
    };
    assert!(found(0));
    assert!(!found(0x7ffe_0000), "it waits for something");
}

#[test]
fn a_request_that_sleeps_now_once_and_now_twice_polls_and_one_that_mostly_sleeps_once_pauses() {
    let found = |sleeps: fn(u64) -> u64| {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        fixture.script(5, &["server.py:12:answer"]);
        for number in 0..20 {
            fixture.served(|fixture| {
                for _ in 0..sleeps(number) {
                    fixture.waits(SERVER, 3 * MS, NANOSLEEP, |call| call.script_stack = 5);
                    fixture.now += 10 * US;
                }
            });
        }
        names(&fixture.end()).contains(&"sleep-polling".to_string())
    };
    assert!(found(|number| 1 + number % 2));
    assert!(!found(|number| 1 + u64::from(number % 10 == 0)));
    assert!(!found(|_| 1));
}

#[test]
fn a_worker_that_finds_something_after_each_sleep_polls_if_it_sleeps_again_and_again_while_idle() {
    let found = |idle: usize| {
        let takes = |fixture: &mut Fixture| {
            fixture.does(WORKER, 5 * US, READ, |call| (call.pid, call.connection, call.result) = (SERVER, 1999, 10));
        };
        let mut fixture = handed_to_a_worker(1, takes);
        for _ in 0..idle {
            fixture.waits(WORKER, 3 * MS - 20 * US, NANOSLEEP, |call| (call.pid, call.script_stack) = (SERVER, 6));
            fixture.now += 10 * US;
        }
        names(&fixture.end()).contains(&"sleep-polling".to_string())
    };
    assert!(found(8));
    assert!(!found(0) && !found(3), "a pause for each thing that it deals with");
}

/// Rounds in which a client asks on two connections at once. A thread answers the first after 3 ms, and another one the second,
/// after it has slept so often for 3 ms.
fn asked_on_two(sleeps: u64) -> Vec<String> {
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    fixture.connect(2, CLIENT);
    let start = Nanos(fixture.now);
    fixture.recording.threads.push(Thread { tid: WORKER, pid: SERVER, start, ..Thread::default() });
    fixture.script(6, &["worker.py:7:run"]);
    for _ in 0..20 {
        let mut ends = Vec::new();
        for (connection, tid, sleeps) in [(1, SERVER, 1), (2, WORKER, sleeps)] {
            fixture.moves(CLIENT, connection, WRITE, 200);
            let asked = fixture.now;
            fixture.travels(asked, connection, connection + 1000, 200);
            fixture.now += 10 * US;
            fixture.moves(tid, connection + 1000, READ, 200);
            for _ in 0..sleeps {
                match tid {
                    WORKER => _ = fixture.waits(tid, 3 * MS, NANOSLEEP, |call| call.script_stack = 6),
                    _ => fixture.now += 3 * MS,
                }
            }
            fixture.travels(fixture.now, connection + 1000, connection, 1000);
            fixture.moves(tid, connection + 1000, WRITE, 1000);
            ends.push((fixture.now + 10 * US, connection));
            fixture.now = asked;
        }
        ends.sort_unstable();
        for (end, connection) in ends {
            fixture.waits(CLIENT, (end - fixture.now).max(4 * US), EPOLL_WAIT, |call| call.result = 1);
            fixture.moves(CLIENT, connection, READ, 1000);
        }
        let end = fixture.now + MS;
        fixture.now = end;
    }
    let mut recording = fixture.end();
    recording.calls.iter_mut().filter(|call| call.tid == WORKER).for_each(|call| call.pid = SERVER);
    names(&recording)
}

#[test]
fn what_the_requests_own_thread_sleeps_counts_though_its_client_waits_for_others_as_well() {
    assert!(asked_on_two(4).contains(&"sleep-polling".to_string()));
    assert!(!asked_on_two(1).contains(&"sleep-polling".to_string()), "one pause is no polling");
}

#[test]
fn one_pause_in_a_request_is_no_polling() {
    let recording = handed_to_a_worker(1, |fixture| {
        fixture.does(WORKER, 5 * US, WRITE, |call| (call.pid, call.connection, call.result) = (SERVER, 1001, 0));
    });
    // It is sent what it slept for: nothing follows another sleep.
    let mut recording = recording.end();
    for call in recording.calls.iter_mut().filter(|call| call.tid == WORKER && call.number == WRITE) {
        call.result = 10;
    }
    assert!(!names(&recording).contains(&"sleep-polling".to_string()));
}

#[test]
fn a_long_sleep_and_a_short_one_in_turns_are_no_polling() {
    let naps = |length: u64| {
        move |fixture: &mut Fixture| {
            fixture.waits(WORKER, length, NANOSLEEP, |call| (call.pid, call.script_stack) = (SERVER, 6));
        }
    };
    let is_found = |recording: &case::Recording| names(recording).contains(&"sleep-polling".to_string());
    assert!(!is_found(&handed_to_a_worker(1, naps(100 * US)).end()));
    assert!(is_found(&handed_to_a_worker(1, naps(3 * MS)).end()));
}

#[test]
fn a_thread_that_sleeps_beside_the_requests_is_left_alone() {
    let mut fixture = crate::fixture::keep_alive(20, 3 * MS);
    let end = fixture.now;
    fixture.script(6, &["worker.py:7:run"]);
    fixture.now = MS;
    let start = Nanos(fixture.now);
    fixture.recording.threads.push(Thread { tid: WORKER, pid: SERVER, start, ..Thread::default() });
    while fixture.now < end {
        fixture.waits(WORKER, 3 * MS, NANOSLEEP, |call| (call.pid, call.script_stack) = (SERVER, 6));
    }
    fixture.now = end;
    assert!(!names(&fixture.end()).contains(&"sleep-polling".to_string()));
}

/// Two threads of a server, each with a client of its own, wait for a worker in turn; it sleeps so often for each, and wakes it.
fn works_for_two(sleeps: u64) -> bool {
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    fixture.process(CLIENT + 1, "client");
    fixture.connect(2, CLIENT + 1);
    fixture.script(6, &["worker.py:7:run"]);
    let servers = [SERVER, SERVER + 2];
    for tid in [WORKER, SERVER + 2] {
        let start = Nanos(fixture.now);
        fixture.recording.threads.push(Thread { tid, pid: SERVER, start, ..Thread::default() });
    }
    let ask = |fixture: &mut Fixture, of: u32| {
        let asked = fixture.now;
        fixture.moves(CLIENT + of, of + 1, WRITE, 200);
        fixture.travels(asked, of + 1, of + 1001, 200);
        fixture.now = asked + 10 * US;
        fixture.moves(servers[of as usize], of + 1001, READ, 200);
        fixture.now
    };
    let mut waits_since = ask(&mut fixture, 0);
    for turn in 0..40 {
        let of = turn % 2;
        let next_since = ask(&mut fixture, 1 - of);
        for _ in 0..sleeps {
            fixture.waits(WORKER, 3 * MS, NANOSLEEP, |call| call.script_stack = 6);
            fixture.now += 10 * US;
        }
        let woken = fixture.now;
        fixture.does(WORKER, 20 * US, FUTEX, |call| call.result = 1);
        fixture.now = waits_since;
        fixture.waits(servers[of as usize], woken + 2 * US - waits_since, FUTEX, |_| {});
        fixture.recording.switches.last_mut().expect("it waited").waker = WORKER;
        fixture.travels(fixture.now, of + 1001, of + 1, 1000);
        fixture.moves(servers[of as usize], of + 1001, WRITE, 1000);
        let answered = fixture.now + 10 * US;
        fixture.now = waits_since;
        fixture.waits_for(CLIENT + of, of + 1, answered - waits_since, 1000);
        (fixture.now, waits_since) = (woken + 40 * US, next_since);
    }
    let mut recording = fixture.end();
    recording.calls.iter_mut().filter(|call| call.tid > SERVER).for_each(|call| call.pid = SERVER);
    names(&recording).contains(&"sleep-polling".to_string())
}

#[test]
fn a_pause_for_each_thing_that_others_wait_for_is_no_polling() {
    assert!(!works_for_two(1));
    assert!(works_for_two(4), "it sleeps between looks");
}

/// A run without requests, in which one thread waits for another that sleeps again and again, and does something after each sleep;
/// at the end it wakes the one that waits, or after each sleep as well.
fn without_requests(wakes: bool, between: impl Fn(&mut Fixture)) -> bool {
    let mut fixture = Fixture::new();
    fixture.script(6, &["worker.py:7:run"]);
    let start = Nanos(fixture.now);
    fixture.recording.threads.push(Thread { tid: WORKER, pid: CLIENT, start, ..Thread::default() });
    let mut waits_since = fixture.now;
    for sleep in 0..200 {
        fixture.waits(WORKER, 5 * MS, NANOSLEEP, |call| call.script_stack = 6);
        fixture.now += 10 * US;
        between(&mut fixture);
        let woken = fixture.now;
        if wakes || sleep == 199 {
            fixture.does(WORKER, 20 * US, FUTEX, |call| call.result = 1);
            fixture.now = waits_since;
            fixture.waits(CLIENT, woken + 2 * US - waits_since, FUTEX, |_| {});
            fixture.recording.switches.last_mut().expect("it waited").waker = WORKER;
            waits_since = woken + 50 * US;
        }
        fixture.now = woken + 20 * US;
    }
    let mut recording = fixture.end();
    recording.calls.iter_mut().filter(|call| call.tid == WORKER).for_each(|call| call.pid = CLIENT);
    names(&recording).contains(&"sleep-polling".to_string())
}

#[test]
fn a_thread_that_makes_something_for_another_at_a_pace_does_not_poll() {
    let writes = |fd: i32| {
        move |fixture: &mut Fixture| {
            fixture.does(WORKER, 2 * US, WRITE, |call| (call.fd, call.result) = (fd, 45));
        }
    };
    assert!(without_requests(false, |_| {}));
    assert!(!without_requests(true, |_| {}), "each sleep is followed by something for the other");
    assert!(!without_requests(false, writes(7)), "into a pipe");
    assert!(without_requests(false, writes(1)), "a line about the look");
}
