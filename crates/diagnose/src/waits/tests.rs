mod ended;

use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE, request};
use crate::syscall::{FUTEX, TIMED_OUT};
use crate::tests::answer;
use case::facts::Wait;
use case::tables::{Command, Connection, Switch, Thread, direction, reason};
use case::{Activity, End, Ender, Nanos, Recording, WaitNode, WaitTree};

/// Another thread of the server.
const HOLDER: u32 = SERVER + 1;
const NANOSLEEP: u16 = 35;

fn tree(fixture: Fixture) -> WaitTree {
    answer(&fixture.end()).waits.expect("something was waited for")
}

fn is_lock(node: &WaitNode) -> bool {
    matches!(node.activity, Activity::Blocked { wait: Wait::Lock, .. })
}

fn with_a_holder() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    let start = Nanos(fixture.now);
    fixture.recording.threads.push(Thread { tid: HOLDER, pid: SERVER, start, ..Thread::default() });
    fixture.script(5, &["server.py:12:answer"]);
    fixture.script(6, &["server.py:99:log"]);
    fixture
}

/// Twenty requests in which the server waits 9 of 10 ms, as the function says.
fn requests(fixture: &mut Fixture, mut meanwhile: impl FnMut(&mut Fixture)) {
    let mut idle = fixture.now;
    for _ in 0..20 {
        let start = fixture.now;
        request(fixture, CLIENT, 1, 10 * MS, &mut idle);
        let end = fixture.now;
        fixture.now = start + MS / 2;
        meanwhile(fixture);
        fixture.now = end + 20 * US;
    }
    fixture.off(SERVER, idle, fixture.now + MS);
}

/// The holder sleeps, and lets go of what the server waits for.
fn held(fixture: &mut Fixture, length: u64) {
    let start = fixture.now;
    fixture.waits(HOLDER, length - 10 * US, NANOSLEEP, |call| (call.pid, call.script_stack) = (SERVER, 6));
    let woken = fixture.now + 10 * US;
    fixture.does(HOLDER, 20 * US, FUTEX, |call| (call.pid, call.result) = (SERVER, 1));
    fixture.now = start;
    fixture.waits(SERVER, woken + US - start, FUTEX, |call| call.script_stack = 5);
    fixture.recording.switches.last_mut().expect("it waited").waker = HOLDER;
}

#[test]
fn a_lock_is_followed_to_the_thread_that_sleeps_while_it_holds_it() {
    let mut fixture = with_a_holder();
    requests(&mut fixture, |fixture| held(fixture, 9 * MS));
    let tree = tree(fixture);
    assert_eq!(tree.followed, 20);
    let path = tree.main_branch();
    let ends: Vec<_> = path.iter().map(|node| node.end).collect();
    assert_eq!(ends, [Some(End::Client), Some(End::Server), Some(End::Server)], "{path:#?}");
    assert!(is_lock(path[1]) && path[1].place[0].line == 12, "{path:#?}");
    let sleep = path[2];
    assert_eq!((sleep.place[0].line, sleep.regular, sleep.mostly_ended_by()), (99, true, Some(&Ender::Timer)));
    assert!(sleep.usual_ns > 8 * MS && sleep.usual_ns < 9 * MS, "{sleep:#?}");
    assert!(sleep.ns * 10 > tree.of_ns * 8, "{tree:#?}");
}

#[test]
fn a_thread_that_an_interrupt_borrowed_has_ended_nothing() {
    let mut fixture = with_a_holder();
    requests(&mut fixture, |fixture| {
        let start = fixture.now;
        // It computes all the while, and happens to be on the processor where the wake-up comes from.
        fixture.does(HOLDER, 9 * MS, READ, |call| call.pid = SERVER);
        fixture.now = start;
        fixture.waits(SERVER, 9 * MS, FUTEX, |call| call.script_stack = 5);
        fixture.recording.switches.last_mut().expect("it waited").waker = HOLDER;
    });
    let tree = tree(fixture);
    let lock = tree.nodes().find(|node| is_lock(node)).expect("a lock");
    assert_eq!((lock.mostly_ended_by(), lock.waits_for.len()), (Some(&Ender::Unknown), 0), "{tree:#?}");
}

#[test]
fn a_lock_that_is_asked_for_in_steps_is_one_wait() {
    let mut fixture = with_a_holder();
    requests(&mut fixture, |fixture| {
        // As CPython asks for its interpreter's lock: after each 2 ms once more.
        let start = fixture.now;
        let step = |fixture: &mut Fixture| {
            fixture.waits(SERVER, 2 * MS, FUTEX, |call| {
                (call.script_stack, call.result) = (5, TIMED_OUT);
            });
            // The lock that belongs to it, at another place.
            fixture.does(SERVER, US, FUTEX, |call| (call.script_stack, call.stack) = (5, 8));
        };
        (0..3).for_each(|_| step(fixture));
        let last = fixture.now;
        fixture.now = start;
        fixture.does(HOLDER, 7 * MS, READ, |call| (call.pid, call.result) = (SERVER, 0));
        fixture.now = last;
        held(fixture, 2 * MS);
    });
    let tree = tree(fixture);
    let lock = tree.nodes().find(|node| is_lock(node)).expect("a lock");
    assert_eq!(lock.ended, []);
    assert!(lock.waits_for.iter().map(|node| node.ns).sum::<u64>() * 10 > lock.ns * 9, "{tree:#?}");
}

