//! Switching a cause off and on in programs that run, on a real kernel. Needs root; without it each test says so and passes.

mod scene;

use case::{Cost, Evidence, Finding, Status};
use lab::live::{Live, LiveTerms, switch};
use lab::{Arrangement, Extent, Journal, Laboratory, Repair, Subject, World};
use record::{Nodelay, Role, sockets_of};
use scene::{is_root, wait_until};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
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

/// Writes, writes and reads for ever, on one connection, with the option as it is told.
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

/// While a tracer comes or goes, others can miss what happens.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Ours(Child);

impl Ours {
    fn python(script: &str, arguments: &[&str]) -> Ours {
        let mut command = Command::new("/usr/bin/python3");
        let command = command.args(["-c", script]).args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
        Ours(command.spawn().expect("python"))
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    fn first_line(&mut self) -> String {
        let mut line = String::new();
        let mut said = std::io::BufReader::new(self.0.stdout.as_mut().expect("a pipe"));
        std::io::BufRead::read_line(&mut said, &mut line).expect("read");
        line.trim().to_string()
    }

    fn runs(&mut self) -> bool {
        self.0.try_wait().expect("polled").is_none()
    }

    /// How the option is set on its only connection.
    fn nodelay(&self) -> Option<Nodelay> {
        let sockets = sockets_of(&[self.pid()]);
        sockets.iter().find(|socket| !socket.is_listener)?.nodelay().expect("read")
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A client in its conversation, and its server.
fn conversation(nodelay: &str) -> (Ours, Ours) {
    let mut server = Ours::python(SERVER, &[]);
    let port = server.first_line();
    let client = Ours::python(CLIENT, &[&port, nodelay]);
    let wanted = if nodelay == "1" { Nodelay::On } else { Nodelay::Off };
    wait_until("the client is connected", || client.nodelay() == Some(wanted));
    (server, client)
}

fn finding(id: &str) -> Finding {
    Finding {
        id: id.into(),
        name: "a-cause".into(),
        status: Status::Suspected,
        title: String::new(),
        mechanism: Vec::new(),
        cost: Cost { ns_per_exchange: 40_000_000, share_of_wall: 0.9, ..Cost::default() },
        effect: None,
        tried: Vec::new(),
        place: Vec::new(),
        remedy: String::new(),
        evidence: Evidence::default(),
        caveats: Vec::new(),
    }
}

const SILENT: &dyn Fn(&str) = &|_| ();

fn terms(role: Role) -> LiveTerms<'static> {
    let (window, budget) = (Duration::from_millis(500), Duration::from_secs(30));
    LiveTerms { window, budget, role, side: None, say: SILENT }
}

fn patient(time: Duration) -> bool {
    std::thread::sleep(time);
    false
}

fn try_on(id: &str, process: &Ours, role: Role, journal: &Journal) -> Live {
    switch(&finding(id), process.pid(), &terms(role), journal, &mut patient).expect("tried")
}

fn rates(live: &Live, on: bool) -> Vec<f64> {
    let windows = live.switched.windows.iter().filter(|window| window.on == on);
    windows.map(|window| window.exchanges as f64 / window.wall_ns as f64 * 1e9).collect()
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
    assert!(live.tried.problem.starts_with("no exchange ended"), "{}", live.tried.problem);
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
    let command = command.args(["--exact", "switching_for_ever"]).env(TARGET, client.pid().to_string());
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
    let expected = format!("set TCP_NODELAY back on a connection of process {} (python3)", client.pid());
    assert!(repaired.done.contains(&expected), "{repaired:?}");
    assert_eq!(client.nodelay(), Some(Nodelay::Off));
    assert!(client.runs());
}

/// Waits 2 ms for 95 of 100 answers, and 50 ms for five.
const SLOW_AT_TIMES: &str = "
import socket, threading, time
listener = socket.create_server(('127.0.0.1', 0))
client = socket.create_connection(listener.getsockname())
server, _ = listener.accept()
def serve():
    for request in range(200):
        server.recv(8)
        time.sleep(0.05 if request % 20 == 7 else 0.002)
        server.send(b'answer')
threading.Thread(target=serve).start()
for request in range(200):
    client.send(b'question')
    client.recv(8)
";

#[test]
fn the_row_of_a_trial_tells_how_long_half_and_nearly_all_of_its_exchanges_took() {
    let _alone = alone();
    if !is_root() {
        return;
    }
    let journal = Journal::open().expect("a journal");
    let words = ["/usr/bin/python3", "-c", SLOW_AT_TIMES].map(ToString::to_string).to_vec();
    let subject = Subject { client: words, ..Subject::default() };
    let whole =
        Extent { warm_up: 0, exchanges: None, window: None, least: Duration::ZERO, longest: Duration::from_mins(1) };
    // What is dropped at the beginning is not in the quantiles either: the seventh is slow.
    for (extent, exchanges) in [(whole, 200), (Extent { warm_up: 20, ..whole }, 180)] {
        let mut wait = patient;
        let mut laboratory = Laboratory::open(&journal, None, &mut wait).expect("opened");
        let outcome = laboratory.run(&subject, &World::default(), &Arrangement::default(), &extent).expect("run");
        let row = outcome.row;
        assert!(row.exchanges.abs_diff(exchanges) <= 3, "{row:?}");
        let [half, most, nearly_all] =
            [row.exchange_p50, row.exchange_p95, row.exchange_p99].map(case::Nanos::milliseconds);
        assert!((1.9..20.0).contains(&half) && half <= most && most <= nearly_all, "{row:?}");
        assert!((48.0..90.0).contains(&nearly_all), "{row:?}");
    }
}

/// A server that works for 5 ms of processor time an answer, and its client, in one program.
const WORKING: &str = "
import socket, time, threading
listener = socket.create_server(('127.0.0.1', 0))
client = socket.create_connection(listener.getsockname())
server, _ = listener.accept()
print(1, flush=True)
def work():
    end = time.thread_time() + 0.005
    while time.thread_time() < end:
        pass
while True:
    client.send(b'question')
    server.recv(8)
    work()
    server.send(b'answer')
    client.recv(8)
";

/// A group with a quota for one process, removed when it is dropped.
struct Limited(PathBuf);

impl Limited {
    /// None where no hierarchy of version 1 can be written.
    fn around(pid: u32, name: &str) -> Option<Limited> {
        let folder = Path::new("/sys/fs/cgroup/cpu").join(format!("live-test-{name}-{pid}"));
        if std::fs::create_dir(&folder).is_err() {
            println!("skipped: no hierarchy of version 1 limits processor time here");
            return None;
        }
        std::fs::write(folder.join("cpu.cfs_quota_us"), "20000").expect("limited");
        std::fs::write(folder.join("cgroup.procs"), pid.to_string()).expect("moved");
        Some(Limited(folder))
    }

    fn quota(&self) -> String {
        std::fs::read_to_string(self.0.join("cpu.cfs_quota_us")).expect("read").trim().to_string()
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        wait_until("the group can be removed", || std::fs::remove_dir(&self.0).is_ok());
    }
}

#[test]
fn a_quota_of_the_programs_own_group_is_lifted_and_put_back() {
    let _alone = alone();
    if !is_root() {
        return;
    }
    let journal = Journal::open().expect("a journal");
    let mut working = Ours::python(WORKING, &[]);
    working.first_line();
    let Some(limited) = Limited::around(working.pid(), "own") else { return };
    let live = try_on("P29", &working, Role::Client, &journal);
    let (status, quota) = (live.tried.status, limited.quota());
    let (off, on) = (rates(&live, false), rates(&live, true));
    drop(working);
    drop(limited);
    assert_eq!((status, quota.as_str()), (Status::Confirmed, "20000"), "{live:?}");
    assert!(off.iter().all(|rate| on.iter().all(|other| other > rate)), "{off:?} {on:?}");
    assert_eq!(journal.open_entries(), 0);
}

#[test]
fn a_quota_that_others_live_under_or_that_is_not_there_is_left_alone() {
    let _alone = alone();
    if !is_root() {
        return;
    }
    let journal = Journal::open().expect("a journal");
    let (mut working, mut other) = (Ours::python(WORKING, &[]), Ours::python(WORKING, &[]));
    working.first_line();
    other.first_line();
    let unlimited = try_on("P29", &other, Role::Client, &journal);
    assert!(unlimited.tried.problem.starts_with("no control group"), "{}", unlimited.tried.problem);
    let Some(limited) = Limited::around(working.pid(), "shared") else { return };
    std::fs::write(limited.0.join("cgroup.procs"), other.pid().to_string()).expect("moved");
    let shared = try_on("P29", &working, Role::Client, &journal);
    let quota = limited.quota();
    drop((working, other));
    drop(limited);
    assert!(shared.tried.problem.ends_with("holds other processes as well"), "{}", shared.tried.problem);
    assert!(!shared.tried.applied && shared.switched.windows.is_empty());
    assert_eq!(quota, "20000");
}
