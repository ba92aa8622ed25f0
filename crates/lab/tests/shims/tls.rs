//! `tls-context` in real clients of OpenSSL before a real server: what is made once, and that nothing is trusted that
//! was not trusted before.

use crate::preload::{Preloaded, python, text_of};
use lab::intervention_counters::ShimCounts;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// The shim's parameters, alone and together.
const PARAMETERS: [&str; 6] = [
    "parse-ca-once",
    "share-ssl-context",
    "resume-sessions",
    "parse-ca-once share-ssl-context",
    "share-ssl-context resume-sessions",
    "parse-ca-once share-ssl-context resume-sessions",
];

/// A server with a certificate of its own, which `bundle.pem` trusts and `other.pem` does not.
struct Server {
    process: Child,
    port: String,
    folder: TempDir,
}

impl Server {
    fn start() -> Server {
        Server::start_by(Command::new(python()))
    }

    fn start_by(mut command: Command) -> Server {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        make_certificate(&at("certificate.pem"), &at("key.pem"));
        make_certificate(&at("other.pem"), &at("other-key.pem"));
        let trusted = [std::fs::read(at("other.pem")), std::fs::read(at("certificate.pem"))];
        std::fs::write(at("bundle.pem"), trusted.map(|one| one.expect("a certificate")).concat()).expect("written");
        command.arg(script("server.py")).arg(folder.path()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("the server starts");
        let mut port = String::new();
        BufReader::new(process.stdout.take().expect("its output")).read_line(&mut port).expect("its port");
        Server { process, port: port.trim().to_string(), folder }
    }

    /// Runs a client that makes these connections; gives what became of each.
    fn client(&self, preloaded: &Preloaded, client: &str, steps: &str) -> String {
        let mut command = preloaded.command(python());
        command.arg(script(client)).arg(&self.port).arg(self.folder.path()).args(steps.split(' '));
        text_of(&mut command).trim().to_string()
    }

    /// How many handshakes were full, and how many resumed.
    fn handshakes(&self) -> (usize, usize) {
        let all = std::fs::read_to_string(self.folder.path().join("handshakes")).expect("the server's notes");
        let of = |kind: &str| all.lines().filter(|line| *line == kind).count();
        (of("full"), of("resumed"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().expect("the server ends");
        self.process.wait().expect("the server is gone");
    }
}

pub fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls").join(name)
}

pub fn make_certificate(certificate: &Path, key: &Path) {
    let mut command = Command::new("openssl");
    command.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"]);
    command.args(["-subj", "/CN=server.test", "-addext", "subjectAltName=DNS:server.test", "-keyout"]);
    let made = command.arg(key).arg("-out").arg(certificate).output().expect("openssl starts");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// What became of each step, and what the shim counted.
fn run(parameter: &str, client: &str, steps: &str) -> (String, ShimCounts, (usize, usize)) {
    let (server, preloaded) = (Server::start(), Preloaded::new(&[("tls-context", parameter)]));
    let answers = server.client(&preloaded, client, steps);
    (answers, preloaded.counts("tls-context"), server.handshakes())
}

fn counted(seen: u64, changed: u64) -> ShimCounts {
    ShimCounts { loaded: 1, seen, changed }
}

#[test]
fn a_bundle_is_parsed_once_and_contexts_are_still_made() {
    for client in ["client.py", "libcurl.py"] {
        let (answers, counts, handshakes) = run("parse-ca-once", client, "good good good good");
        assert_eq!(answers, "answered answered answered answered", "{client}");
        assert_eq!((counts, handshakes), (counted(4, 3), (4, 0)), "{client}");
    }
}

#[test]
fn contexts_made_alike_are_one_and_their_handshakes_are_full() {
    for client in ["client.py", "libcurl.py"] {
        let (answers, counts, handshakes) = run("share-ssl-context", client, "good good good good");
        assert_eq!(answers, "answered answered answered answered", "{client}");
        assert_eq!((counts, handshakes), (counted(4, 3), (4, 0)), "{client}");
    }
}

#[test]
fn the_last_connections_session_is_resumed_with_and_without_shared_contexts() {
    for client in ["client.py", "libcurl.py"] {
        for parameter in ["resume-sessions", "share-ssl-context resume-sessions"] {
            let (answers, counts, handshakes) = run(parameter, client, "good good good good");
            assert_eq!(answers, "answered answered answered answered", "{client}, {parameter}");
            assert_eq!((counts, handshakes), (counted(4, 3), (1, 3)), "{client}, {parameter}");
        }
    }
}

#[test]
fn an_inert_shim_changes_nothing() {
    let (answers, counts, handshakes) = run("inert", "client.py", "good good other");
    assert_eq!(answers, "answered answered refused");
    assert_eq!((counts, handshakes), (counted(0, 0), (2, 0)));
}

#[test]
fn a_python_client_trusts_whom_it_trusted_before() {
    for parameter in PARAMETERS {
        let (answers, counts, _) = run(parameter, "client.py", "good other good name good blind blind other name good");
        let expected = "answered refused answered refused answered answered answered refused refused answered";
        assert_eq!(answers, expected, "{parameter}");
        assert!(counts.changed > 0, "{parameter}: {counts:?}");
    }
}

#[test]
fn a_libcurl_client_trusts_whom_it_trusted_before_though_it_says_whom_only_when_the_server_answers() {
    let steps = "good good blind other good name other good blind other name good";
    for parameter in PARAMETERS {
        let (answers, counts, _) = run(parameter, "libcurl.py", steps);
        for (step, answer) in steps.split(' ').zip(answers.split(' ').filter(|word| *word != "35")) {
            let trusts = matches!(step, "good" | "blind");
            assert_eq!(answer == "answered", trusts, "{parameter}, {step}: {answers}");
        }
        assert!(counts.changed > 0, "{parameter}: {counts:?}");
    }
}

#[test]
fn a_store_that_libcurl_hands_from_context_to_context_is_as_good_as_loaded() {
    for (parameter, changed, handshakes) in [
        ("parse-ca-once", 0, (3, 0)),
        ("share-ssl-context", 2, (3, 0)),
        ("resume-sessions", 2, (1, 2)),
        ("share-ssl-context resume-sessions", 2, (1, 2)),
    ] {
        let (answers, counts, seen) = run(parameter, "libcurl.py", "again");
        assert_eq!((answers.as_str(), counts.changed, seen), ("answered", changed, handshakes), "{parameter}");
        let (answers, ..) = run(parameter, "libcurl.py", "again other name again");
        assert!(answers.starts_with("answered ") && answers.ends_with(" refused answered"), "{parameter}: {answers}");
        assert_eq!(answers.matches("answered").count(), 2, "{parameter}: {answers}");
    }
}

#[test]
fn what_was_not_verified_is_not_trusted_when_it_must_be() {
    for client in ["client.py", "libcurl.py"] {
        for parameter in PARAMETERS {
            let (answers, ..) = run(parameter, client, "blind blind other name");
            assert_eq!(answers, "answered answered refused refused", "{client}, {parameter}");
        }
    }
}

#[test]
fn a_bundle_that_changes_on_disk_is_loaded_anew() {
    for parameter in PARAMETERS {
        let (answers, ..) = run(parameter, "client.py", "good good renewed");
        assert_eq!(answers, "answered answered refused", "{parameter}");
    }
}

#[test]
fn a_context_with_a_private_key_is_left_alone() {
    for parameter in ["share-ssl-context", "resume-sessions"] {
        let (answers, counts, handshakes) = run(parameter, "client.py", "key key key");
        assert_eq!(answers, "answered answered answered", "{parameter}");
        assert_eq!((counts, handshakes), (counted(3, 0), (3, 0)), "{parameter}");
    }
}

#[test]
fn threads_and_children_share_without_harm() {
    for parameter in PARAMETERS {
        let (answers, counts, (full, resumed)) = run(parameter, "client.py", "good many fork good");
        assert_eq!(answers, "answered 80 answered answered answered", "{parameter}");
        assert_eq!(full + resumed, 83, "{parameter}");
        assert!(counts.changed >= 70, "{parameter}: {counts:?}");
    }
}

#[test]
fn a_servers_contexts_are_left_alone() {
    let preloaded = Preloaded::new(&[("tls-context", "share-ssl-context resume-sessions")]);
    let server = Server::start_by(preloaded.command(python()));
    let client = Preloaded::new(&[("tls-context", "inert")]);
    assert_eq!(server.client(&client, "client.py", "good good"), "answered answered");
    assert_eq!(preloaded.counts("tls-context"), counted(0, 0));
}

#[test]
fn curl_itself_asks_twice_with_one_parsed_bundle() {
    let (server, preloaded) = (Server::start(), Preloaded::new(&[("tls-context", "share-ssl-context")]));
    let url = format!("https://server.test:{}/", server.port);
    let mut curl = preloaded.command("curl");
    curl.args(["-sS", "--no-sessionid", "--resolve", &format!("server.test:{}:127.0.0.1", server.port), "--cacert"]);
    let printed = text_of(curl.arg(server.folder.path().join("bundle.pem")).args([&url, &url]));
    assert_eq!(printed, "hellohello");
    assert_eq!(preloaded.counts("tls-context"), counted(2, 1));
}