#[test]
fn a_poll_that_gives_up_is_ended_by_a_time_that_the_program_set() {
    let mut fixture = with_a_holder();
    requests(&mut fixture, |fixture| {
        fixture.waits(SERVER, 9 * MS, EPOLL_WAIT, |call| (call.script_stack, call.result) = (5, 0));
    });
    let tree = tree(fixture);
    let poll = tree.nodes().find(|node| node.place.first().is_some_and(|place| place.line == 12)).expect("a poll");
    assert_eq!((poll.mostly_ended_by(), poll.regular), (Some(&Ender::Timer), true), "{tree:#?}");
}

#[test]
fn a_server_that_waits_for_another_that_nobody_watches_waits_for_its_address() {
    let mut fixture = with_a_holder();
    fixture.asks_elsewhere(7, 5432);
    requests(&mut fixture, |fixture| {
        fixture.moves(SERVER, 7, WRITE, 50);
        fixture.waits(SERVER, 8 * MS, EPOLL_WAIT, |call| call.result = 1);
        fixture.moves(SERVER, 7, READ, 500);
    });
    let answer = answer(&fixture.end());
    let named = |name: &str| answer.ledger.accounts.iter().find(|account| account.name == name);
    let account = named("server blocked in epoll_wait (to 10.0.0.3:5432)");
    assert!(account.is_some_and(|account| account.ns > 100 * MS), "{:#?}", answer.ledger);
    let tree = answer.waits.expect("something was waited for");
    let poll = tree.nodes().find(|node| node.end == Some(End::Server) && !node.ended.is_empty()).expect("a poll");
    assert_eq!(poll.mostly_ended_by(), Some(&Ender::Peer { remote: Some("10.0.0.3:5432".into()) }), "{tree:#?}");
}

#[test]
fn bytes_that_were_sent_before_are_under_way() {
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    let mut idle = fixture.now;
    for _ in 0..20 {
        // What the server writes arrives 20 ms later.
        let start = fixture.now;
        fixture.moves(CLIENT, 1, WRITE, 200);
        fixture.travels(start + 3 * US, 1, 1001, 200);
        let waiting = fixture.now;
        fixture.now = idle;
        fixture.waits(SERVER, start + 12 * US - idle, EPOLL_WAIT, |call| call.result = 1);
        fixture.moves(SERVER, 1001, READ, 200);
        fixture.moves(SERVER, 1001, WRITE, 1000);
        idle = fixture.now;
        fixture.now = waiting;
        fixture.waits_for(CLIENT, 1, 20 * MS, 1000);
        fixture.now += 20 * US;
    }
    fixture.off(SERVER, idle, fixture.now + MS);
    let tree = tree(fixture);
    assert_eq!(tree.branches[0].mostly_ended_by(), Some(&Ender::Network), "{tree:#?}");
}

#[test]
fn a_poll_ends_by_the_answer_that_woke_and_not_by_the_first_that_is_read() {
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    fixture.connect(2, CLIENT);
    for _ in 0..20 {
        let start = fixture.now;
        fixture.moves(CLIENT, 1, WRITE, 200);
        fixture.moves(CLIENT, 2, WRITE, 200);
        fixture.waits(CLIENT, 10 * MS, EPOLL_WAIT, |call| call.result = 2);
        fixture.recording.switches.last_mut().expect("it waited").waker = SERVER;
        let woken = fixture.now;
        // The second is answered first; before the client is on a processor, the other is as well, and is read first.
        fixture.now = start + 20 * US;
        fixture.moves(SERVER, 1001, READ, 200);
        fixture.moves(SERVER, 1002, READ, 200);
        fixture.waits(SERVER, woken - 4 * US - fixture.now, NANOSLEEP, |call| call.script_stack = 5);
        fixture.moves(SERVER, 1002, WRITE, 1000);
        fixture.moves(SERVER, 1001, WRITE, 1000);
        fixture.now += 50 * US;
        fixture.moves(CLIENT, 1, READ, 1000);
        fixture.moves(CLIENT, 2, READ, 1000);
    }
    let tree = tree(fixture);
    let poll = &tree.branches[0];
    let waited: u64 = poll.waits_for.iter().filter(|node| node.end == Some(End::Server)).map(|node| node.ns).sum();
    assert!(poll.ended.is_empty() && waited * 10 > poll.ns * 9, "{tree:#?}");
}

