//! Two clients of one server, whose second thread waits for what the first has.

use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE};
use crate::syscall::{EAGAIN, FCNTL, FLOCK, FUTEX};
use crate::tests::{answer, names};
use case::tables::{Call, Location, StackFrame, Thread, kind, module};
use case::{Nanos, Recording};

const OTHER: u32 = SERVER + 1;
const HELPER: u32 = SERVER + 2;
const NANOSLEEP: u16 = 35;
const KILL: u16 = 62;
/// From the beginning of a round to that of the next.
const ROUND: u64 = 11 * MS;

/// What whoever lets go does before.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    Sleeps,
    Computes,
    /// It answers, and is asked again when it lets go.
    Answers,
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
    /// The call that waits for it, and lets go.
    lock: u16,
}

const SLEEPS: Scene =
    Scene { waker: SERVER, before: Before::Sleeps, needed_after: 25 * US, reads_ahead: false, lock: FUTEX };

/// How a lock on a file is asked for that is refused: `F_SETLK`.
const UNLESS_TAKEN: u64 = 6;
const BOOK: u32 = 77;

/// What is done in a round until the lock is let go of.
fn until_let_go(fixture: &mut Fixture, scene: Scene, start: u64, let_go: u64) {
    // The first has it, or its answer is due at once and a helper has it.
    fixture.now = start + 20 * US;
    match scene.before {
        Before::Sleeps => {
            fixture.waits(scene.waker, let_go - fixture.now, NANOSLEEP, |call| call.pid = SERVER);
        }
        Before::Computes => (),
        Before::Answers => {
            let of_server = |call: &mut Call, number: u16, bytes: i64| {
                (call.pid, call.connection, call.fd) = (SERVER, 1001, 9);
                (call.number, call.result) = (number, bytes);
            };
            fixture.does(SERVER, 5 * US, WRITE, |call| of_server(call, WRITE, 1000));
            fixture.travels(start + 23 * US, 1001, 1, 1000);
            fixture.waits(SERVER, let_go - 5 * US - fixture.now, READ, |call| of_server(call, READ, 200));
            fixture.now = start + 6 * US;
            fixture.waits_for(CLIENT, 1, 30 * US, 1000);
            fixture.now = let_go - 20 * US;
            fixture.moves(CLIENT, 1, WRITE, 200);
            fixture.travels(let_go - 17 * US, 1, 1001, 200);
        }
        Before::Waits => {
            fixture.waits(scene.waker, let_go - fixture.now, FUTEX, |call| call.pid = SERVER);
            fixture.recording.switches.last_mut().expect("it waited").waker = HELPER;
            fixture.now = let_go - 5 * US;
            fixture.does(HELPER, 10 * US, FUTEX, |call| (call.pid, call.result) = (SERVER, 1));
        }
    }
}

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
        let let_go = start + 10 * MS;
        until_let_go(&mut fixture, scene, start, let_go);
        fixture.now = let_go;
        fixture.does(scene.waker, 20 * US, scene.lock, |call| (call.pid, call.result) = (SERVER, 1));
        fixture.now = start + scene.needed_after;
        let waits = let_go + US - fixture.now;
        fixture.waits(OTHER, waits, scene.lock, |call| (call.pid, call.script_stack) = (SERVER, 6));
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
            let asked_again = scene.before == Before::Answers && client == 0;
            fixture.now = if asked_again { let_go - 14 * US } else { start + 6 * US };
            fixture.waits_for(CLIENT + client, client + 1, at + 12 * US - fixture.now, 1000);
        }
        fixture.now = start + ROUND;
    }
    fixture.end()
}

fn is_found(scene: Scene) -> bool {
    names(&rounds(scene)).contains(&"lock-convoy".to_string())
}

#[test]
fn a_request_that_waits_until_another_lets_go_is_found() {
    for scene in [SLEEPS, Scene { reads_ahead: true, ..SLEEPS }, Scene { lock: FLOCK, ..SLEEPS }] {
        let answer = answer(&rounds(scene));
        let finding =
            answer.findings.iter().find(|one| one.name == "lock-convoy").unwrap_or_else(|| panic!("{answer:#?}"));
        assert!((0.45..0.55).contains(&finding.cost.share_of_wall), "{finding:#?}");
        assert_eq!(finding.place[0].line, 7);
        assert!(finding.mechanism[1].contains("mostly in nanosleep"), "{:?}", finding.mechanism);
    }
}

