//! Known workloads, so that the numbers are known: exactly 23 requests, exactly 300 ms.

mod attached;
mod processor_time;
mod who_and_what;

use super::*;
use crate::alone::alone;
use crate::{Input, Output, ParentDeathSignal, Program, Running};
use std::path::{Path, PathBuf};
use std::sync::MutexGuard;
use std::time::{Duration, Instant};

/// Accepts for ever; answers each 100 bytes with 300, after working or sleeping where asked to.
const SERVER: &str = "
import socket, ssl, sys, time
port, tls, pause = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
listener = socket.create_server(('127.0.0.1', port))
if tls != 'plain':
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain('cert.pem', 'key.pem')
    context.minimum_version = context.maximum_version = getattr(ssl.TLSVersion, tls)
while True:
    connection, _ = listener.accept()
    try:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls != 'plain':
            connection = context.wrap_socket(connection, server_side=True)
        while connection.recv(100):
            time.sleep(pause)
            connection.sendall(b'y' * 300)
        if tls != 'plain':
            connection.unwrap()
    except OSError:
        pass
    connection.close()
";

/// Makes 23 requests, on fresh connections where asked to.
const CLIENT: &str = "
import socket, ssl, sys
port, tls, fresh = int(sys.argv[1]), sys.argv[2], sys.argv[3] == 'fresh'
def connect():
    connection = socket.create_connection(('127.0.0.1', port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection if tls == 'plain' else ssl._create_unverified_context().wrap_socket(connection)
def end(connection):
    if tls != 'plain':
        connection = connection.unwrap()
    connection.close()
connection = None
for request in range(23):
    if fresh or not connection:
        connection = connect()
    connection.sendall(b'x' * 100)
    left = 300
    while left:
        left -= len(connection.recv(left))
    if fresh:
        end(connection)
";

/// A folder with a certificate, and a meter.
struct Bench {
    folder: tempfile::TempDir,
    meter: Meter,
    _alone: MutexGuard<'static, ()>,
}

impl Bench {
    /// None where it cannot be tried.
    fn new() -> Option<Bench> {
        if !testing::is_root() {
            return None;
        }
        let alone = alone();
        let folder = tempfile::tempdir().expect("a folder");
        Some(Bench { folder, meter: Meter::load().expect("the meter loads"), _alone: alone })
    }

    fn certify(&self) {
        let words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
                     -keyout key.pem -out cert.pem";
        let mut command = std::process::Command::new("openssl");
        let made = command.args(words.split_whitespace()).current_dir(self.folder.path()).output().expect("openssl");
        assert!(made.status.success());
    }

    fn python(&self, script: &str, arguments: &[&str]) -> Program {
        let words = ["python3", "-c", script].into_iter().chain(arguments.iter().copied());
        Program {
            arguments: words.map(ToString::to_string).collect(),
            // Python itself, and not a script that looks for one.
            environment: vec![("PATH".into(), Some("/usr/bin:/bin".into()))],
            folder: Some(self.folder.path().to_path_buf()),
            parent_death_signal: ParentDeathSignal::Terminate,
            input: Input::Nothing,
            output: Output::ToStandardError,
            ..Program::default()
        }
    }

    fn run(&mut self, program: &Program, role: Option<Role>) -> Running {
        let held = program.hold().expect("held");
        if let Some(role) = role {
            self.meter.follow(held.pid(), role).expect("followed");
        }
        held.release().expect("released")
    }

    /// Runs server and client, followed in the roles given, and reads when the client has ended.
    fn exchange(&mut self, tls: &str, connections: &str, pause: &str, roles: [Option<Role>; 2]) -> Reading {
        let port = free_port();
        let mut server = self.run(&self.python(SERVER, &[&port, tls, pause]), roles[1]);
        wait_until(|| crate::listens(server.pid()));
        let mut client = self.run(&self.python(CLIENT, &[&port, tls, connections]), roles[0]);
        wait_for(&mut client);
        let reading = self.meter.read();
        server.signal(libc::SIGTERM);
        wait_until(|| server.poll().expect("a status").is_some());
        reading
    }

    /// Runs a server and a client of the test's own, each with a port and one argument, until both have ended.
    fn converse(&mut self, server: (&str, &str), client: (&str, &str)) -> Reading {
        self.meter.clear();
        let port = free_port();
        let mut serving = self.run(&self.python(server.0, &[&port, server.1]), Some(Role::Server));
        wait_until(|| crate::listens(serving.pid()));
        let mut asking = self.run(&self.python(client.0, &[&port, client.1]), Some(Role::Client));
        wait_for(&mut asking);
        let reading = self.meter.read();
        wait_for(&mut serving);
        reading
    }
}

const BOTH: [Option<Role>; 2] = [Some(Role::Client), Some(Role::Server)];

fn free_port() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port().to_string()
}

fn wait_until(mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < deadline, "it took too long");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn wait_for(running: &mut Running) {
    wait_until(|| running.poll().expect("a status").inspect(|ended| assert_eq!(ended.exit, Some(0))).is_some());
}

fn milliseconds(time: Nanos) -> f64 {
    time.0 as f64 / 1e6
}

#[test]
fn twenty_three_plain_requests_are_twenty_three_exchanges() {
    let Some(mut bench) = Bench::new() else { return };
    for connections in ["fresh", "kept"] {
        bench.meter.clear();
        let reading = bench.exchange("plain", connections, "0.002", BOTH);
        assert_eq!((reading.exchanges, reading.answered_bytes), (23, 23 * 300), "{connections}: {reading:?}");
        // Each waits 2 ms for its answer, and a timer's slack and a switch more.
        let each = milliseconds(reading.exchange_wall) / 23.0;
        assert!((2.0..10.0).contains(&each), "{connections}: {each} ms");
        assert_eq!(reading.unfollowed, 0);
    }
}

#[test]
fn the_handshakes_and_ends_of_tls_are_no_exchanges() {
    let Some(mut bench) = Bench::new() else { return };
    bench.certify();
    for version in ["TLSv1_2", "TLSv1_3"] {
        for connections in ["fresh", "kept"] {
            bench.meter.clear();
            let reading = bench.exchange(version, connections, "0.002", BOTH);
            assert_eq!(reading.exchanges, 23, "{version}, {connections}: {reading:?}");
            let each = milliseconds(reading.exchange_wall) / 23.0;
            assert!((2.0..10.0).contains(&each), "{version}, {connections}: {each} ms");
            assert!(reading.client_user.0 > 0 && reading.server_system.0 > 0);
        }
    }
}

#[test]
fn setting_up_a_connection_belongs_to_its_first_exchange_unless_it_was_made_ahead_of_time() {
    let Some(mut bench) = Bench::new() else { return };
    // The client pauses between connecting and asking: as if it shook hands, or because it connected long before.
    let server = "import socket, sys, time\n\
        listener = socket.create_server(('127.0.0.1', int(sys.argv[1])))\n\
        connection, _ = listener.accept()\n\
        connection.recv(9)\n\
        connection.sendall(b'hello')\n\
        connection.recv(9)\n\
        connection.sendall(b'again')\n";
    let client = "import socket, sys, time\n\
        connection = socket.create_connection(('127.0.0.1', int(sys.argv[1])))\n\
        time.sleep(float(sys.argv[2]))\n\
        for word in (b'first', b'other'):\n    \
            connection.sendall(word)\n    \
            connection.recv(9)\n";
    for (pause, least, most) in [("0.06", 60.0, 95.0), ("0.25", 0.0, 50.0)] {
        let reading = bench.converse((server, ""), (client, pause));
        assert_eq!(reading.exchanges, 2);
        let wall = milliseconds(reading.exchange_wall);
        assert!((least..most).contains(&wall), "{pause} s: {wall} ms");
    }
}

#[test]
fn a_connect_that_goes_on_after_its_call_belongs_to_the_first_exchange_however_long_it_takes() {
    let Some(mut bench) = Bench::new() else { return };
    // The queue is full when the client comes: its SYN is dropped, and sent again after a second.
    let server = "import socket, sys, time\n\
        listener = socket.create_server(('127.0.0.1', int(sys.argv[1])), backlog=0)\n\
        first = socket.create_connection(listener.getsockname())\n\
        time.sleep(float(sys.argv[2]))\n\
        listener.accept()\n\
        connection, _ = listener.accept()\n\
        connection.recv(9)\n\
        connection.sendall(b'hello')\n";
    let client = "import socket, sys, time\n\
        time.sleep(0.3)\n\
        connection = socket.create_connection(('127.0.0.1', int(sys.argv[1])), timeout=20)\n\
        time.sleep(float(sys.argv[2]))\n\
        connection.sendall(b'first')\n\
        connection.recv(9)\n";
    for (pause, least, most) in [("0", 900.0, 1_800.0), ("0.25", 0.0, 100.0)] {
        let reading = bench.converse((server, "0.8"), (client, pause));
        assert_eq!(reading.exchanges, 1);
        let wall = milliseconds(reading.exchange_wall);
        assert!((least..most).contains(&wall), "{pause} s: {wall} ms");
    }
}

#[test]
fn waiting_for_the_end_of_an_answer_belongs_to_it_and_a_connection_found_closed_does_not() {
    let Some(mut bench) = Bench::new() else { return };
    let server = "import socket, sys, time\n\
        listener = socket.create_server(('127.0.0.1', int(sys.argv[1])))\n\
        connection, _ = listener.accept()\n\
        connection.recv(9)\n\
        connection.sendall(b'hello')\n\
        time.sleep(float(sys.argv[2]))\n";
    let client = "import socket, sys, time\n\
        connection = socket.create_connection(('127.0.0.1', int(sys.argv[1])))\n\
        connection.sendall(b'first')\n\
        connection.recv(9)\n\
        time.sleep(float(sys.argv[2]))\n\
        connection.recv(9)\n";
    for (lasting, pause, least, most) in [("0.06", "0", 55.0, 95.0), ("0", "0.1", 0.0, 50.0)] {
        let reading = bench.converse((server, lasting), (client, pause));
        assert_eq!(reading.exchanges, 1);
        let wall = milliseconds(reading.exchange_wall);
        assert!((least..most).contains(&wall), "{lasting} s, {pause} s: {wall} ms");
    }
}

#[test]
fn what_answers_say_of_themselves_is_counted_and_so_is_what_fails() {
    let Some(mut bench) = Bench::new() else { return };
    let server = "import socket, struct, sys\n\
        listener = socket.create_server(('127.0.0.1', int(sys.argv[1])))\n\
        connection, _ = listener.accept()\n\
        for status in sys.argv[2].split():\n    \
            connection.recv(9)\n    \
            connection.sendall(b'HTTP/1.1 %s Word\\r\\n\\r\\n' % status.encode())\n\
        connection.recv(9)\n\
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))\n\
        connection.close()\n";
    let client = "import socket, sys\n\
        connection = socket.create_connection(('127.0.0.1', int(sys.argv[1])))\n\
        for word in sys.argv[2].split():\n    \
            connection.sendall(b'hello')\n    \
            connection.recv(99, socket.MSG_PEEK)\n    \
            connection.recv(99)\n\
        connection.sendall(b'more')\n\
        try: connection.recv(99)\n\
        except ConnectionResetError: pass\n";
    let statuses = "200 204 304 404 503 500";
    let reading = bench.converse((server, statuses), (client, statuses));
    assert_eq!((reading.exchanges, reading.statuses), (6, [0, 2, 1, 1, 2]), "{reading:?}");
    assert_eq!((reading.answered_bytes, reading.resets, reading.alerts), (6 * 21, 1, 0), "{reading:?}");
    // The same, seen by a server alone.
    bench.meter.clear();
    let port = free_port();
    let mut serving = bench.run(&bench.python(server, &[&port, statuses]), Some(Role::Server));
    wait_until(|| crate::listens(serving.pid()));
    let mut asking = bench.run(&bench.python(client, &[&port, statuses]), None);
    wait_for(&mut asking);
    wait_for(&mut serving);
    let reading = bench.meter.read();
    assert_eq!((reading.statuses, reading.answered_bytes), ([0, 2, 1, 1, 2], 6 * 21), "{reading:?}");
}

#[test]
fn a_handshake_that_is_broken_off_is_an_alert_and_one_that_ends_well_is_none() {
    let Some(mut bench) = Bench::new() else { return };
    bench.certify();
    let reading = bench.exchange("TLSv1_3", "fresh", "0", BOTH);
    assert_eq!((reading.exchanges, reading.alerts, reading.resets), (23, 0, 0), "{reading:?}");
    let port = free_port();
    let mut server = bench.run(&bench.python(SERVER, &[&port, "TLSv1_3", "0"]), Some(Role::Server));
    wait_until(|| crate::listens(server.pid()));
    // The server speaks TLS 1.3 only.
    let refused = "import socket, ssl, sys\n\
        context = ssl._create_unverified_context()\n\
        context.maximum_version = ssl.TLSVersion.TLSv1_2\n\
        try: context.wrap_socket(socket.create_connection(('127.0.0.1', int(sys.argv[1]))))\n\
        except ssl.SSLError: pass\n";
    bench.meter.clear();
    let mut client = bench.run(&bench.python(refused, &[&port]), Some(Role::Client));
    wait_for(&mut client);
    assert_eq!(bench.meter.read().alerts, 1);
    server.signal(libc::SIGTERM);
    wait_until(|| server.poll().expect("a status").is_some());
}

/// Answers each request of its one connection after what its own script says, then waits for the end.
const SLOW_AT_TIMES: &str = "
import socket, sys, time
listener = socket.create_server(('127.0.0.1', int(sys.argv[1])))
connection, _ = listener.accept()
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for request in range(100):
    connection.recv(9)
    time.sleep(0.05 if request % 20 == 7 else 0.002)
    connection.sendall(b'half')
    if sys.argv[2] == 'in parts':
        time.sleep(0.02)
        connection.sendall(b'rest')
";

/// Reads as much as there is to an answer, before it asks again.
const PATIENT: &str = "
import socket, sys, time
connection = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
for request in range(100):
    connection.sendall(b'question')
    left = 8 if sys.argv[2] == 'in parts' else 4
    while left:
        left -= len(connection.recv(left))
";

#[test]
fn five_percent_of_slow_exchanges_are_above_the_94th_percentile_and_none_below() {
    let Some(mut bench) = Bench::new() else { return };
    // The parts of an answer come 20 ms apart: an exchange has one length, its last.
    for (how, fast) in [("at once", 2.0), ("in parts", 22.0)] {
        bench.converse((SLOW_AT_TIMES, how), (PATIENT, how));
        let lengths = bench.meter.lengths();
        assert_eq!(lengths.exchanges(), 100);
        let at = |share| milliseconds(lengths.quantile(share).expect("a length"));
        let (middle, below, above) = (at(0.5), at(0.9), at(0.96));
        assert!((fast * 0.96..fast + 10.0).contains(&middle), "{how}: {middle} ms");
        assert!(below < 45.0, "{how}: {below} ms");
        assert!((fast + 46.0..fast + 90.0).contains(&above), "{how}: {above} ms");
        assert_eq!(lengths.since(&lengths).exchanges(), 0);
    }
}
