//! Three clients of one server that ask at the same time, and a thread of it for each.

use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE};
use crate::syscall::{FUTEX, TIMED_OUT};
use crate::tests::{answer, names};
use case::tables::{Call, Location, Sample, StackFrame, Thread, kind, module};
use case::{Nanos, Recording};

const THREADS: u32 = 3;
const NANOSLEEP: u16 = 35;
/// For how long a thread computes before another one may.
const TURN: u64 = 5 * MS;
/// Each computes twice for a request.
const TURNS: u64 = 2 * THREADS as u64;

/// What a thread does while another one has its turn.
#[derive(Clone, Copy, PartialEq)]
enum Meanwhile {
    /// It asks for the lock, which it is given at the end of a turn.
    Asks,
    /// The same, and nobody of its process gives it.
    AsksInVain,
    Computes,
    Sleeps,
}

fn of_server(fixture: &mut Fixture, thread: u32, length: u64, number: u16, result: i64) {
    fixture.waits(SERVER + thread, length, number, |call| {
        (call.pid, call.result, call.script_stack) = (SERVER, result, 6);
    });
}

/// What a thread does in one turn that is another one's, which begins now.
fn waits_a_turn(fixture: &mut Fixture, thread: u32, holder: u32, is_next: bool, meanwhile: Meanwhile) {
    match meanwhile {
        Meanwhile::Computes => fixture.now += TURN,
        Meanwhile::Sleeps => of_server(fixture, thread, TURN, NANOSLEEP, 0),
        Meanwhile::Asks | Meanwhile::AsksInVain if is_next => {
            of_server(fixture, thread, TURN + 10 * US, FUTEX, 0);
            if meanwhile == Meanwhile::Asks {
                fixture.recording.switches.last_mut().expect("it waited").waker = SERVER + holder;
            }
        }
        Meanwhile::Asks | Meanwhile::AsksInVain => of_server(fixture, thread, TURN - 20 * US, FUTEX, TIMED_OUT),
    }
}

/// Rounds in which each thread reads a request, has every third turn, and answers when all turns are over.
fn rounds(meanwhile: Meanwhile) -> Recording {
    rounds_of(THREADS, meanwhile, |turn| (turn % u64::from(THREADS)) as u32)
}

/// The same, of which the first `readers` threads read requests, and that tells whose turn each one is.
fn rounds_of(readers: u32, meanwhile: Meanwhile, holder: impl Fn(u64) -> u32) -> Recording {
    let mut fixture = Fixture::new();
    fixture.recording.processes[1].runtime = "cpython 3.11".to_string();
    fixture.script(6, &["server.py:16:get"]);
    fixture.script(7, &["server.py:9:render"]);
    for thread in 0..THREADS {
        if thread > 0 {
            let (tid, start) = (SERVER + thread, Nanos(fixture.now));
            fixture.process(CLIENT + thread, "client");
            fixture.recording.threads.push(Thread { tid, pid: SERVER, start, ..Thread::default() });
        }
        fixture.connects_at_once(thread + 1, CLIENT + thread);
    }
    fixture.now += 100 * US;
    for round in 0..10 {
        let start = fixture.now;
        let end = start + 30 * US + TURNS * TURN + 50 * US;
        for thread in 0..THREADS {
            let transfer = |call: &mut Call| (call.pid, call.connection, call.fd) = (SERVER, thread + 1001, 9);
            if thread < readers {
                fixture.now = start;
                fixture.moves(CLIENT + thread, thread + 1, WRITE, 200);
                fixture.travels(start + 3 * US, thread + 1, thread + 1001, 200);
                fixture.now = start + 12 * US;
                fixture.does(SERVER + thread, 5 * US, READ, |call| {
                    transfer(call);
                    call.result = 200;
                });
            }
            for turn in 0..TURNS {
                fixture.now = start + 30 * US + turn * TURN;
                let holder = holder(round * TURNS + turn);
                if holder == thread {
                    fixture.recording.samples.push(Sample {
                        time: Nanos(fixture.now + MS),
                        tid: SERVER + thread,
                        pid: SERVER,
                        script_stack: 7,
                        ..Sample::default()
                    });
                    fixture.now += TURN;
                    fixture.does(SERVER + thread, 20 * US, FUTEX, |call| (call.pid, call.result) = (SERVER, 1));
                } else {
                    waits_a_turn(&mut fixture, thread, holder, (holder + 1) % THREADS == thread, meanwhile);
                }
            }
            if thread >= readers {
                continue;
            }
            fixture.now = end;
            fixture.does(SERVER + thread, 5 * US, WRITE, |call| {
                transfer(call);
                call.result = 1000;
            });
            fixture.travels(end + 3 * US, thread + 1001, thread + 1, 1000);
            fixture.off(SERVER + thread, end + 10 * US, end + 90 * US);
            fixture.now = start + 6 * US;
            fixture.waits_for(CLIENT + thread, thread + 1, end + 12 * US - fixture.now, 1000);
        }
        fixture.now = end + 100 * US;
    }
    fixture.end()
}

