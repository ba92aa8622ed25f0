//! Canaries: a secret of its own on every channel that whyslow sees, and none of them in what it writes: tables, documents, page,
//! exports, what it prints.

use crate::stage::{Stage, free_port};
use std::fs;
use std::path::{Path, PathBuf};
use testing::is_root;

/// How every secret begins.
const CANARY: &str = "k7Canary";

/// A secret for a channel. One that stands alone in a path is long, as tokens are.
fn canary(channel: &str) -> String {
    format!("{CANARY}9f86d081884c7d659{channel}")
}

/// A server that answers with a secret, sets one, redirects to one and looks for one in its files.
const SERVER: &str = r"
import http.server, os, sys
SECRETS = sys.argv[2:]
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        length = int(self.headers.get('Content-Length') or 0)
        self.rfile.read(length)
        try:
            open('/nowhere/' + self.path.split('/')[-1])
        except OSError:
            pass
        body = b'the body says k7CanaryRESPONSEBODY9f86d08\n'
        self.send_response(200)
        self.send_header('Set-Cookie', 'session=k7CanarySETCOOKIE9f86d08')
        self.send_header('Location', '/next?token=k7CanaryLOCATION9f86d08')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_POST = do_GET
    def log_message(self, *arguments): pass
http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
";

/// Requests with a secret in each place that curl has for one, and programs that are given some in other ways.
fn client(port: u16) -> String {
    let url = format!("http://127.0.0.1:{port}");
    let c = canary;
    [
        format!("curl -s '{url}/q?session={}'", c("Query")),
        format!("curl -s -u me:{} {url}/", c("User")),
        format!("curl -s --user=me:{} {url}/", c("UserEq")),
        format!("curl -s http://me:{}@127.0.0.1:{port}/", c("UserInfo")),
        format!("curl -s -H 'Authorization: Bearer {}' {url}/", c("Header")),
        format!("curl -s -H 'X-Api-Key: {}' -b 'id={}' {url}/", c("ApiKey"), c("Cookie")),
        format!("curl -s -d 'user=a&comment={}' {url}/form", c("Form")),
        format!("curl -s --data-raw '{{\"a\": \"{}\"}}' {url}/json", c("Json")),
        format!("curl -s {url}/reset/{}", c("Path")),
        format!("mysql -p{} 2>/dev/null", c("Attached")),
        format!(
            "env DB_PASSWORD={} true --pass {} --apikey={} --accessToken {}",
            c("Env"),
            c("Pass"),
            c("Eq"),
            c("Tok")
        ),
        format!("sh -c 'curl -s -u me:{} {url}/; API_TOKEN={} true'", c("Nested"), c("Assigned")),
        format!("echo {} | cat >/dev/null", c("Pipe")),
        "cat of-a-file >/dev/null".to_string(),
        "echo $IN_THE_ENVIRONMENT >/dev/null".to_string(),
    ]
    .join("; ")
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The words around the canaries in a text: where they came from.
fn sightings(text: &str) -> Vec<String> {
    let around = |(at, _): (usize, &str)| {
        let from = (at.saturating_sub(60)..=at).find(|at| text.is_char_boundary(*at)).unwrap_or(at);
        text[from..].chars().take(140).collect::<String>().replace('\n', " ")
    };
    text.match_indices(CANARY).map(around).collect()
}

#[test]
fn no_secret_of_any_channel_is_written_down() {
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return;
    }
    let port = free_port();
    fs::write(stage.path("server.py"), SERVER).expect("written");
    fs::write(stage.path("of-a-file"), canary("File")).expect("written");
    fs::write(stage.path("client.sh"), client(port)).expect("written");
    let serve = format!("python3 server.py {port} --password {} --token={}", canary("Server"), canary("ServerEq"));
    let script = format!("{}; . ./client.sh", client(port));
    let words = ["run", "--no-prove", "--all", "--server", &serve, "-o", "case", "--", "sh", "-c", &script];
    let mut command = stage.whyslow(&words);
    let output = command.env("IN_THE_ENVIRONMENT", canary("Environment")).output().expect("whyslow");
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{output:?}");
    // What the programs print passes through; what whyslow says of them comes after it, and is printed again below.
    let case = case::Case::open(&stage.path("case")).expect("a case");
    let recording = case::Recording::load(&case).expect("its tables");
    let requests = recording.http_messages.len();
    assert!(requests >= 16, "{requests} heads of messages: the canaries did not fly");
    assert_eq!(sightings(&format!("{recording:#?}")), Vec::<String>::new(), "in the tables");
    for format in ["text", "json", "html", "markdown", "pcapng", "firefox-profile", "speedscope"] {
        let words = ["report", "case", "--all", "--format", format, "-o", &format!("out.{format}")];
        stage.run(&words).answered();
    }
    let written = files(&stage.path("case")).into_iter().chain(files(&stage.path("."))).filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        !["server.py", "client.sh", "of-a-file"].contains(&&*name)
    });
    for file in written {
        let text = String::from_utf8_lossy(&fs::read(&file).expect("a file")).into_owned();
        assert_eq!(sightings(&text), Vec::<String>::new(), "in {}", file.display());
    }
}
