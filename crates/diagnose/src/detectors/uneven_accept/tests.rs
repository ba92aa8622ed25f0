use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE};
use crate::tests::{answer, names};
use case::{Nanos, Recording};

const ACCEPT: u16 = 288;
const EPOLL_CTL: u16 = 233;
const NANOSLEEP: u16 = 35;
const CLIENTS: u32 = 8;
const PORT: u16 = 80;
/// The two workers.
const FIRST: u32 = SERVER + 1;
const SECOND: u32 = SERVER + 2;
/// The descriptor of the listener that they have from their parent.
const LISTENER: i32 = 5;

/// What a case is about.
#[derive(Clone, Copy)]
struct Load {
    /// How many of the connections the first worker takes.
    first: u32,
    /// How long a request takes it.
    work: u64,
    /// Whether it sleeps meanwhile, rather than computes.
    sleeps: bool,
    /// How long it has to wait for a processor in the middle of that.
    preempted: u64,
    /// How long the first one has to wait for one before it reads anything.
    woken_late: u64,
    /// Who takes the connections.
    accepts: Accepts,
}

#[derive(Clone, Copy, PartialEq)]
enum Accepts {
    Each,
    /// The parent, which hands them over.
    Parent,
    /// The parent, which forks a worker for each: `SECOND` has only one and waits for it alone.
    Forks,
}

const EVEN: Load = Load { first: 4, work: 5 * MS, sleeps: false, preempted: 0, woken_late: 0, accepts: Accepts::Each };
const UNEVEN: Load = Load { first: 7, ..EVEN };
const ALL: Load = Load { first: 8, ..EVEN };

/// A worker reads a client's request, works and answers: when that was.
fn serve(fixture: &mut Fixture, worker: u32, client: u32, load: Load) -> u64 {
    fixture.moves(worker, client + 1001, READ, 200);
    if load.sleeps {
        fixture.waits(worker, load.work, NANOSLEEP, |_| {});
    } else {
        fixture.now += load.work;
        fixture.preempted(worker, load.preempted);
    }
    let answered = fixture.now;
    fixture.moves(worker, client + 1001, WRITE, 1000);
    fixture.travels(fixture.now - 2 * US, client + 1001, client + 1, 1000);
    answered
}

/// Rounds in which eight clients ask at the same time.
fn rounds(load: Load) -> Recording {
    let mut fixture = Fixture::new();
    for worker in [FIRST, SECOND] {
        fixture.process(worker, "server");
        fixture.recording.processes.last_mut().expect("a process").parent = SERVER;
    }
    fixture.script(7, &["server.py:9:take"]);
    let worker = |client: u32| if client < load.first { FIRST } else { SECOND };
    if load.accepts == Accepts::Each {
        for one in [FIRST, SECOND] {
            let listener = LISTENER as u64;
            fixture.does(one, US, EPOLL_CTL, |call| (call.argument_1, call.argument_2) = (1, listener));
        }
    }
    for client in 0..CLIENTS {
        fixture.process(CLIENT + client + 1, "client");
        fixture.connect(client + 1, CLIENT + client + 1);
        let taker = if load.accepts == Accepts::Each { worker(client) } else { SERVER };
        fixture.does(taker, 5 * US, ACCEPT, |call| {
            (call.fd, call.connection, call.result, call.script_stack) = (LISTENER, client + 1001, 9, 7);
        });
    }
    let mut idle = [fixture.now; 2];
    for _ in 0..10 {
        let start = fixture.now;
        for client in 0..CLIENTS {
            fixture.now = start;
            fixture.moves(CLIENT + client + 1, client + 1, WRITE, 200);
            fixture.travels(start + 3 * US, client + 1, client + 1001, 200);
        }
        let mut answered = vec![0; CLIENTS as usize];
        for one in [FIRST, SECOND] {
            let place = (one - FIRST) as usize;
            fixture.now = idle[place];
            let own: Vec<u32> = (0..CLIENTS).filter(|&client| worker(client) == one).collect();
            if own.is_empty() {
                continue;
            }
            fixture.waits(one, start + 12 * US - idle[place], EPOLL_WAIT, |call| call.result = 1);
            if one == FIRST {
                fixture.preempted(one, load.woken_late);
            }
            for client in own {
                answered[client as usize] = serve(&mut fixture, one, client, load);
            }
            idle[place] = fixture.now;
        }
        for client in 0..CLIENTS {
            fixture.now = start + 5 * US;
            let end = answered[client as usize] + 12 * US;
            fixture.waits_for(CLIENT + client + 1, client + 1, end - fixture.now, 1000);
        }
        fixture.now = answered.iter().max().expect("answers") + 50 * US;
    }
    let end = fixture.now + MS;
    for one in [FIRST, SECOND] {
        fixture.now = idle[(one - FIRST) as usize];
        fixture.waits(one, end - fixture.now, EPOLL_WAIT, |_| {});
    }
    fixture.now = end;
    fixture.recording.connections.iter_mut().filter(|row| row.id > 1000).for_each(|row| row.local_port = PORT);
    fixture.end()
}

