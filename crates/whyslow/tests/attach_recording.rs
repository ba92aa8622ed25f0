//! Recordings of programs that run already: nothing of them is missing, nothing is made up, and they run on.

use crate::attached::{
    A_WHILE, CLIENT, Nginx, SERVER, UnderWay, can_attach, functions, one_at_a_time, recorded, recorded_while,
    unexplained,
};
use crate::stage::{Stage, free_port, shell};
use case::Manifest;
use case::tables::{kind, role};
use diagnose::Analysis;
use record::{Options, Recorder, Role, is_running, listeners_on};
use std::process::{Command, Stdio};
use std::time::Duration;
use testing::{alone, stretched};

#[test]
fn a_client_that_keeps_its_connection_is_recorded_from_the_middle() {
    if !can_attach(&["python3"]) {
        return;
    }
    let (stage, port) = (Stage::new(), free_port().to_string());
    let _server = UnderWay::python(SERVER, &[&port]);
    let client = UnderWay::python(CLIENT, &[&port]);
    std::thread::sleep(Duration::from_millis(300));
    let recording = recorded(&stage, &[(client.pid(), Role::Client)], A_WHILE);
    assert!(is_running(client.pid()));

    let [connection] = &recording.connections[..] else { panic!("{:?}", recording.connections) };
    assert_eq!((connection.role, connection.remote_port.to_string()), (role::CLIENT, port));
    assert!(connection.opened <= recording.manifest.start && connection.nodelay && connection.mss > 0);
    let analysis = Analysis::new(&recording);
    let answer = analysis.answer("case", diagnose::Options::default());
    assert!(analysis.exchanges().len() > 50, "{}", analysis.exchanges().len());
    let usual = analysis.exchanges().iter().filter(|exchange| exchange.answered && exchange.bytes == 300);
    assert!(usual.count() + 1 >= analysis.exchanges().len(), "one may be cut off at the end");
    assert!(analysis.exchanges().iter().all(|exchange| exchange.set_up.is_none()));
    assert!(unexplained(&answer) < 0.05, "{:#?}", answer.ledger);

    let [process] = &recording.processes[..] else { panic!("{:?}", recording.processes) };
    assert!(process.executable.contains("python") && process.runtime.starts_with("cpython"), "{process:?}");
    assert_eq!((process.role.as_str(), process.exit), ("client", -1));
    let scripts = functions(&recording, kind::SCRIPT);
    assert!(["ask", "reckon"].iter().all(|name| scripts.contains(name)), "{scripts:?}");
    let native = functions(&recording, kind::NATIVE);
    assert!(native.len() > 5, "{native:?}");
    assert!(recording.losses.is_empty(), "{:?}", recording.losses);
}

#[test]
fn both_ends_of_a_connection_that_was_open_know_each_other() {
    if !can_attach(&["python3"]) {
        return;
    }
    let (stage, port) = (Stage::new(), free_port());
    let server = UnderWay::python(SERVER, &[&port.to_string()]);
    let clients = [(); 3].map(|()| UnderWay::python(CLIENT, &[&port.to_string()]));
    assert_eq!(listeners_on(port), [server.pid()]);
    let attached = [(server.pid(), Role::Server), (clients[0].pid(), Role::Client)];
    let recording = recorded(&stage, &attached, A_WHILE);
    let of = |pid: u32| recording.connections.iter().filter(move |row| row.pid == pid);
    assert!(of(server.pid()).all(|row| row.role == role::SERVER));
    assert_eq!(of(server.pid()).count(), 3);
    let [client] = of(clients[0].pid()).collect::<Vec<_>>()[..] else { panic!("{:?}", recording.connections) };
    assert!(of(server.pid()).any(|row| row.id == client.peer && row.peer == client.id));
    // Its own thread for each connection, and the one that accepts.
    assert_eq!(recording.threads.iter().filter(|row| row.pid == server.pid()).count(), 4);
    let analysis = Analysis::new(&recording);
    let answer = analysis.answer("case", diagnose::Options::default());
    assert!(analysis.exchanges().len() > 50);
    assert!(unexplained(&answer) < 0.05, "{:#?}", answer.ledger);
}

