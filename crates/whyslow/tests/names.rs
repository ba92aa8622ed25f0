//! `--keep-names no`: a name of its own on every channel that whyslow sees, and none of them in what it writes: tables, documents,
//! page, exports. What is found stays what it was.

use crate::stage::{Background, Stage, free_port, shell, wait_until};
use case::{Case, Recording};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
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
for number in range(int(sys.argv[3])):
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

/// Client, server, and what they use.
fn lay_out(stage: &Stage) {
    fs::create_dir(stage.path("zqcanaryFolder")).expect("made");
    for (name, text) in
        [("zqcanaryServer.py", SERVER), ("zqcanaryClient.py", CLIENT), ("zqcanaryFolder/zqcanaryData", "")]
    {
        fs::write(stage.path(name), text).expect("written");
    }
    // By another process: see `Stage::run_as_nobody`.
    shell(&format!("cp /bin/true {}", stage.path("zqcanaryProgram").display()));
}

/// The commands of server and client, which makes so many requests.
fn programs(stage: &Stage, requests: u32) -> (String, Vec<String>) {
    let port = free_port().to_string();
    let path = |name: &str| stage.path(name).display().to_string();
    let serve = format!("python3 {} {port} {}", path("zqcanaryServer.py"), path("zqcanaryFolder/zqcanaryData"));
    (serve, vec!["python3".into(), path("zqcanaryClient.py"), port, path("zqcanaryProgram"), requests.to_string()])
}

/// Runs client and server, names kept or not: the answer.
fn run(stage: &Stage, options: &[&str], case: &str) -> case::Answer {
    let (serve, client) = programs(stage, 25);
    let client = client.iter().map(String::as_str).collect::<Vec<_>>();
    let before = ["run", "--all", "--json", "--server", &serve, "-o", case];
    let words = [&before, options, &["--"], &client].concat();
    serde_json::from_value(stage.run(&words).answered().json()).expect("an answer")
}

/// No name is in any file of a case, in its tables or in what is exported of it.
fn expect_no_name(stage: &Stage, case: &str, formats: &[&str]) {
    for folder in cases_in(&stage.path(case)) {
        let recording = Recording::load(&Case::open(&folder).expect("a case")).expect("its tables");
        assert_eq!(
            sightings(&format!("{recording:#?}")),
            Vec::<String>::new(),
            "in the tables of {}",
            folder.display()
        );
    }
    let exports = format!("{case}-exports");
    fs::create_dir(stage.path(&exports)).expect("made");
    for format in formats {
        stage.run(&["report", case, "--format", format, "-o", &format!("{exports}/out.{format}")]).answered();
    }
    for file in files(&stage.path(case)).into_iter().chain(files(&stage.path(&exports))) {
        let text = String::from_utf8_lossy(&fs::read(&file).expect("a file")).into_owned();
        assert_eq!(sightings(&text), Vec::<String>::new(), "in {}", file.display());
    }
    let here = stage.path(case).display().to_string();
    let page = fs::read_to_string(stage.path(case).join("report.html")).expect("the page");
    assert!(!page.contains(&here) && page.len() > 10_000, "it does not say where it lay");
}