#[test]
fn a_connection_that_is_closed_is_followed_to_the_thread_that_closed_it() {
    let mut fixture = with_a_holder();
    requests(&mut fixture, |fixture| {
        // Another client's thread thinks, and closes its connection, for whose next request a worker waits.
        let start = fixture.now;
        let other = fixture.recording.connections.len() as u32;
        fixture.rows(other, CLIENT + 1, start);
        fixture.process(CLIENT + 1, "other");
        fixture.moves(CLIENT + 1, other, WRITE, 100);
        fixture.waits(CLIENT + 1, 8 * MS, NANOSLEEP, |call| call.script_stack = 6);
        let closed = fixture.now + 10 * US;
        fixture.now = start + 20 * US;
        fixture.waits(SERVER, closed + US - fixture.now, EPOLL_WAIT, |call| (call.script_stack, call.result) = (5, 1));
        fixture.moves(SERVER, other + 1000, READ, 0);
    });
    let tree = tree(fixture);
    let poll = tree.nodes().find(|node| node.place.first().is_some_and(|place| place.line == 12)).expect("a poll");
    assert!(poll.ended.is_empty(), "{tree:#?}");
    assert_eq!(poll.waits_for[0].place[0].line, 99, "{tree:#?}");
}

#[test]
fn a_queue_for_a_lock_is_one_wait_for_all_that_was_done_with_it() {
    let mut fixture = with_a_holder();
    requests(&mut fixture, |fixture| {
        // The holder itself waits for the lock most of the time: a third thread sleeps with it for 4 ms, and then the holder.
        const THIRD: u32 = HOLDER + 1;
        let start = fixture.now;
        fixture.waits(THIRD, 4 * MS, NANOSLEEP, |call| (call.pid, call.script_stack) = (SERVER, 6));
        fixture.does(THIRD, 20 * US, FUTEX, |call| (call.pid, call.result) = (SERVER, 1));
        let turn = fixture.now - 10 * US;
        fixture.now = start;
        fixture.waits(HOLDER, turn - start, FUTEX, |call| (call.pid, call.script_stack) = (SERVER, 5));
        let held_by = fixture.recording.switches.last_mut().expect("it waited");
        (held_by.waker, held_by.runnable) = (THIRD, Nanos(turn - US));
        let begun = fixture.now;
        held(fixture, 4 * MS);
        // The server has waited all the while.
        let call = fixture.recording.calls.last_mut().expect("it waited");
        let length = begun - start;
        (call.start, call.duration, call.blocked) =
            (Nanos(start), call.duration + Nanos(length), call.blocked + Nanos(length));
        fixture.recording.switches.last_mut().expect("it waited").start = Nanos(start + US);
    });
    let tree = tree(fixture);
    let lock = tree.nodes().find(|node| is_lock(node)).expect("a lock");
    let sleeps: u64 = lock.waits_for.iter().filter(|node| node.place[0].line == 99).map(|node| node.ns).sum();
    assert!(sleeps * 10 > lock.ns * 9 && !lock.waits_for.iter().any(is_lock), "{tree:#?}");
}

#[test]
fn a_clock_whose_thread_wakes_others_has_waited_for_none_of_them() {
    let mut fixture = with_a_holder();
    requests(&mut fixture, |fixture| {
        // The server's thread waits for its time, and then wakes one that had nothing to do meanwhile.
        let start = fixture.now;
        fixture.waits(SERVER, 5 * MS, FUTEX, |call| (call.script_stack, call.result) = (5, TIMED_OUT));
        fixture.does(SERVER, 10 * US, FUTEX, |call| call.result = 1);
        let woken = fixture.now - 5 * US;
        fixture.now = start + MS;
        fixture.waits(HOLDER, woken - fixture.now, FUTEX, |call| (call.pid, call.script_stack) = (SERVER, 6));
        let switch = fixture.recording.switches.last_mut().expect("it waited");
        (switch.waker, switch.runnable, switch.end) = (SERVER, Nanos(woken), Nanos(woken + US));
    });
    let tree = tree(fixture);
    let lock = tree.nodes().find(|node| is_lock(node)).expect("a lock");
    assert_eq!((lock.mostly_ended_by(), lock.waits_for.len()), (Some(&Ender::Timer), 0), "{tree:#?}");
}

#[test]
fn who_makes_way_for_a_thread_whose_wait_timed_out_is_waited_for() {
    let mut fixture = with_a_holder();
    requests(&mut fixture, |fixture| {
        // The holder computes; asked to make way, it waits for its turn until the server's thread is done.
        let start = fixture.now;
        fixture.waits(SERVER, 5 * MS, FUTEX, |call| (call.script_stack, call.result) = (5, TIMED_OUT));
        let asked = fixture.now;
        fixture.now += 30 * US;
        let taken = fixture.now;
        fixture.does(SERVER, 10 * US, FUTEX, |call| call.result = 1);
        fixture.now = start;
        fixture.does(HOLDER, 5 * MS, READ, |call| call.pid = SERVER);
        fixture.now = asked + 10 * US;
        fixture.waits(HOLDER, 60 * US, FUTEX, |call| (call.pid, call.script_stack) = (SERVER, 6));
        let switch = fixture.recording.switches.last_mut().expect("it waited");
        (switch.waker, switch.runnable, switch.end) = (SERVER, Nanos(taken + 5 * US), Nanos(taken + 6 * US));
    });
    let tree = tree(fixture);
    let lock = tree.nodes().find(|node| is_lock(node)).expect("a lock");
    assert_eq!(lock.ended, []);
    assert!(lock.waits_for[0].activity == Activity::OnCpu, "{tree:#?}");
}
