//! Ends of waits by children, threads, databases and by each other.

use super::*;

/// A server that starts a process for each request and reads from a pipe until that one ends, without a thread that wakes it;
/// `result` is what its read returns.
fn reads_until_a_child_ends(result: i64) -> WaitTree {
    let mut fixture = with_a_holder();
    let mut children: u32 = 0;
    requests(&mut fixture, |fixture| {
        let start = fixture.now;
        children += 1;
        let pid = 900 + children;
        fixture.process(pid, "child");
        fixture.recording.processes.last_mut().expect("a process").parent = SERVER;
        fixture.waits(pid, 8 * MS, NANOSLEEP, |call| call.script_stack = 6);
        fixture.now = start;
        fixture.waits(SERVER, 9 * MS, READ, |call| (call.fd, call.result, call.script_stack) = (9, result, 5));
    });
    let mut recording = fixture.end();
    for process in recording.processes.iter_mut().filter(|row| row.pid > 900) {
        process.end = process.start + Nanos(8 * MS);
    }
    for thread in recording.threads.iter_mut().filter(|row| row.pid > 900) {
        thread.end = thread.start + Nanos(8 * MS);
    }
    answer(&recording).waits.expect("something was waited for")
}

#[test]
fn the_end_of_a_pipe_is_the_end_of_the_child_that_wrote_to_it() {
    let tree = reads_until_a_child_ends(0);
    let read = tree.nodes().find(|node| node.place.first().is_some_and(|place| place.line == 12)).expect("a read");
    assert!(read.waits_for.iter().any(|node| node.program == "child" && node.ns > 7 * MS), "{tree:#?}");
    // What was read then came from somebody.
    let tree = reads_until_a_child_ends(10);
    let read = tree.nodes().find(|node| node.place.first().is_some_and(|place| place.line == 12)).expect("a read");
    assert_eq!((read.waits_for.len(), read.mostly_ended_by()), (0, Some(&Ender::Unknown)), "{tree:#?}");
}

#[test]
fn who_joins_a_thread_waits_for_it() {
    let joins = |ends_then: bool| {
        let mut fixture = with_a_holder();
        let mut threads: Vec<(u32, u64)> = Vec::new();
        requests(&mut fixture, |fixture| {
            let start = fixture.now;
            let tid = 900 + threads.len() as u32;
            threads.push((tid, start + if ends_then { 9 * MS - 20 * US } else { 5 * MS }));
            let thread = Thread { tid, pid: SERVER, start: Nanos(start), ..Thread::default() };
            fixture.recording.threads.push(thread);
            fixture.waits(tid, 4 * MS, NANOSLEEP, |call| (call.pid, call.script_stack) = (SERVER, 6));
            fixture.now = start;
            fixture.waits(SERVER, 9 * MS, FUTEX, |call| call.script_stack = 5);
        });
        let mut recording = fixture.end();
        for (tid, end) in threads {
            let row = recording.threads.iter_mut().find(|row| row.tid == tid).expect("a thread");
            row.end = Nanos(end);
        }
        answer(&recording).waits.expect("something was waited for")
    };
    let tree = joins(true);
    let lock = tree.nodes().find(|node| is_lock(node)).expect("a join");
    assert!(lock.waits_for.iter().any(|node| node.place.first().is_some_and(|place| place.line == 99)), "{tree:#?}");
    let tree = joins(false);
    let lock = tree.nodes().find(|node| is_lock(node)).expect("a lock");
    assert_eq!((lock.waits_for.len(), lock.mostly_ended_by()), (0, Some(&Ender::Unknown)), "{tree:#?}");
}

#[test]
fn a_thread_that_had_to_make_way_is_where_it_was_sampled_last() {
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    fixture.stack(7, &["server!render", "server!main"]);
    requests(&mut fixture, |fixture| {
        fixture.computes(SERVER, MS, 7);
        let (start, end) = (Nanos(fixture.now), Nanos(fixture.now + 8 * MS));
        let reason = reason::PREEMPTED;
        fixture.recording.switches.push(Switch { start, runnable: start, end, tid: SERVER, reason, waker: 0 });
    });
    let tree = tree(fixture);
    let delayed = tree.nodes().find(|node| node.activity == Activity::RunDelay).expect("it waited for a CPU");
    assert!(delayed.ns > 7 * MS, "{tree:#?}");
    assert_eq!(delayed.place.first().map(|place| place.function.as_str()), Some("render"), "{tree:#?}");
}