/// A case and those recorded in it.
fn cases_in(folder: &Path) -> Vec<PathBuf> {
    let manifests = files(folder).into_iter().filter(|file| file.ends_with("manifest.json"));
    manifests.filter_map(|file| file.parent().map(Path::to_path_buf)).collect()
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
    lay_out(&stage);
    let kept = run(&stage, &["--no-prove"], "kept");
    let with_names = files(&stage.path("kept")).into_iter().map(|file| fs::read(file).expect("a file"));
    assert!(with_names.flat_map(|bytes| sightings(&String::from_utf8_lossy(&bytes))).count() > 20, "names are kept");

    let hidden = run(&stage, &["--budget", &testing::budget(60), "--keep-names", "no"], "out");
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

#[test]
fn neither_a_comparison_nor_a_sweep_writes_names_down() {
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return;
    }
    lay_out(&stage);
    let (serve, client) = programs(&stage, 5);
    let client = client.iter().map(String::as_str).collect::<Vec<_>>();
    let budget = testing::budget(4);
    let own = ["--json", "--budget", &budget, "--server", &serve];
    let changed = ["--b", "env=zqcanaryVariable=zqcanaryContent"];
    let both =
        |options: &'static [&'static str]| [&["compare"], &own[..], &changed, options, &["--"], &client].concat();
    let kept = stage.run(&both(&["-o", "kept"])).answered();
    assert!(sightings(&kept.stdout).len() > 4, "names are kept: {kept:?}");
    let hidden = stage.run(&both(&["-o", "compared", "--keep-names", "no"])).answered();
    assert_eq!(sightings(&hidden.stdout), Vec::<String>::new());
    assert!(hidden.json()["b"]["changes"][0].as_str().is_some_and(|change| change.starts_with("env=n")), "{hidden:?}");
    expect_no_name(&stage, "compared", &["text", "json", "html", "markdown"]);

    // A sixth of it must be enough for a run.
    let budget = testing::budget(12);
    let options = ["--json", "--budget", &budget, "--server", &serve, "--vary", "size=1,2", "-o", "swept"];
    let words = [&["sweep"], &options[..], &["--keep-names", "no"], &["--"], &client, &["{size}"]].concat();
    assert_eq!(sightings(&stage.run(&words).answered().stdout), Vec::<String>::new());
    expect_no_name(&stage, "swept", &["text", "json", "html", "markdown"]);
    let words =
        [&["sweep", "--vary", "name=zqcanaryOne,zqcanaryTwo", "--keep-names", "no", "--"], &client[..], &["{name}"]];
    let said = stage.run(&words.concat()).error().concat();
    assert!(said.contains("--vary") && said.contains("names of folders"), "{said}");
}

#[test]
#[ignore = "long: make stories"]
fn neither_a_bisection_nor_a_matrix_writes_names_down() {
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return;
    }
    if shell("command -v cc").is_empty() {
        testing::skip("cc is not installed");
        return;
    }
    let own = stage.path("").display().to_string();
    let made = shell(&format!(
        "set -e; cd {own}; mkdir -p zqcanaryGood zqcanaryBad mirror/ti/ny
        cc='cc -shared -fPIC -Wl,-soname,libzqcanaryTiny.so.1'
        echo 'int tiny(void) {{ return 1; }}' >tiny.c; $cc -o zqcanaryGood/libzqcanaryTiny.so.1 tiny.c
        echo 'int usleep(unsigned); int tiny(void) {{ usleep(60000); return 1; }}' >tiny.c
        $cc -o zqcanaryBad/libzqcanaryTiny.so.1 tiny.c
        echo 'int tiny(void); int main(void) {{ return tiny() - 1; }}' >program.c
        cc -o zqcanaryProgram program.c zqcanaryGood/libzqcanaryTiny.so.1
        echo '{{\"dl\":\"file://{own}mirror/files\"}}' >mirror/config.json
        for version in 1.0.0+1.1 2.0.0+1.2; do
            name=tiny-sys-$version; mkdir -p $name/tiny mirror/files/tiny-sys/$version
            echo \"int usleep(unsigned); int tiny(void) {{ usleep(60000); return 1; }} int length = ${{#version}};\" >$name/tiny/tiny.c
            file=mirror/files/tiny-sys/$version/download; tar -czf $file $name; sum=$(sha256sum $file | cut -d' ' -f1)
            echo \"{{\\\"name\\\":\\\"tiny-sys\\\",\\\"vers\\\":\\\"$version\\\",\\\"cksum\\\":\\\"$sum\\\",\\\"yanked\\\":false}}\" >>mirror/ti/ny/tiny-sys
        done
        echo made"
    ));
    assert_eq!(made, "made\n");
    let recipe = "name = 'zqcanaryTiny'\nabout = 'a library'\ncrate = 'tiny-sys'\nfolder = 'tiny'\n\
        libraries = ['lib/libzqcanaryTiny.so.1']\n[[steps]]\nname = 'install'\nrun = 'mkdir -p {stage}{prefix}/lib; cc -shared \
        -fPIC -Wl,-soname,libzqcanaryTiny.so.1 {source}/tiny.c -o {stage}{prefix}/lib/libzqcanaryTiny.so.1'\n";
    fs::write(stage.path("tiny.toml"), recipe).expect("written");
    let [good, bad] = ["zqcanaryGood", "zqcanaryBad"].map(|side| format!("libs:{}", stage.path(side).display()));
    let program = stage.path("zqcanaryProgram").display().to_string();
    let budget = testing::budget(12);
    let kept = ["--keep-names", "no", "--json", "--budget", &budget];
    let ran = |words: &[&str]| {
        let mut command = stage.whyslow(words);
        command.env("WHYSLOW_CACHE", stage.path("cache"));
        command.env("WHYSLOW_CRATES_INDEX", format!("file://{}", stage.path("mirror").display()));
        crate::stage::Ran::from(command.output().expect("whyslow")).answered()
    };
    let own = ["--good", &good, "--bad", &bad, "-o", "bisected", "--", &program, "zqcanaryArgument"];
    let bisected = ran(&[&["bisect"], &kept[..], &own].concat());
    assert_eq!(sightings(&bisected.stdout), Vec::<String>::new());
    let document = bisected.json();
    let (factor, cure) = (&document["factors"][0]["name"], &document["culprit"]["cure"][0]);
    assert!(factor.is_string() && factor == cure, "the same name is the same everywhere: {document:#}");
    expect_no_name(&stage, "bisected", &["text", "json", "html", "markdown"]);

    let own = ["--library", "zqcanaryTiny=1.1,1.2", "--source", "tiny.toml", "-o", "built", "--", &program];
    let built = ran(&[&["matrix"], &kept[..], &own].concat());
    assert_eq!(sightings(&built.stdout), Vec::<String>::new());
    assert!(built.json()["versions"][1]["state"] == "measured", "{built:?}");
    expect_no_name(&stage, "built", &["text", "json", "html", "markdown"]);
}