#[test]
fn a_connection_made_after_the_server_was_attached_to_is_known_from_its_beginning() {
    if !can_attach(&["python3"]) {
        return;
    }
    let (stage, port) = (Stage::new(), free_port().to_string());
    let server = UnderWay::python(SERVER, &[&port]);
    let before = UnderWay::python(CLIENT, &[&port]);
    let recording = recorded_while(&stage, &[(server.pid(), Role::Client)], || {
        let _later = UnderWay::python(CLIENT, &[&port]);
        std::thread::sleep(Duration::from_millis(300));
    });
    assert!(is_running(before.pid()));
    let seen: Vec<bool> = recording.connections.iter().map(|row| row.established.0 > 0).collect();
    assert_eq!(seen, [false, true], "{:?}", recording.connections);
    assert!(recording.connections.iter().all(|row| row.role == role::SERVER));
    assert!(recording.manifest.missing.iter().any(|line| line.ends_with("open before recording began: 1")));
}

#[test]
fn a_connection_that_is_over_before_it_is_closed_is_still_the_same_one() {
    if !can_attach(&["python3"]) {
        return;
    }
    // Each end hears that the other has finished before it reads and closes: for TCP it is over by then.
    let script = "
import os, socket, sys, time
print('waits', flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(.01)
listener = socket.create_server(('127.0.0.1', 0))
for _ in range(20):
    client = socket.create_connection(listener.getsockname())
    server, _ = listener.accept()
    client.sendall(b'question')
    client.shutdown(socket.SHUT_WR)
    server.recv(100)
    server.sendall(b'answer')
    server.shutdown(socket.SHUT_WR)
    time.sleep(.005)
    assert client.recv(100) == b'answer'
    server.close()
    client.close()
time.sleep(600)";
    let stage = Stage::new();
    let go = stage.path("go");
    let both = UnderWay::python(script, &[&go.to_string_lossy()]);
    let recording = recorded_while(&stage, &[(both.pid(), Role::Client)], || {
        std::fs::write(&go, "").expect("written");
        std::thread::sleep(Duration::from_secs(1));
    });
    let tcp = recording.connections.iter().filter(|row| row.remote_port != 0).collect::<Vec<_>>();
    let with = |role: u8| tcp.iter().filter(|row| row.role == role).count();
    assert_eq!((with(role::CLIENT), with(role::SERVER), tcp.len()), (20, 20, 40), "{tcp:?}");
    assert!(recording.manifest.missing.iter().all(|line| !line.contains("open before recording began")));
    assert_eq!(Analysis::new(&recording).exchanges().len(), 20);
}

#[test]
fn what_cannot_be_attached_to_is_refused_in_plain_words() {
    if !can_attach(&[]) {
        return;
    }
    let (stage, _alone) = (Stage::new(), one_at_a_time());
    let recorder = Recorder::start(&stage.path("case"), Manifest::default(), &Options::default()).expect("recording");
    let refused = |pid: u32| recorder.attach(pid, Role::Client).expect_err("refused").to_string();
    assert_eq!(refused(u32::MAX >> 2), "there is no running process 1073741823");
    let own = std::process::id();
    assert_eq!(refused(own), format!("process {own} is whyslow itself, or whyslow runs inside it"));
    recorder.finish(|_| {}).expect("a case");
}

#[test]
fn a_client_that_only_waits_is_explained_by_what_it_waits_in() {
    if !can_attach(&["python3"]) {
        return;
    }
    let stage = Stage::new();
    let waiting = "import os, threading, time\nprint('waits')\n\
                   threading.Thread(target=os.read, args=(os.pipe()[0], 1)).start()\ntime.sleep(600)";
    let client = UnderWay::python(waiting, &[]);
    std::thread::sleep(Duration::from_millis(300));
    let recording = recorded(&stage, &[(client.pid(), Role::Client)], A_WHILE);
    let analysis = Analysis::new(&recording);
    let answer = analysis.answer("case", diagnose::Options::default());
    assert!(unexplained(&answer) < 0.05, "{:#?}", answer.ledger);
    assert!(answer.findings.is_empty());
    let waits: Vec<_> = recording.calls.iter().filter(|row| !row.finished).collect();
    assert_eq!(waits.len(), 2, "{waits:?}");
    let length = recording.manifest.end - recording.manifest.start;
    assert!(waits.iter().all(|row| row.blocked.0 >= length.0 * 9 / 10), "{waits:?}");
}

#[test]
fn threads_and_children_that_come_meanwhile_are_all_there() {
    if !can_attach(&["python3"]) {
        return;
    }
    let script = "
import subprocess, threading, time
def child():
    while True:
        thread = threading.Thread(target=time.sleep, args=(0.002,))
        thread.start()
        thread.join()
def children():
    while True:
        subprocess.run(['true'])
for _ in range(20):
    threading.Thread(target=child).start()
threading.Thread(target=children).start()
shell = subprocess.Popen(['sh', '-c', 'while kill -0 $PPID; do sleep 0.01; done'])
print('busy')
";
    let stage = Stage::new();
    let program = UnderWay::python(script, &[]);
    let recording = recorded_while(&stage, &[(program.pid(), Role::Client)], || {
        std::thread::sleep(Duration::from_millis(500));
    });
    // Every thread that is there now was watched, or was made since by one that was.
    let standing: Vec<u32> =
        shell(&format!("ls /proc/{}/task", program.pid())).lines().map(|line| line.parse().expect("an id")).collect();
    let kept = standing.iter().filter(|tid| recording.threads.iter().any(|row| row.tid == **tid)).count();
    assert!(kept >= 22, "{kept} of {standing:?}");
    let named = |name: &str| recording.processes.iter().filter(|row| row.executable.ends_with(name)).count();
    assert!(named("/true") > 5 && named("/sleep") > 5, "{:?}", recording.processes);
    let watched: std::collections::BTreeSet<u32> = recording.processes.iter().map(|row| row.pid).collect();
    assert!(recording.threads.iter().all(|row| watched.contains(&row.pid)));
    assert!(recording.threads.iter().all(|row| row.start <= row.end));
}

#[test]
fn what_a_program_holds_open_has_its_path() {
    if !can_attach(&["python3"]) {
        return;
    }
    let stage = Stage::new();
    let (path, script) = (
        stage.path("log"),
        "
import os, sys, time
file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
print('opened')
while True:
    os.write(file, b'line')
    time.sleep(0.01)
",
    );
    let path = path.to_str().expect("text");
    let program = UnderWay::python(script, &[path]);
    let recording = recorded(&stage, &[(program.pid(), Role::Client)], A_WHILE);
    let number = recording.paths.iter().find(|row| row.path == path).expect("the path").id;
    let writes = recording.calls.iter().filter(|row| row.number == 1 && row.result == 4);
    let (count, named) = writes.fold((0, 0), |(count, named), row| (count + 1, named + i32::from(row.path == number)));
    assert!(count > 20 && named == count, "{named} of {count}");
}

#[test]
fn connections_whose_handshake_was_not_seen_accuse_nobody() {
    if !can_attach(&["python3", "openssl"]) {
        return;
    }
    let script = "
import socket, ssl, sys, threading, time
server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
server.load_cert_chain(sys.argv[1])
listener = socket.create_server(('127.0.0.1', 0))
def converse(connection):
    with server.wrap_socket(connection, server_side=True) as stream:
        while stream.recv(20000):
            stream.sendall(b'x' * 40000)
def accept():
    while True:
        threading.Thread(target=converse, args=(listener.accept()[0],), daemon=True).start()
threading.Thread(target=accept, daemon=True).start()
context = ssl._create_unverified_context()
def connect():
    return context.wrap_socket(socket.create_connection(listener.getsockname()))
connections = [connect() for _ in range(8)]
def ask(stream):
    stream.sendall(b'y' * 300)
    left = 40000
    while left:
        left -= len(stream.recv(left))
print('connected')
while True:
    for stream in connections:
        ask(stream)
        time.sleep(0.005)
";
    let stage = Stage::new();
    let file = stage.path("certificate.pem");
    let name = file.to_str().expect("text");
    shell(&format!(
        "openssl req -x509 -newkey rsa:2048 -nodes -keyout {name}.key -out {name} -subj /CN=here 2>&1 && cat {name}.key >> {name}"
    ));
    let program = UnderWay::python(script, &[name]);
    let recording = recorded(&stage, &[(program.pid(), Role::Client)], A_WHILE);
    assert_eq!(recording.connections.len(), 16);
    assert!(recording.handshakes.is_empty(), "{:?}", recording.handshakes);
    let records = &recording.tls_records;
    assert!(records.len() > 100 && records.iter().all(|row| row.content_type == 23 && row.version == 0x0303));
    let analysis = Analysis::new(&recording);
    let answer = analysis.answer("case", diagnose::Options::default());
    let names: Vec<&str> = answer.findings.iter().map(|finding| finding.name.as_str()).collect();
    assert!(!names.contains(&"connection-churn") && !names.contains(&"no-resumption"), "{names:?}");
    assert!(analysis.exchanges().len() > 50 && analysis.exchanges().iter().all(|exchange| exchange.set_up.is_none()));
    assert!(unexplained(&answer) < 0.05, "{:#?}", answer.ledger);
}

#[test]
fn a_go_program_is_walked_and_named() {
    let Some(go) = testing::go() else { return };
    if !can_attach(&[]) {
        return;
    }
    let text = "package main
import (\"fmt\"; \"io\"; \"net\")
func serve(listener net.Listener) { for { c, _ := listener.Accept(); go io.Copy(c, c) } }
//go:noinline
func reckonInGo() int { sum := 0; for i := 0; i < 2000000; i++ { sum += i * i % 7 }; return sum }
func main() {
	listener, _ := net.Listen(\"tcp\", \"127.0.0.1:0\")
	go serve(listener)
	c, _ := net.Dial(\"tcp\", listener.Addr().String())
	fmt.Println(\"connected\")
	buffer := make([]byte, 64)
	for { c.Write(buffer[:60]); io.ReadFull(c, buffer[:60]); reckonInGo() }
}
";
    let stage = Stage::new();
    std::fs::write(stage.path("main.go"), text).expect("written");
    let built = Command::new(go).args(["build", "-o", "program", "main.go"]).current_dir(stage.path(".")).status();
    assert!(built.expect("go").success());
    let program = UnderWay::start(&mut Command::new(stage.path("program")));
    let recording = recorded(&stage, &[(program.pid(), Role::Client)], A_WHILE);
    assert_eq!(recording.processes[0].runtime, "go");
    let native = functions(&recording, kind::NATIVE);
    assert!(["main.reckonInGo", "main.main"].iter().all(|name| native.contains(name)), "{native:?}");
    let standing = shell(&format!("ls /proc/{}/task", program.pid()));
    assert!(standing.lines().all(|tid| recording.threads.iter().any(|row| row.tid.to_string() == tid)));
    let analysis = Analysis::new(&recording);
    let answer = analysis.answer("case", diagnose::Options::default());
    assert!(analysis.exchanges().len() > 50, "{}", analysis.exchanges().len());
    assert!(unexplained(&answer) < 0.05, "{:#?}", answer.ledger);
}

#[test]
fn a_busy_nginx_loses_no_request_to_being_attached_to_and_left() {
    if !can_attach(&["nginx", "ab"]) {
        return;
    }
    let _alone = alone();
    let stage = Stage::new();
    let nginx = Nginx::start(&stage.path("."));
    assert_eq!(listeners_on(nginx.port), [nginx.pid()], "the master, not the workers");
    // Longer than it takes to attach and to record, which ends it.
    let seconds = stretched(Duration::from_mins(1)).as_secs().to_string();
    let mut load = Command::new("ab");
    load.args(["-k", "-c", "8", "-t", &seconds, "-n", "100000000", &format!("http://127.0.0.1:{}/", nginx.port)]);
    let load = load.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("ab");
    std::thread::sleep(Duration::from_millis(300));
    let recording = recorded(&stage, &[(nginx.pid(), Role::Client)], Duration::from_millis(300));
    shell(&format!("kill -INT {}", load.id()));
    let said = String::from_utf8(load.wait_with_output().expect("an end").stdout).expect("text");
    let number = |name: &str| said.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    assert_eq!(number("Failed requests:"), Some(0), "{said}");
    // ab stops without waiting for what its eight connections asked last; the question itself counts too.
    let (complete, had) = (number("Complete requests:").expect("a count"), nginx.requests());
    assert!((complete..=complete + 9).contains(&had), "{complete} complete of {had}");
    assert!(is_running(nginx.pid()));

    assert_eq!(recording.processes.len(), 3, "{:?}", recording.processes);
    assert!(recording.connections.iter().filter(|row| row.remote_port > 0).all(|row| row.role == role::SERVER));
    let analysis = Analysis::new(&recording);
    let answer = analysis.answer("case", diagnose::Options::default());
    assert!(analysis.exchanges().len() > 1_000, "{}", analysis.exchanges().len());
    assert!(unexplained(&answer) < 0.05, "{:#?}", answer.ledger);
    let native = functions(&recording, kind::NATIVE);
    assert!(native.len() > 10, "{native:?}");
}
