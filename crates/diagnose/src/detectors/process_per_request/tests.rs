use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE, request};
use crate::tests::{answer, names};
use case::tables::{CallSum, Process, Thread};
use case::{Nanos, Recording};

const OPEN: u16 = 257;
const VFORK: u16 = 58;
const WAIT: u16 = 61;
const PIPE: i32 = 9;

/// What a server starts for each of twenty requests.
#[derive(Clone, Copy)]
struct Child {
    /// For how long it waits for a process of its own before it becomes the program.
    waits: u64,
    /// How long it takes until it has opened what all of them open, whether it does so bit by bit, and until it answers.
    loads: u64,
    at_once: bool,
    works: u64,
    executes: bool,
    lives_on: bool,
}

const SCRIPT: Child = Child { waits: 0, loads: 30 * MS, at_once: false, works: MS, executes: true, lives_on: false };

fn requests(child: Child) -> Recording {
    let mut fixture = Fixture::new();
    fixture.path(1, "/usr/lib/python3/json.py");
    fixture.path(2, "/usr/lib/python3/os.py");
    fixture.script(5, &["server.py:22:answer"]);
    fixture.connect(1, CLIENT);
    let mut idle = fixture.now;
    let mut ends = Vec::new();
    for number in 0..20 {
        let start = fixture.now;
        fixture.moves(CLIENT, 1, WRITE, 200);
        fixture.travels(start + 3 * US, 1, 1001, 200);
        let waiting = fixture.now;
        fixture.now = idle;
        fixture.waits(SERVER, start + 12 * US - idle, EPOLL_WAIT, |call| call.result = 1);
        fixture.moves(SERVER, 1001, READ, 200);
        let pid = 1000 + number;
        let forked = fixture.now + 50 * US;
        fixture.does(SERVER, 100 * US, VFORK, |call| (call.result, call.script_stack) = (i64::from(pid), 5));
        let begun = fixture.now;
        let written = runs(&mut fixture, pid, forked, child);
        fixture.now = begun;
        fixture.waits(SERVER, written + US - begun, READ, |call| (call.fd, call.result) = (PIPE, 900));
        fixture.recording.switches.last_mut().expect("it waited").waker = pid;
        let answered = fixture.now;
        fixture.moves(SERVER, 1001, WRITE, 1000);
        fixture.travels(answered + 3 * US, 1001, 1, 1000);
        idle = fixture.now;
        fixture.now = waiting;
        fixture.waits_for(CLIENT, 1, answered + 12 * US - waiting, 1000);
        fixture.now += 20 * US;
        ends.push((pid, written + 200 * US));
    }
    fixture.off(SERVER, idle, fixture.now + MS);
    let mut recording = fixture.end();
    if !child.lives_on {
        for (pid, end) in ends {
            let end = Nanos(end);
            let last = recording.processes.iter_mut().rfind(|row| row.pid == pid).expect("a process");
            (last.end, last.exit) = (end, 0);
            recording.threads.iter_mut().filter(|row| row.tid == pid).for_each(|row| row.end = end);
        }
    }
    recording
}

/// The process itself; when it has written its answer.
fn runs(fixture: &mut Fixture, pid: u32, forked: u64, child: Child) -> u64 {
    let row = |start: u64, executable: &str| Process {
        pid,
        parent: SERVER,
        start: Nanos(start),
        role: "server".into(),
        executable: executable.into(),
        exit: -1,
        ..Process::default()
    };
    fixture.recording.processes.push(row(forked, "/usr/bin/server"));
    fixture.recording.threads.push(Thread { tid: pid, pid, start: Nanos(forked), ..Thread::default() });
    if child.waits > 0 {
        fixture.now = forked + 20 * US;
        fixture.does(pid, 10 * US, VFORK, |call| call.result = i64::from(pid + 1000));
        fixture.waits(pid, child.waits, WAIT, |_| ());
    }
    let forked = forked + child.waits;
    if child.executes {
        fixture.recording.processes.push(row(forked + 100 * US, "/usr/bin/python3"));
    }
    let steps = if child.at_once { 1 } else { 10 };
    for step in 1..steps {
        fixture.now = forked + child.loads * step / steps;
        fixture.does(pid, 10 * US, OPEN, |call| (call.path, call.result) = (2, 3));
    }
    fixture.now = forked + child.loads;
    fixture.does(pid, 10 * US, OPEN, |call| (call.path, call.result) = (1, 3));
    fixture.now += child.works;
    fixture.does(pid, 10 * US, WRITE, |call| (call.fd, call.result) = (1, 900));
    fixture.now - 5 * US
}