fn is_found(recording: &Recording) -> bool {
    names(recording).contains(&"lock-convoy".to_string())
}

#[test]
fn threads_of_which_one_at_a_time_computes_wait_for_their_interpreters_lock() {
    let answer = answer(&rounds(Meanwhile::Asks));
    let finding = answer.findings.iter().find(|one| one.name == "lock-convoy").unwrap_or_else(|| panic!("{answer:#?}"));
    assert!(finding.title.starts_with("Requests wait for Python's interpreter lock (GIL)"), "{}", finding.title);
    // Two turns of three are others', and with three processes of four processors two thirds of that would go.
    assert!((0.4..0.46).contains(&finding.cost.share_of_wall), "{finding:#?}");
    assert_eq!((finding.place[0].line, finding.place[0].function.as_str()), (9, "render"));
    assert!(finding.mechanism[0].starts_with("3 threads want to compute"), "{:?}", finding.mechanism);
}

#[test]
fn threads_that_compute_at_the_same_time_or_sleep_or_wait_for_somebody_else_are_left_alone() {
    for meanwhile in [Meanwhile::Computes, Meanwhile::Sleeps, Meanwhile::AsksInVain] {
        assert!(!is_found(&rounds(meanwhile)));
    }
}

#[test]
fn a_thread_that_never_computes_waits_for_work() {
    let mut recording = rounds(Meanwhile::Asks);
    // Two of the threads are blocked in their own turns as well.
    let starts: Vec<Call> =
        recording.calls.iter().filter(|call| call.number == FUTEX && call.result == 1).cloned().collect();
    for wakes in starts.into_iter().filter(|call| call.tid != SERVER) {
        let (start, length) = (wakes.start - Nanos(TURN), Nanos(TURN - US));
        recording.calls.push(Call { number: NANOSLEEP, start, duration: length, blocked: length, result: 0, ..wakes });
    }
    recording.sort();
    let answer = answer(&recording);
    assert!(!answer.findings.iter().any(|one| one.title.contains("interpreter")), "{answer:#?}");
}

/// As the helpers of a garbage collector do, which its one thread wakes.
#[test]
fn a_thread_that_computes_for_its_own_requests_does_not_keep_its_helpers_waiting() {
    let helped = |turn: u64| if turn % TURNS == 5 { 1 + (turn / TURNS % 2) as u32 } else { 0 };
    assert!(!is_found(&rounds_of(1, Meanwhile::Asks, helped)));
    // What keeps it from its requests is found.
    let kept = |turn: u64| (turn % u64::from(THREADS)) as u32;
    assert!(is_found(&rounds_of(1, Meanwhile::Asks, kept)));
}

