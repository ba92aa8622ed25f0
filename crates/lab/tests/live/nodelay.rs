//! Switching TCP_NODELAY in programs that run, on a real kernel. Needs root; without it each test says so and passes.

use crate::fixture::{is_root, wait_until};
use crate::running::{Ours, alone, finding, patient, rates, terms, try_on};
use case::Status;
use lab::live::{LiveTerms, switch};
use lab::{Journal, Repair};
use record::{Nodelay, Role, sockets_of};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Answers each request of eight bytes once it is complete: an end that acknowledges late.
const SERVER: &str = "
import socket, threading
listener = socket.create_server(('127.0.0.1', 0))
print(listener.getsockname()[1], flush=True)
def serve(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    read = connection.recv(8)
    while read:
        while len(read) < 8:
            read += connection.recv(8 - len(read))
        connection.sendall(b'answer')
        read = connection.recv(8)
while True:
    threading.Thread(target=serve, args=[listener.accept()[0]], daemon=True).start()
";

/// Writes, writes and reads for ever, on one connection, with the option set as asked.
const CLIENT: &str = "
import socket, sys, time
connection = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(sys.argv[2]))
while True:
    connection.sendall(b'head')
    connection.sendall(b'body')
    connection.recv(8)
    if sys.argv[2] == '1':
        time.sleep(0.005)
";

/// Answers in two writes, between which it asks another server of its own something: it makes requests and is asked some.
const BETWEEN: &str = "
import socket, threading
behind = socket.create_server(('127.0.0.1', 0))
listener = socket.create_server(('127.0.0.1', 0))
print(listener.getsockname()[1], flush=True)
other = socket.create_connection(behind.getsockname())
inner, _ = behind.accept()
connection, _ = listener.accept()
while connection.recv(8):
    connection.sendall(b'head')
    other.sendall(b'question')
    inner.recv(8)
    inner.sendall(b'answer')
    other.recv(8)
    connection.sendall(b'body')
";

/// Asks, and reads an answer of eight bytes.
const ASKING: &str = "
import socket, sys
connection = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
while True:
    connection.sendall(b'question')
    left = 8
    while left:
        left -= len(connection.recv(left))
";

/// A client in its conversation, and its server.
fn conversation(nodelay: &str) -> (Ours, Ours) {
    let mut server = Ours::python(SERVER, &[]);
    let port = server.first_line();
    let client = Ours::python(CLIENT, &[&port, nodelay]);
    let wanted = if nodelay == "1" { Nodelay::On } else { Nodelay::Off };
    wait_until("the client is connected", || client.nodelay() == Some(wanted));
    (server, client)
}

#[test]
fn a_stalled_client_is_fast_whenever_the_option_is_on_and_never_restarted() {
    let _alone = alone();
    if !is_root() {
        return;
    }
    let (_server, mut client) = conversation("0");
    let journal = Journal::open().expect("a journal");
    let live = try_on("P01", &client, Role::Client, &journal);
    assert_eq!(live.tried.status, Status::Confirmed, "{live:?}");
    let (off, on) = (rates(&live, false), rates(&live, true));
    assert!(off.len() == on.len() + 1 && on.len() >= 4, "{live:?}");
    assert!(off.iter().all(|rate| *rate < 40.0) && on.iter().all(|rate| *rate > 400.0), "{off:?} {on:?}");
    let turns = live.switched.windows.iter().map(|window| window.on).collect::<Vec<_>>();
    assert!(turns.iter().enumerate().all(|(place, on)| *on == (place % 2 == 1)));
    assert_eq!((live.switched.reached, live.switched.reverted, live.switched.problem.as_str()), (1, true, ""));
    assert_eq!(client.nodelay(), Some(Nodelay::Off));
    assert!(client.runs());
    assert_eq!(journal.open_entries(), 0);
}

#[test]
fn a_server_that_makes_quick_requests_itself_is_judged_by_those_it_answers_late() {
    let _alone = alone();
    if !is_root() {
        return;
    }
    let mut server = Ours::python(BETWEEN, &[]);
    let port = server.first_line();
    let _client = Ours::python(ASKING, &[&port]);
    wait_until("the client is connected", || sockets_of(&[server.pid()]).len() == 5);
    let journal = Journal::open().expect("a journal");
    let live = try_on("P01", &server, Role::Server, &journal);
    assert_eq!(live.tried.status, Status::Confirmed, "{live:?}");
    assert_eq!((live.switched.reached, live.switched.reverted), (3, true));
    let sockets = sockets_of(&[server.pid()]);
    assert!(sockets.iter().all(|socket| socket.nodelay().expect("read") == Some(Nodelay::Off)), "{sockets:?}");
}

