//! A write, a write and a read over loopback: Nagle's algorithm and delayed acknowledgements hold it for 40 ms, unless an
//! option is set.

use super::*;
use crate::{Input, Output, ParentDeathSignal, Program};
use std::path::PathBuf;
use std::time::Instant;

/// Makes a listener, waits where asked to, and prints the median length of its exchanges in milliseconds.
const SCRIPT: &str = "
import os, socket, statistics, sys, time
listener = socket.create_server(('127.0.0.1', 0))
open('listening', 'w').close()
while not os.path.exists('go'):
    time.sleep(0.005)
client = socket.create_connection(listener.getsockname())
server, _ = listener.accept()
times = []
for exchange in range(20):
    start = time.monotonic()
    client.send(b'head')
    client.send(b'body')
    read = b''
    while len(read) < 8:
        read += server.recv(8)
    server.send(b'answer')
    client.recv(6)
    times.append(time.monotonic() - start)
print(statistics.median(times[5:]) * 1000)
";

/// A control group of our own, removed in the end.
struct Group(PathBuf);

impl Group {
    /// None where there can be none.
    fn new(name: &str) -> Option<Group> {
        if !testing::is_root() {
            return None;
        }
        let mounts = std::fs::read_to_string("/proc/self/mounts").expect("mounts");
        let mut points = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let Some(point) = points.find(|fields| fields[2] == "cgroup2").map(|fields| fields[1].to_string()) else {
            testing::does_not_apply("needs control groups of version 2");
            return None;
        };
        let membership = std::fs::read_to_string("/proc/self/cgroup").expect("groups");
        let ours = membership.lines().find_map(|line| line.strip_prefix("0::/")).expect("version 2");
        let folder = PathBuf::from(point).join(ours).join(format!("whyslow-test-{name}-{}", std::process::id()));
        std::fs::create_dir(&folder).expect("a group");
        Some(Group(folder))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(5);
        // The last process may still be leaving.
        while std::fs::remove_dir(&self.0).is_err() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Runs the script, in the group where there is one, and lets it connect after `meanwhile`. What it printed.
fn milliseconds(group: Option<&Group>, meanwhile: impl FnOnce() -> Option<SocketProgram>) -> (f64, SocketCounts) {
    let (printed, counts) = run(SCRIPT, group, meanwhile);
    (printed.parse().expect("a number"), counts)
}

fn run(
    script: &str,
    group: Option<&Group>,
    meanwhile: impl FnOnce() -> Option<SocketProgram>,
) -> (String, SocketCounts) {
    let folder = tempfile::tempdir().expect("a folder");
    let program = Program {
        arguments: ["python3", "-c", script].map(ToString::to_string).to_vec(),
        environment: vec![("PATH".into(), Some("/usr/bin:/bin".into()))],
        folder: Some(folder.path().into()),
        output: Output::File(folder.path().join("printed")),
        input: Input::Nothing,
        parent_death_signal: ParentDeathSignal::Terminate,
        ..Program::default()
    };
    let held = program.hold().expect("held");
    if let Some(group) = group {
        std::fs::write(group.0.join("cgroup.procs"), held.pid().to_string()).expect("moved");
    }
    let mut running = held.release().expect("released");
    let deadline = Instant::now() + Duration::from_secs(20);
    let wait_until = |done: &mut dyn FnMut() -> bool| {
        while !done() {
            assert!(Instant::now() < deadline, "it took too long");
            std::thread::sleep(Duration::from_millis(2));
        }
    };
    wait_until(&mut || folder.path().join("listening").exists());
    let program = meanwhile();
    std::fs::write(folder.path().join("go"), "").expect("written");
    wait_until(&mut || running.poll().expect("a status").is_some());
    let printed = std::fs::read_to_string(folder.path().join("printed")).expect("printed");
    (printed.trim().to_string(), program.map(|program| program.counts()).unwrap_or_default())
}

fn attach(group: &Group, nodelay: bool, cap: Option<u64>) -> SocketProgram {
    let delayed_ack_cap = cap.map(Duration::from_millis);
    let options = SocketOptions { nodelay, delayed_ack_cap, ..SocketOptions::default() };
    SocketProgram::attach(&group.0, &options).expect("attached")
}

#[test]
fn an_inert_program_sees_both_ends_and_changes_nothing() {
    let Some(group) = Group::new("inert") else { return };
    let (took, counts) = milliseconds(Some(&group), || Some(attach(&group, false, None)));
    assert!(took > 35.0, "{took} ms");
    assert_eq!(counts, SocketCounts { seen: 2, ..SocketCounts::default() });
}

#[test]
fn without_delay_nothing_is_held_also_where_the_listener_is_older() {
    let Some(group) = Group::new("nodelay") else { return };
    let (took, counts) = milliseconds(Some(&group), || Some(attach(&group, true, None)));
    assert!(took < 10.0, "{took} ms");
    assert_eq!(counts, SocketCounts { seen: 2, nodelay: 2, ..SocketCounts::default() });
    let (took, _) = milliseconds(Some(&group), || None);
    assert!(took > 35.0, "it is gone when it is dropped: {took} ms");
}

#[test]
fn a_program_that_turns_nagles_algorithm_on_again_does_not_have_the_last_word() {
    let Some(group) = Group::new("overruled") else { return };
    let clears = "server, _ = listener.accept()\nfor one in client, server: \
                  one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)";
    let script = SCRIPT.replace("server, _ = listener.accept()", clears);
    assert_ne!(script, SCRIPT);
    let (took, counts) = run(&script, Some(&group), || Some(attach(&group, true, None)));
    assert!(took.parse::<f64>().expect("a number") < 10.0, "{took} ms");
    assert_eq!(counts, SocketCounts { seen: 2, nodelay: 2, kept: 2, ..SocketCounts::default() });
    let (took, _) = run(&script, Some(&group), || Some(attach(&group, false, None)));
    assert!(took.parse::<f64>().expect("a number") > 35.0, "inert, nothing is kept: {took} ms");
}

#[test]
fn processes_outside_of_the_group_are_not_seen() {
    let Some(group) = Group::new("outside") else { return };
    let (took, counts) = milliseconds(None, || Some(attach(&group, true, None)));
    assert!(took > 35.0, "{took} ms");
    assert_eq!(counts, SocketCounts::default());
}

#[test]
fn a_cap_on_delayed_acknowledgements_is_a_dose() {
    let Some(group) = Group::new("cap") else { return };
    let mut before = 0.0;
    for cap in [8, 20] {
        let (took, counts) = milliseconds(Some(&group), || Some(attach(&group, false, Some(cap))));
        // The kernel's clock ticks every 4 ms, and a timer waits for the tick after.
        assert!((before..cap as f64 + 9.0).contains(&took), "{cap} ms: {took} ms");
        assert_eq!(counts, SocketCounts { seen: 2, capped: 2, ..SocketCounts::default() });
        before = took;
    }
}

#[test]
fn a_cap_that_the_kernel_does_not_take_is_counted_as_refused() {
    let Some(group) = Group::new("refused") else { return };
    for cap in [1, 500] {
        let (took, counts) = milliseconds(Some(&group), || Some(attach(&group, false, Some(cap))));
        assert!(took > 35.0, "{cap} ms: {took} ms");
        assert_eq!(counts, SocketCounts { seen: 2, refused: 2, ..SocketCounts::default() });
    }
}

#[test]
fn a_folder_that_is_no_group_is_refused() {
    if !testing::is_root() {
        return;
    }
    let refused = SocketProgram::attach(Path::new("/tmp"), &SocketOptions::default()).err().expect("refused");
    assert!(refused.to_string().contains("on_socket"), "{refused}");
    let missing = SocketProgram::attach(Path::new("/no/such/group"), &SocketOptions::default()).err().expect("refused");
    assert!(missing.to_string().starts_with("opening /no/such/group: No such file"));
}

/// Connects to port 9 in several ways and prints what comes of each.
const CONNECTS: &str = "
import errno, os, socket, time
open('listening', 'w').close()
while not os.path.exists('go'):
    time.sleep(0.005)
def connect(family, kind, address):
    with socket.socket(family, kind) as one:
        return errno.errorcode.get(one.connect_ex(address), '0')
print(connect(socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', 9)), connect(socket.AF_INET6, socket.SOCK_STREAM, ('::1', 9)),
      connect(socket.AF_INET6, socket.SOCK_STREAM, ('::ffff:127.0.0.1', 9)), connect(socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', 10)),
      connect(socket.AF_INET, socket.SOCK_DGRAM, ('127.0.0.1', 9)))
";

#[test]
fn connects_to_addresses_that_are_made_unreachable_fail_at_once_and_others_do_not() {
    let Some(group) = Group::new("unreachable") else { return };
    let unreachable = ["127.0.0.1:9", "[::1]:9"].map(|address| address.parse().expect("an address"));
    let options = SocketOptions { unreachable: unreachable.into(), ..SocketOptions::default() };
    let attach = || Some(SocketProgram::attach(&group.0, &options).expect("attached"));
    let (printed, counts) = run(CONNECTS, Some(&group), attach);
    assert_eq!(printed, "ENETUNREACH ENETUNREACH ENETUNREACH ECONNREFUSED 0");
    assert_eq!(counts.unreachable, 3);
    let (printed, _) = run(CONNECTS, Some(&group), || None);
    assert!(!printed.contains("ENETUNREACH"), "it is gone when it is dropped: {printed}");
}

/// Two requests to one address over IPv4, the second of them through a socket of IPv6; one to another address.
const ASKS: &str = "
import errno, os, socket, time
open('listening', 'w').close()
while not os.path.exists('go'):
    time.sleep(0.005)
def ask(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as made:
        try:
            made.connect(address)
            return made.recv(20).decode()
        except OSError as error:
            return errno.errorcode[error.errno]
print(ask(socket.AF_INET, ('127.0.0.1', 9)), ask(socket.AF_INET6, ('::ffff:127.0.0.1', 9)), ask(socket.AF_INET, ('127.0.0.1', 10)))
";

#[test]
fn connects_to_an_address_that_another_stands_in_for_go_there_and_others_do_not() {
    use std::io::Write;
    let Some(group) = Group::new("redirected") else { return };
    let instead = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = instead.local_addr().expect("an address");
    let answering = std::thread::spawn(move || {
        for connection in instead.incoming().take(2) {
            connection.expect("a connection").write_all(b"instead").expect("written");
        }
    });
    let redirected = [("127.0.0.1:9".parse().expect("an address"), address)];
    let options = SocketOptions { redirected: redirected.into(), ..SocketOptions::default() };
    let attach = || Some(SocketProgram::attach(&group.0, &options).expect("attached"));
    let (printed, counts) = run(ASKS, Some(&group), attach);
    assert_eq!((printed.as_str(), counts.redirected), ("instead instead ECONNREFUSED", 2));
    answering.join().expect("both came");
}