fn is_found(load: Load) -> bool {
    names(&rounds(load)).contains(&"uneven-accept".to_string())
}

#[test]
fn requests_that_wait_for_one_worker_while_the_other_idles_are_found() {
    let answer = answer(&rounds(UNEVEN));
    let finding = answer.findings.iter().find(|one| one.name == "uneven-accept").expect("it is found");
    // Of 5 + 10 + ... + 35 and 5 ms, 5 each are a request's own; of what follows the first 5 ms, in which the second worker is busy
    // as well, it could have taken half: 37.5 of 145 ms.
    assert!((0.25..0.27).contains(&finding.cost.share_of_wall), "{finding:#?}");
    assert!(
        finding.mechanism[0].contains("70 of 80 requests to port 80 (88 %), on 7 of 8 connections"),
        "{finding:#?}"
    );
    assert!(finding.mechanism[2].contains("the other worker had nothing to do for 8"), "{finding:#?}");
    assert_eq!(finding.place[0].line, 9);
}

#[test]
fn a_worker_that_sleeps_for_others_while_its_colleague_idles_is_this_and_not_a_pool_that_is_too_small() {
    let found = names(&rounds(Load { sleeps: true, ..UNEVEN }));
    assert!(found.contains(&"uneven-accept".to_string()), "{found:?}");
    assert!(!found.contains(&"pool-exhausted".to_string()), "{found:?}");
    let even = names(&rounds(Load { sleeps: true, ..EVEN }));
    assert!(even.contains(&"pool-exhausted".to_string()) && !even.contains(&"uneven-accept".to_string()), "{even:?}");
}

#[test]
fn a_worker_that_never_got_a_connection_counts_where_it_waits_for_some() {
    assert!(is_found(ALL));
    // Nobody else could have answered: the parent only hands over.
    assert!(!is_found(Load { accepts: Accepts::Parent, ..ALL }));
}

#[test]
fn a_worker_idles_in_a_call_that_has_not_returned() {
    let mut recording = rounds(ALL);
    let wait =
        recording.calls.iter_mut().rfind(|call| call.tid == SECOND && call.number == EPOLL_WAIT).expect("a wait");
    (wait.finished, wait.blocked) = (false, Nanos(0));
    assert!(names(&recording).contains(&"uneven-accept".to_string()));
}

#[test]
fn an_even_share_and_waits_that_nobody_feels_are_left_alone() {
    assert!(!is_found(EVEN));
    assert!(!is_found(Load { work: 100 * US, ..UNEVEN }));
}

#[test]
fn a_worker_that_loses_the_processor_over_a_request_keeps_its_line_waiting() {
    assert!(!is_found(Load { work: 100 * US, ..UNEVEN }));
    assert!(is_found(Load { work: 100 * US, preempted: 5 * MS, ..UNEVEN }));
    // It did nothing for others while it waited, and nobody would have been quicker.
    assert!(!is_found(Load { work: 100 * US, woken_late: 30 * MS, ..UNEVEN }));
}

#[test]
fn a_worker_that_is_there_for_its_one_connection_is_no_help() {
    assert!(!is_found(Load { accepts: Accepts::Forks, ..UNEVEN }));
}