#[test]
fn before_whoever_ended_a_wait_was_there_those_count_who_started_it() {
    let mut fixture = with_a_holder();
    let (shell, child) = (SERVER + 20, SERVER + 21);
    fixture.process(shell, "server");
    fixture.process(child, "server");
    requests(&mut fixture, |fixture| {
        let start = fixture.now;
        // The shell prepares for 6 ms, and then starts the child, whose answer the server reads from a pipe.
        fixture.waits(shell, 6 * MS, NANOSLEEP, |call| call.script_stack = 6);
        fixture.now = start + 9 * MS - 10 * US;
        fixture.does(child, 20 * US, WRITE, |call| (call.fd, call.result) = (1, 7));
        fixture.now = start;
        fixture.waits(SERVER, 9 * MS, READ, |call| (call.fd, call.script_stack) = (3, 5));
        fixture.recording.switches.last_mut().expect("it waited").waker = child;
    });
    // One child is the child of all requests here: only in the first it is not there yet.
    let first = fixture.recording.calls.iter().find(|call| call.tid == SERVER && call.fd == 3).expect("a read");
    let born = Nanos(first.start.0 + 6 * MS);
    for row in fixture.recording.processes.iter_mut().filter(|row| row.pid == child) {
        (row.parent, row.start) = (shell, born);
    }
    fixture.recording.threads.iter_mut().filter(|row| row.tid == child).for_each(|row| row.start = born);
    let recording = fixture.end();
    let analysis = crate::Analysis::new(&recording);
    let tree = crate::waits::trees_of(&analysis, &[0]).pop().flatten().expect("something was waited for");
    let sleeps = tree.nodes().find(|node| matches!(&node.activity, Activity::Blocked { wait: Wait::Sleep, .. }));
    assert!(sleeps.is_some_and(|node| node.ns > 5 * MS && node.ns < 7 * MS), "{tree:#?}");
}

/// Ten requests for each of which a server asks a database that was not recorded, this and then that, and waits 5 ms for the first.
fn asking(first: &str, second: &str) -> Recording {
    const DATABASE: u32 = 7;
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    let peer = Connection { id: DATABASE, pid: SERVER, peer: 0, ..fixture.recording.connections[0].clone() };
    fixture.recording.connections.push(peer);
    for _ in 0..10 {
        let start = fixture.now;
        fixture.moves(CLIENT, 1, WRITE, 200);
        fixture.travels(start + 3 * US, 1, 1001, 200);
        fixture.now = start + 12 * US;
        fixture.moves(SERVER, 1001, READ, 200);
        for (object, length) in [(first, 5 * MS), (second, 100 * US)] {
            let row = Command { time: Nanos(fixture.now), connection: DATABASE, tid: SERVER, ..Command::default() };
            let row = Command { direction: direction::OUT, name: "SELECT".into(), object: object.into(), ..row };
            fixture.recording.commands.push(row);
            fixture.moves(SERVER, DATABASE, WRITE, 60);
            fixture.waits_for(SERVER, DATABASE, length, 300);
        }
        fixture.moves(SERVER, 1001, WRITE, 300);
        let answered = fixture.now;
        fixture.travels(answered - 2 * US, 1001, 1, 300);
        fixture.now = start + 6 * US;
        fixture.waits_for(CLIENT, 1, answered + 12 * US - fixture.now, 300);
    }
    fixture.end()
}

#[test]
fn what_a_database_was_asked_is_named_where_it_is_waited_for() {
    let asked = |recording: &Recording| {
        let tree = answer(recording).waits.expect("a tree");
        tree.main_branch().iter().map(|node| node.asked.clone()).collect::<Vec<_>>()
    };
    assert_eq!(asked(&asking("orders", "customers")), ["", "SELECT orders"]);
    let mut of_others = asking("orders", "customers");
    of_others.commands.iter_mut().for_each(|row| row.connection -= 1);
    assert_eq!(asked(&of_others), ["", ""]);
}

/// Ten answers that the server writes in one call, of which the client reads one half 5 ms before the other.
fn halves() -> Recording {
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    for _ in 0..10 {
        let start = fixture.now;
        fixture.moves(CLIENT, 1, WRITE, 200);
        fixture.travels(start + 3 * US, 1, 1001, 200);
        fixture.now = start + 12 * US;
        fixture.moves(SERVER, 1001, READ, 200);
        let writes = fixture.now;
        fixture.travels(writes + 3 * US, 1001, 1, 500);
        fixture.travels(writes + 8 * MS, 1001, 1, 500);
        fixture.acknowledges(writes + 8 * MS - 10 * US, 1, 1001);
        fixture.waits(SERVER, 8 * MS, WRITE, |call| (call.connection, call.fd, call.result) = (1001, 5, 1000));
        fixture.recording.switches.last_mut().expect("it waited").waker = CLIENT;
        fixture.now = start + 6 * US;
        fixture.waits_for(CLIENT, 1, 8 * MS + 20 * US, 1000);
        fixture.now += 20 * US;
    }
    fixture.end()
}

#[test]
fn two_that_wait_for_each_other_in_turns_are_followed_once() {
    let tree = answer(&halves()).waits.expect("a tree");
    let of_clients = |node: &&WaitNode| matches!(&node.activity, Activity::Blocked { .. });
    let branch = tree.main_branch();
    assert_eq!(branch.into_iter().filter(|node| of_clients(node)).count(), 2, "{tree:#?}");
}