#[test]
fn a_client_that_has_set_the_option_itself_keeps_it_and_nothing_is_touched() {
    let _alone = alone();
    if !is_root() {
        return;
    }
    let (_server, client) = conversation("1");
    let journal = Journal::open().expect("a journal");
    let live = try_on("P01", &client, Role::Client, &journal);
    assert_eq!((live.switched.reached, live.tried.applied, live.tried.status), (0, false, Status::Undecided));
    assert!(live.tried.problem.contains("itself"), "{}", live.tried.problem);
    assert_eq!(client.nodelay(), Some(Nodelay::On));
}

#[test]
fn a_program_that_exchanges_nothing_or_ends_confirms_nothing() {
    let _alone = alone();
    if !is_root() {
        return;
    }
    let journal = Journal::open().expect("a journal");
    let idle = "import socket, time\na, b = socket.socketpair()\nprint(1, flush=True)\ntime.sleep(60)";
    let mut idle = Ours::python(idle, &[]);
    idle.first_line();
    let live = try_on("P01", &idle, Role::Client, &journal);
    assert!(live.tried.problem.starts_with("no exchange completed"), "{}", live.tried.problem);
    let (server, mut client) = conversation("0");
    let mut server = Some(server);
    let mut waited = 0;
    let live = switch(&finding("P01"), client.pid(), &terms(Role::Client), &journal, &mut |time| {
        waited += 1;
        if waited == 8 {
            // Without its server the client ends.
            drop(server.take());
        }
        patient(time)
    });
    let live = live.expect("tried");
    assert_eq!(live.tried.status, Status::Undecided);
    assert!(live.tried.problem.starts_with("the program ended"), "{}", live.tried.problem);
    assert!(!client.runs());
    assert_eq!(journal.open_entries(), 0);
}

#[test]
fn whoever_interrupts_finds_everything_set_back() {
    let _alone = alone();
    if !is_root() {
        return;
    }
    let (_server, client) = conversation("0");
    let journal = Journal::open().expect("a journal");
    let mut was_on = false;
    let mut wait = |time| {
        patient(time);
        was_on = client.nodelay() == Some(Nodelay::On);
        was_on
    };
    let live = switch(&finding("P01"), client.pid(), &terms(Role::Client), &journal, &mut wait).expect("tried");
    assert!(was_on, "it was on when it was interrupted");
    assert!(live.switched.reverted && live.tried.problem.contains("Ctrl-C"), "{live:?}");
    assert_eq!((live.tried.status, client.nodelay()), (Status::Undecided, Some(Nodelay::Off)));
    assert_eq!(journal.open_entries(), 0);
}

/// Where a child of this test finds whom to switch.
const TARGET: &str = "LIVE_TEST_TARGET";

/// No test of its own: what the next one runs in a process of its own, to be killed.
#[test]
fn switching_for_ever() {
    let Some(pid) = std::env::var(TARGET).ok().and_then(|text| text.parse().ok()) else { return };
    let journal = Journal::open().expect("a journal");
    let terms = LiveTerms { window: Duration::from_secs(3), budget: Duration::from_mins(10), ..terms(Role::Client) };
    let _ = switch(&finding("P01"), pid, &terms, &journal, &mut patient);
}

#[test]
fn what_a_killed_run_has_left_set_is_set_back_by_undo() {
    let _alone = alone();
    if !is_root() {
        return;
    }
    let (_server, mut client) = conversation("0");
    let ourselves = std::env::current_exe().expect("a path");
    let mut command = Command::new(ourselves);
    let command = command.args(["--exact", "nodelay::switching_for_ever"]).env(TARGET, client.pid().to_string());
    let mut switching = Ours(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started"));
    let begun = std::time::Instant::now();
    while client.nodelay() == Some(Nodelay::Off) {
        assert!(begun.elapsed() < Duration::from_secs(50), "it was never switched on");
        std::thread::sleep(Duration::from_millis(20));
    }
    let meanwhile = lab::repair(Repair::All).expect("looked at").done;
    assert!(meanwhile.iter().all(|line| !line.contains("TCP_NODELAY")), "who lives sets back itself: {meanwhile:?}");
    switching.0.kill().and_then(|()| switching.0.wait()).expect("killed");
    assert_eq!(client.nodelay(), Some(Nodelay::On), "nobody has set it back");
    let repaired = lab::repair(Repair::Left).expect("repaired");
    let expected = format!("restored TCP_NODELAY on a connection of process {} (python3)", client.pid());
    assert!(repaired.done.contains(&expected), "{repaired:?}");
    assert_eq!(client.nodelay(), Some(Nodelay::Off));
    assert!(client.runs());
}