/// The same rounds of threads that Java has put to sleep in a method of this class.
fn in_java(class: &str) -> Recording {
    let mut recording = rounds(SLEEPS);
    let park = "jdk.internal.misc.Unsafe.park";
    for (depth, (function, file)) in
        [(park, "Unsafe.java"), (class, "X.java"), ("Shop.borrow", "Shop.java")].iter().enumerate()
    {
        let id = 9000 + depth as u32;
        let (module, function) = (module::JAVA.to_string(), (*function).to_string());
        let (file, kind) = ((*file).to_string(), kind::GENERATED);
        recording.locations.push(Location { id, kind, module, function, file, line: 27, ..Location::default() });
        let depth = depth as u16;
        recording.stacks.push(StackFrame { stack: 90, depth, location: id, complete: true });
    }
    for call in recording.calls.iter_mut().filter(|call| call.script_stack == 6) {
        (call.script_stack, call.stack) = (0, 90);
    }
    recording.sort();
    recording
}

#[test]
fn what_requests_hold_is_told_by_the_class_that_java_waits_with() {
    for (class, held) in [
        ("java.util.concurrent.locks.ReentrantLock.lock", "a lock that"),
        ("java.util.concurrent.Semaphore.acquire", "a permit of a semaphore that"),
        ("java.util.concurrent.LinkedBlockingDeque.takeFirst", "a pooled resource that"),
    ] {
        let answer = answer(&in_java(class));
        let finding =
            answer.findings.iter().find(|one| one.name == "lock-convoy").unwrap_or_else(|| panic!("{answer:#?}"));
        assert!(finding.title.starts_with(&format!("Requests wait for {held}")), "{}", finding.title);
        assert_eq!((finding.place[0].function.as_str(), finding.place[0].line), ("Shop.borrow", 27));
    }
    assert!(!names(&in_java("java.util.concurrent.FutureTask.get")).contains(&"lock-convoy".to_string()));
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

/// Rounds in which the second thread sleeps 2 ms at a time while the first has a file's lock; `asked` is the file it asks for.
fn attempts(asked: u32) -> Recording {
    let mut recording = rounds(SLEEPS);
    let file = |call: &mut Call, path: u32, result: i64| {
        (call.number, call.argument_1, call.path, call.result) = (FCNTL, UNLESS_TAKEN, path, result);
        (call.blocked, call.duration) = (Nanos(0), Nanos(2 * US));
    };
    let waits: Vec<Call> =
        recording.calls.iter().filter(|call| call.tid == OTHER && call.number == FUTEX).cloned().collect();
    recording.calls.retain(|call| call.number != FUTEX);
    for wait in waits {
        let (start, end) = (wait.start.0, wait.start.0 + wait.duration.0);
        // The first takes it before it sleeps.
        let mut takes = Call { tid: SERVER, start: Nanos(start - 6 * US), ..wait.clone() };
        file(&mut takes, BOOK, 0);
        recording.calls.push(takes.clone());
        // And gives it up.
        recording.calls.push(Call { start: Nanos(end - US), ..takes });
        let attempts = [start - 3 * US, end + 2 * US];
        for (number, at) in attempts.into_iter().enumerate() {
            let mut asks = Call { start: Nanos(at), ..wait.clone() };
            file(&mut asks, asked, if number == 0 { EAGAIN } else { 0 });
            recording.calls.push(asks);
        }
        recording.calls.push(Call { number: NANOSLEEP, result: 0, ..wait });
    }
    recording.switches.iter_mut().filter(|switch| switch.tid == OTHER).for_each(|switch| switch.waker = 0);
    recording.sort();
    recording
}

#[test]
fn a_request_that_sleeps_until_a_files_lock_is_not_refused_any_more_waits_for_who_has_it() {
    let answer = answer(&attempts(BOOK));
    let finding = answer.findings.iter().find(|one| one.name == "lock-convoy").unwrap_or_else(|| panic!("{answer:#?}"));
    assert!((0.45..0.55).contains(&finding.cost.share_of_wall), "{finding:#?}");
    assert_eq!(finding.place[0].line, 7);
    // A file of its own is no one else's, and no path is no file.
    for asked in [BOOK + 1, 0] {
        assert!(!names(&attempts(asked)).contains(&"lock-convoy".to_string()), "{asked}");
    }
}

/// The second thread's sleeps in shorter ones, each with an attempt that is refused behind it: polling, by its looks.
fn shorter_attempts(asked: u32) -> Recording {
    let mut recording = attempts(asked);
    let sleeps: Vec<Call> =
        recording.calls.iter().filter(|call| call.tid == OTHER && call.number == NANOSLEEP).cloned().collect();
    recording.calls.retain(|call| call.tid != OTHER || call.number != NANOSLEEP);
    for sleep in sleeps {
        let part = sleep.duration.0 / 4;
        for number in 0..4 {
            let start = sleep.start.0 + number * part;
            let length = Nanos(part - 10 * US);
            recording.calls.push(Call { start: Nanos(start), duration: length, blocked: length, ..sleep.clone() });
            if number < 3 {
                recording.calls.push(Call {
                    number: FCNTL,
                    argument_1: UNLESS_TAKEN,
                    path: asked,
                    result: EAGAIN,
                    start: Nanos(start + part - 8 * US),
                    duration: Nanos(2 * US),
                    blocked: Nanos(0),
                    ..sleep.clone()
                });
            }
        }
    }
    recording.sort();
    recording
}

#[test]
fn sleeps_between_attempts_at_a_lock_are_a_convoy_alone_and_polling_where_no_request_has_it() {
    let found = names(&shorter_attempts(BOOK));
    assert!(found.contains(&"lock-convoy".to_string()) && !found.contains(&"sleep-polling".to_string()), "{found:?}");
    let found = names(&shorter_attempts(BOOK + 1));
    assert!(found.contains(&"sleep-polling".to_string()) && !found.contains(&"lock-convoy".to_string()), "{found:?}");
}

/// The same by processes: they wait for events, and a signal lets them go on. They may take turns.
fn by_signal(before: Before, takes_turns: bool) -> Recording {
    let mut recording = rounds(Scene { before, ..SLEEPS });
    let first = recording.calls.iter().find(|call| call.number == WRITE).expect("a request").start.0;
    let swapped = |at: Nanos, tid: u32| match (tid, at.0.saturating_sub(first) / ROUND % 2) {
        (SERVER, 1) if takes_turns => OTHER,
        (OTHER, 1) if takes_turns => SERVER,
        _ => tid,
    };
    // What a signal lets it read is no connection.
    let woken: Vec<Call> =
        recording.calls.iter().filter(|call| call.tid == OTHER && call.number == FUTEX).cloned().collect();
    recording.calls.extend(woken.into_iter().map(|wait| Call {
        start: wait.start + wait.duration + Nanos(US),
        duration: Nanos(US),
        blocked: Nanos(0),
        number: READ,
        fd: 7,
        result: 128,
        ..wait
    }));
    for call in &mut recording.calls {
        if call.number == FUTEX {
            (call.number, call.result) = if call.tid == OTHER { (EPOLL_WAIT, 1) } else { (KILL, 0) };
        }
        call.tid = swapped(call.start, call.tid);
        call.pid = if call.tid == OTHER { OTHER } else { call.pid };
    }
    for switch in &mut recording.switches {
        (switch.tid, switch.waker) = (swapped(switch.start, switch.tid), swapped(switch.start, switch.waker));
    }
    recording.threads.iter_mut().filter(|thread| thread.tid == OTHER).for_each(|thread| thread.pid = OTHER);
    recording.sort();
    recording
}

#[test]
fn processes_that_take_turns_by_signals_wait_for_a_lock_and_messages_one_way_are_none() {
    let answer = answer(&by_signal(Before::Sleeps, true));
    let finding = answer.findings.iter().find(|one| one.name == "lock-convoy").unwrap_or_else(|| panic!("{answer:#?}"));
    assert!((0.45..0.55).contains(&finding.cost.share_of_wall), "{finding:#?}");
    assert!(finding.mechanism[1].contains("mostly in nanosleep"), "{:?}", finding.mechanism);
    assert!(!names(&by_signal(Before::Sleeps, false)).contains(&"lock-convoy".to_string()));
}

#[test]
fn a_lock_that_is_kept_from_one_request_to_the_next_is_told_so() {
    for recording in [by_signal(Before::Answers, true), rounds(Scene { before: Before::Answers, ..SLEEPS })] {
        let answer = answer(&recording);
        let finding =
            answer.findings.iter().find(|one| one.name == "lock-convoy").unwrap_or_else(|| panic!("{answer:#?}"));
        assert!(finding.mechanism[1].contains("waited for the next one 9"), "{:?}", finding.mechanism);
        assert!(finding.remedy.contains("transaction"), "{}", finding.remedy);
    }
}