#[test]
fn a_lock_of_a_program_without_an_interpreter_is_named_by_what_it_does() {
    let mut recording = rounds(Meanwhile::Asks);
    recording.processes.iter_mut().for_each(|row| row.runtime.clear());
    let answer = answer(&recording);
    let finding = answer.findings.iter().find(|one| one.name == "lock-convoy").expect("it is found");
    assert!(finding.title.starts_with("Requests wait for a lock under which"), "{}", finding.title);
}

#[test]
fn the_one_processor_of_gos_runtime_is_named_and_so_is_what_sets_it() {
    let mut recording = rounds(Meanwhile::Asks);
    recording.processes.iter_mut().for_each(|row| row.runtime = "go".to_string());
    let answer = answer(&recording);
    let finding = answer.findings.iter().find(|one| one.name == "lock-convoy").expect("it is found");
    assert!(finding.title.starts_with("Requests wait for the one processor that Go's runtime"), "{}", finding.title);
    assert!(
        finding.remedy.contains("GOMAXPROCS") && !finding.remedy.contains("processes instead"),
        "{}",
        finding.remedy
    );
}

/// The same, but that each request is read only just before its answer is written.
fn read_late(mut recording: Recording) -> Recording {
    let is_answer = |call: &&Call| call.pid == SERVER && call.connection != 0 && call.number == WRITE;
    let answers = recording.calls.iter().filter(is_answer);
    let answers: Vec<(u32, u64)> = answers.map(|call| (call.tid, call.start.0)).collect();
    for read in recording.calls.iter_mut().filter(|call| call.number == READ && call.pid == SERVER && call.result > 0) {
        let next = answers.iter().find(|&&(tid, start)| tid == read.tid && start > read.start.0);
        read.start = Nanos(next.expect("an answer").1 - 10 * US);
    }
    recording.sort();
    recording
}

/// As those are that had just answered, and ask for the lock to look for the next request, which has come meanwhile.
#[test]
fn threads_that_wait_for_the_lock_before_they_can_read_make_requests_wait() {
    assert!(is_found(&read_late(rounds(Meanwhile::Asks))));
    assert!(!is_found(&read_late(rounds(Meanwhile::Sleeps))));
}

/// Its runtime goes on with a request in whichever thread is free, as it does while it collects garbage.
#[test]
fn a_request_of_gos_that_is_alone_does_not_wait_for_the_threads_that_compute_for_it() {
    let kept = |turn: u64| (turn % u64::from(THREADS)) as u32;
    let mut recording = rounds_of(1, Meanwhile::Asks, kept);
    assert!(is_found(&recording));
    recording.processes.iter_mut().for_each(|row| row.runtime = "go".to_string());
    assert!(!is_found(&recording));
}

#[test]
fn threads_of_javas_that_wait_for_work_while_another_computes_wait_for_no_lock() {
    let found = |class: &str| {
        let mut recording = rounds(Meanwhile::Asks);
        recording.processes.iter_mut().for_each(|row| row.runtime = "java".to_string());
        for (depth, function) in ["jdk.internal.misc.Unsafe.park", class, "Shop.serve"].into_iter().enumerate() {
            let (id, module, function) = (9000 + depth as u32, module::JAVA.to_string(), function.to_string());
            let (kind, file) = (kind::GENERATED, "X.java".to_string());
            recording.locations.push(Location { id, kind, module, function, file, line: 5, ..Location::default() });
            recording.stacks.push(StackFrame { stack: 90, depth: depth as u16, location: id, complete: true });
        }
        recording.calls.iter_mut().filter(|call| call.number == FUTEX).for_each(|call| call.stack = 90);
        recording.sort();
        answer(&recording).findings.into_iter().find(|one| one.title.contains("under which all"))
    };
    assert!(found("java.util.concurrent.LinkedBlockingQueue.take").is_none());
    let lock = found("java.util.concurrent.locks.ReentrantLock.lock").expect("it is found");
    assert!(lock.remedy.starts_with("Compute before or after"), "{lock:#?}");
}
