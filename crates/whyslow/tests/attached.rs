//! Programs that run already when a recording is attached to them, and such recordings.

use crate::stage::{Background, Stage, free_port, shell, wait_until};
use case::{Answer, Ledger, Manifest, Recording};
use record::{Options, Recorder, Role};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use testing::{is_root, skip, stretched};

/// One recording at a time: they share two processors, and what one leaves behind is not to be another's.
static RECORDING: Mutex<()> = Mutex::new(());

/// Long enough for a hundred exchanges of 10 ms.
pub const A_WHILE: Duration = Duration::from_millis(1_500);

/// Whether we may record and the programs that a test needs are there; it is skipped where not.
pub fn can_attach(programs: &[&str]) -> bool {
    let found = |name: &&&str| !shell(&format!("command -v {name}")).is_empty();
    let missing = programs.iter().find(|name| !found(name));
    if let Some(name) = missing {
        skip(&format!("{name} is not installed"));
    }
    missing.is_none() && is_root()
}

/// A program under way, and what it says.
pub struct UnderWay {
    pub running: Background,
    said: BufReader<ChildStdout>,
}

impl UnderWay {
    /// Starts a program and waits until it has said its first line.
    pub fn start(command: &mut Command) -> UnderWay {
        let quiet = command.stdin(Stdio::null()).stderr(Stdio::null());
        let mut child = quiet.stdout(Stdio::piped()).spawn().expect("started");
        let said = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut started = UnderWay { running: Background(child), said };
        started.line();
        started
    }

    pub fn python(script: &str, arguments: &[&str]) -> UnderWay {
        UnderWay::start(Command::new("python3").args(["-u", "-c", script]).args(arguments))
    }

    pub fn pid(&self) -> u32 {
        self.running.0.id()
    }

    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).expect("a line");
        line
    }
}

/// Waits until no other test records.
pub fn one_at_a_time() -> MutexGuard<'static, ()> {
    RECORDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Attaches to running processes for a while; the case's rows.
pub fn recorded(stage: &Stage, attached: &[(u32, Role)], length: Duration) -> Recording {
    recorded_while(stage, attached, || std::thread::sleep(stretched(length)))
}

/// The same for as long as something takes.
pub fn recorded_while(stage: &Stage, attached: &[(u32, Role)], during: impl FnOnce()) -> Recording {
    let _alone = one_at_a_time();
    let recorder = Recorder::start(&stage.path("case"), Manifest::default(), &Options::default()).expect("recording");
    for (pid, role) in attached {
        recorder.attach(*pid, *role).expect("attached");
    }
    during();
    let case = recorder.finish(|manifest| manifest.subject.pid = attached[0].0).expect("a case");
    assert_eq!(kept_in_the_kernel(), [""; 0], "nothing of the recorder is left there");
    Recording::load(&case).expect("rows")
}

/// The share of the run's wall time that no account explains, but for what the scheduler did not confirm: a hypervisor takes time
/// away.
pub fn unexplained(answer: &Answer) -> f64 {
    let ledger = &answer.ledger;
    ledger.unexplained.saturating_sub(unconfirmed(ledger)) as f64 / ledger.total as f64
}

/// Time that is unexplained because the scheduler did not confirm it.
pub fn unconfirmed(ledger: &Ledger) -> u64 {
    let deviations = ledger.reconciled.iter().flat_map(|reconciled| &reconciled.deviations);
    deviations.map(|one| one.unexplained_ns).sum()
}

/// What this process keeps in the kernel: programs, and their links to trace points and clocks.
fn kept_in_the_kernel() -> Vec<String> {
    let names = shell(&format!("ls -l /proc/{}/fd", std::process::id()));
    let kept =
        names.lines().filter(|line| ["bpf-prog", "bpf_link", "perf_event"].iter().any(|kind| line.contains(kind)));
    kept.map(str::to_string).collect()
}

/// The names of the functions in the stacks of a kind of location.
pub fn functions(recording: &Recording, kind: u8) -> Vec<&str> {
    let of_kind = recording.locations.iter().filter(|location| location.kind == kind);
    of_kind.map(|location| location.function.as_str()).filter(|name| !name.is_empty()).collect()
}

/// A Python server that answers each 100 bytes with 200 after 5 ms, on one thread for each connection; it says its port.
pub const SERVER: &str = "
import socket, sys, threading, time
def converse(connection):
    while connection.recv(100):
        time.sleep(0.005)
        connection.sendall(b'x' * 200)
listener = socket.create_server(('127.0.0.1', int(sys.argv[1])))
print('listening')
while True:
    threading.Thread(target=converse, args=(listener.accept()[0],), daemon=True).start()
";

/// A Python client that asks again and again on one connection, and counts what it gets in between.
pub const CLIENT: &str = "
import socket, sys
connection = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
def reckon():
    return sum(number * number for number in range(20000))
def ask():
    connection.sendall(b'y' * 100)
    assert len(connection.recv(1000)) == 200
print('connected')
while True:
    ask()
    reckon()
";

/// nginx with a master and two workers; its master is asked to end when dropped, which ends the workers.
pub struct Nginx {
    master: Child,
    pub port: u16,
}

impl Nginx {
    /// Starts one that answers `ok`, and at `/status` tells how many requests it has had.
    pub fn start(folder: &Path) -> Nginx {
        let (state, port) = (folder.display(), free_port());
        let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {state}/{name};"))
            .join(" ");
        let text = format!(
            "daemon off; worker_processes 2; user root; pid {state}/nginx.pid; error_log {state}/error.log;
             events {{ worker_connections 512; }}
             http {{ access_log off; keepalive_requests 10000000; {paths}
             server {{ listen 127.0.0.1:{port};
             location / {{ return 200 \"ok\"; }} location /status {{ stub_status; }} }} }}"
        );
        let file = folder.join("nginx.conf");
        std::fs::write(&file, text).expect("written");
        let mut command = Command::new("nginx");
        command.arg("-e").arg(folder.join("error.log")).arg("-c").arg(file).stdout(Stdio::null());
        let nginx = Nginx { master: command.stderr(Stdio::null()).spawn().expect("nginx"), port };
        wait_until("nginx listens", || record::listens(nginx.pid()));
        nginx
    }

    pub fn pid(&self) -> u32 {
        self.master.id()
    }

    /// Requests it has answered, the one that asks for this among them.
    pub fn requests(&self) -> u64 {
        let mut asked = std::net::TcpStream::connect(("127.0.0.1", self.port)).expect("nginx");
        asked.write_all(b"GET /status HTTP/1.0\r\n\r\n").expect("asked");
        let mut answer = String::new();
        asked.read_to_string(&mut answer).expect("an answer");
        let line = answer.lines().rfind(|line| line.starts_with(' ')).expect("a line of counts");
        line.split_whitespace().nth(2).expect("three counts").parse().expect("a count")
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        record::send_signal(self.pid(), nix::libc::SIGTERM);
        let _ = self.master.wait();
    }
}
