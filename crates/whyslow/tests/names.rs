//! `--keep-names no`: a name of its own on every channel that whyslow sees, and none of them in what it writes: tables, documents,
//! page, exports. What is found stays what it was.

use crate::stage::{Stage, free_port};
use case::{Case, Recording};
use std::fs;
use std::path::{Path, PathBuf};
use testing::is_root;

/// How every name begins, whatever its case.
const CANARY: &str = "zqcanary";

/// A server that reads a file for each request, and a client that sends each request in two pieces, so that it waits for
/// acknowledgements; both have names of their own for everything.
const SERVER: &str = r"
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_POST(self):
        self.rfile.read(int(self.headers.get('Content-Length') or 0))
        open(sys.argv[2]).read()
        self.send_response(200)
        self.send_header('Content-Length', '0')
        self.end_headers()
    def log_message(self, *arguments): pass
http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
";
const CLIENT: &str = r"
import socket, ssl, subprocess, sys, threading
port = int(sys.argv[1])
def query(name):
    parts = b''.join(bytes([len(part)]) + part.encode() for part in name.split('.'))
    return b'\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00' + parts + b'\x00\x00\x01\x00\x01'
def named():
    open('/proc/thread-self/comm', 'w').write('zqcanaryThread')
    sum(range(200000))
asker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
asker.connect(('127.0.0.1', 53))
try:
    asker.send(query('zqcanarylookup.zqcanarydomain.example'))
except OSError:
    pass
stranger = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
stranger.connect(('198.51.100.77', 9))
try:
    socket.socket(socket.AF_UNIX).connect('/tmp/zqcanarySocket')
except OSError:
    pass
thread = threading.Thread(target=named)
thread.start()
thread.join()
subprocess.run([sys.argv[2], 'zqcanaryArgument', '--zqcanaryOption=zqcanaryValue'])
secure = socket.create_connection(('127.0.0.1', port))
try:
    context = ssl.create_default_context()
    context.wrap_socket(secure, server_hostname='zqcanarysni.example', do_handshake_on_connect=False).do_handshake()
except (OSError, ssl.SSLError):
    pass
connection = socket.create_connection(('127.0.0.1', port))
head = ('POST /zqcanaryPath/903141592653/zqcanaryFile.json?zqcanaryQuery=1&zqcanaryFlag HTTP/1.1\r\nHost: zqcanaryHost.example:80\r\n'
        'User-Agent: zqcanaryAgent\r\nX-Zqcanaryheader: zqcanaryHeaderValue\r\nContent-Length: 80\r\n\r\n')
for number in range(60):
    connection.send(head.encode())
    connection.send(b'x' * 80)
    connection.recv(65536)
";

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The words around the canaries in a text: where they came from.
fn sightings(text: &str) -> Vec<String> {
    let plain = text.to_ascii_lowercase();
    let around = |(at, _): (usize, &str)| {
        let from = (at.saturating_sub(60)..=at).find(|at| plain.is_char_boundary(*at)).unwrap_or(at);
        plain[from..].chars().take(140).collect::<String>().replace('\n', " ")
    };
    let everywhere = [CANARY, "198.51.100.77", "903141592653"].into_iter();
    everywhere.flat_map(|name| plain.match_indices(name).map(around).collect::<Vec<_>>()).collect()
}

/// Runs client and server, names kept or not: the answer.
fn run(stage: &Stage, options: &[&str], case: &str) -> case::Answer {
    let port = free_port();
    let path = |name: &str| stage.path(name).display().to_string();
    let serve = format!("python3 {} {port} {}", path("zqcanaryServer.py"), path("zqcanaryFolder/zqcanaryData"));
    let (client, program, port) = (path("zqcanaryClient.py"), path("zqcanaryProgram"), port.to_string());
    let before = ["run", "--all", "--json", "--server", &serve, "-o", case];
    let words = [&before, options, &["--", "python3", &client, &port, &program]].concat();
    serde_json::from_value(stage.run(&words).answered().json()).expect("an answer")
}

/// What it accuses first.
fn found(answer: &case::Answer) -> Option<&str> {
    answer.findings.first().map(|first| first.name.as_str())
}

#[test]
fn no_name_of_any_channel_is_written_down_and_the_verdict_stays() {
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return;
    }
    fs::create_dir(stage.path("zqcanaryFolder")).expect("made");
    for (name, text) in
        [("zqcanaryServer.py", SERVER), ("zqcanaryClient.py", CLIENT), ("zqcanaryFolder/zqcanaryData", "")]
    {
        fs::write(stage.path(name), text).expect("written");
    }
    // By another process: see `Stage::run_as_nobody`.
    crate::stage::shell(&format!("cp /bin/true {}", stage.path("zqcanaryProgram").display()));
    let kept = run(&stage, &["--no-prove"], "kept");
    let with_names = files(&stage.path("kept")).into_iter().map(|file| fs::read(file).expect("a file"));
    assert!(with_names.flat_map(|bytes| sightings(&String::from_utf8_lossy(&bytes))).count() > 20, "names are kept");

    let hidden = run(&stage, &["--budget", "30", "--keep-names", "no"], "out");
    assert_eq!([&hidden, &kept].map(found), [Some("nagle-delayed-ack"); 2], "{hidden:#?}");
    assert_eq!(hidden.verdict, case::Verdict::Confirmed, "{hidden:#?}");
    assert_eq!(sightings(&format!("{hidden:#?}")), Vec::<String>::new(), "in the answer");
    let case = Case::open(&stage.path("out")).expect("a case");
    let recording = Recording::load(&case).expect("its tables");
    let rows = [&recording.lookups.len(), &recording.handshakes.len()].map(|rows| *rows > 0);
    assert_eq!(rows, [true, true], "the canaries did not fly");
    assert!(recording.http_messages.iter().any(|row| row.host.ends_with(":80")), "shapes are kept");
    let trials = recording.trials.len();
    assert_eq!(sightings(&format!("{recording:#?}")), Vec::<String>::new(), "in the tables");
    assert!(trials > 4 && !stage.path("out/trials").exists(), "{trials} trials, and no file that could run them again");

    fs::create_dir(stage.path("exports")).expect("made");
    for format in ["text", "json", "html", "markdown", "pcapng", "firefox-profile", "speedscope"] {
        let words = ["report", "out", "--all", "--format", format, "-o", &format!("exports/out.{format}")];
        stage.run(&words).answered();
    }
    for file in files(&stage.path("out")).into_iter().chain(files(&stage.path("exports"))) {
        let text = String::from_utf8_lossy(&fs::read(&file).expect("a file")).into_owned();
        assert_eq!(sightings(&text), Vec::<String>::new(), "in {}", file.display());
    }
    let here = stage.path("out").display().to_string();
    let page = fs::read_to_string(stage.path("out/report.html")).expect("the page");
    assert!(!page.contains(&here) && page.len() > 10_000, "it does not say where it lay");
}