/// A control group with a name of its own, removed when dropped; what runs in it is ended before.
struct Group(PathBuf);

impl Group {
    fn new() -> Option<Group> {
        let mounts = fs::read_to_string("/proc/self/mounts").expect("mounts");
        let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let point =
            fields.filter(|fields| fields.get(2) == Some(&"cgroup2")).find_map(|fields| Some(*fields.get(1)?))?;
        let folder = Path::new(point).join(format!("zqcanaryGroup-{}", std::process::id()));
        fs::create_dir(&folder).ok()?;
        Some(Group(folder))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::write(self.0.join("cgroup.kill"), "1");
        let removed = || fs::remove_dir(&self.0).is_ok() || !self.0.exists();
        let begun = std::time::Instant::now();
        while !removed() && begun.elapsed() < std::time::Duration::from_secs(5) {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

#[test]
fn a_program_that_was_attached_to_leaves_no_name_nor_that_of_its_control_group() {
    let stage = Stage::new();
    if !is_root() || !stage.can_record() {
        return;
    }
    let Some(group) = Group::new() else {
        testing::skip("no cgroup v2 in which groups can be made");
        return;
    };
    lay_out(&stage);
    let (serve, client) = programs(&stage, 60);
    // In a group with a quota, whose throttling is recorded under the group's path.
    let _ = fs::write(group.0.join("cpu.max"), "50000 100000");
    let inside = |line: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("echo $$ >{}/cgroup.procs; exec {line}", group.0.display())]);
        Background(shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("sh"))
    };
    let server = inside(&serve);
    let port = &client[2];
    wait_until("the server listens", || std::net::TcpStream::connect(format!("127.0.0.1:{port}")).is_ok());
    let again = format!("sh -c 'while :; do {}; done'", client.join(" "));
    let _clients = inside(&again);
    let pid = server.0.id().to_string();
    for (case, options) in [("kept", &["--no-prove"][..]), ("attached", &["--no-prove", "--keep-names", "no"])] {
        let words = [&["attach", &pid, "--all", "--json", "--duration", "2s", "-o", case], options].concat();
        let ran = stage.run(&words).answered();
        let seen = sightings(&ran.stdout).len() + usize::from(ran.stdout.to_lowercase().contains("zqcanarygroup"));
        assert_eq!(seen > 0, case == "kept", "{case}: {}", ran.stdout);
    }
    let groups = |case: &str| {
        let recording = Recording::load(&Case::open(&stage.path(case)).expect("a case")).expect("its tables");
        format!("{recording:#?}").matches("cgroup:").count()
    };
    println!("control groups in the tables: {} kept, {} hidden", groups("kept"), groups("attached"));
    let formats = ["text", "json", "html", "markdown", "pcapng", "firefox-profile", "speedscope"];
    expect_no_name(&stage, "attached", &formats);
}