#[test]
fn an_interpreter_that_is_started_for_each_request_is_found_where_it_is_started() {
    let answer = answer(&requests(SCRIPT));
    let finding = answer.findings.iter().find(|one| one.name == "process-per-request").expect("it is found");
    assert!(finding.cost.share_of_wall > 0.9 && finding.place[0].line == 22, "{finding:#?}");
    assert!(finding.mechanism[0].starts_with("server started python3 20 times for 20 requests"), "{finding:#?}");
}

/// Ten requests of a client that starts so many processes to make them.
fn asking(processes: u32) -> Recording {
    each_asking(processes, 10 / processes)
}

/// A client that starts so many processes, of which each makes so many requests.
fn each_asking(processes: u32, each: u32) -> Recording {
    let mut fixture = Fixture::new();
    fixture.path(1, "/usr/lib/libcurl.so.4");
    fixture.path(2, "/usr/lib/libz.so.1");
    fixture.script(5, &["client.py:3:fetch"]);
    let (mut idle, mut id) = (fixture.now, 0);
    let mut ends = Vec::new();
    for number in 0..processes {
        let pid = 1000 + number;
        let forked = fixture.now + 50 * US;
        fixture.does(CLIENT, 100 * US, VFORK, |call| (call.result, call.script_stack) = (i64::from(pid), 5));
        // It writes nothing but its requests.
        let calls = fixture.recording.calls.len();
        runs(&mut fixture, pid, forked, Child { works: 0, ..SCRIPT });
        fixture.recording.calls.truncate(fixture.recording.calls.len().max(calls + 1) - 1);
        for row in fixture.recording.processes.iter_mut().filter(|row| row.pid == pid) {
            (row.parent, row.role) = (CLIENT, "client".into());
        }
        for _ in 0..each {
            id += 1;
            fixture.connect(id, pid);
            request(&mut fixture, pid, id, 200 * US, &mut idle);
            fixture.close(id);
        }
        ends.push((pid, fixture.now));
    }
    let mut recording = fixture.end();
    for (pid, end) in ends {
        let last = recording.processes.iter_mut().rfind(|row| row.pid == pid).expect("a process");
        (last.end, last.exit) = (Nanos(end), 0);
    }
    recording
}

#[test]
fn a_client_that_starts_a_process_for_each_request_is_found_where_it_does() {
    let answer = answer(&asking(10));
    let finding = answer.findings.iter().find(|one| one.name == "process-per-request").expect("it is found");
    assert!(finding.cost.between_ns_per_exchange > 25 * MS && finding.place[0].line == 3, "{finding:#?}");
    assert!(!names(&asking(1)).contains(&"process-per-request".to_string()));
}

#[test]
fn processes_that_make_request_after_request_are_clients() {
    let is_found = |each: u32| names(&each_asking(10, each)).contains(&"process-per-request".to_string());
    assert!(is_found(2), "a redirect");
    assert!(!is_found(3));
}

#[test]
fn work_that_takes_long_in_a_process_of_its_own_is_no_start() {
    let recording = requests(Child { loads: 300 * US, works: 30 * MS, ..SCRIPT });
    assert!(!names(&recording).contains(&"process-per-request".to_string()));
}

#[test]
fn what_a_process_waits_for_before_it_becomes_the_program_is_no_start() {
    let cost = |child: Child| {
        let answer = answer(&requests(child));
        let finding = answer.findings.into_iter().find(|one| one.name == "process-per-request");
        finding.map_or(0, |finding| finding.cost.ns_per_exchange)
    };
    let loads = cost(SCRIPT);
    let waits = cost(Child { waits: 30 * MS, ..SCRIPT });
    assert!(loads > 25 * MS && waits.abs_diff(loads) < MS, "{loads}, {waits}");
}

#[test]
fn work_before_another_file_is_opened_is_no_start() {
    let recording = requests(Child { at_once: true, ..SCRIPT });
    assert!(!names(&recording).contains(&"process-per-request".to_string()));
}

#[test]
fn a_child_that_stays_the_same_program_and_workers_that_stay_are_left_alone() {
    for child in [Child { executes: false, ..SCRIPT }, Child { lives_on: true, ..SCRIPT }] {
        assert!(!names(&requests(child)).contains(&"process-per-request".to_string()));
    }
}

#[test]
fn descriptors_that_are_closed_one_by_one_up_to_the_limit_are_said() {
    let said = |failed: u64| {
        let mut recording = requests(SCRIPT);
        let pids = 1000..1020;
        let closing = pids.map(|pid| CallSum { pid, number: 3, failed, time: Nanos(3 * MS), ..CallSum::default() });
        recording.call_sums.extend(closing);
        let answer = answer(&recording);
        let finding = answer.findings.iter().find(|one| one.name == "process-per-request").expect("it is found");
        finding.mechanism.iter().any(|words| words.contains("closes 19,990 descriptors") && words.contains("3.00 ms"))
    };
    assert!(said(19_990) && !said(40));
}
