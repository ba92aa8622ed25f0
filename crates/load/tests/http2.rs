//! HTTP/2 against nginx, whose log says what it was asked.

use case::LoadFault;
use load::{Arrival, Expected, Plan, Secured};
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// nginx on a port, and the folder of its files. It ends when dropped.
struct Nginx {
    child: Child,
    folder: tempfile::TempDir,
    port: u16,
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // The master ends its worker where it is asked to; killed, it could not.
        let pid = nix::unistd::Pid::from_raw(self.child.id().cast_signed());
        let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM);
        let _ = self.child.wait();
    }
}

impl Nginx {
    /// With these words behind its port, and in its server; none where it is not installed.
    fn start(listens: &str, also: &str) -> Option<Nginx> {
        let folder = tempfile::tempdir().expect("a folder");
        let here = folder.path().display().to_string();
        let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
        let configuration = format!(
            "daemon off; worker_processes 1; user root; pid {here}/pid; error_log {here}/error;
             events {{ worker_connections 512; }}
             http {{
                 client_body_temp_path {here}/body; proxy_temp_path {here}/proxy;
                 fastcgi_temp_path {here}/fastcgi; uwsgi_temp_path {here}/uwsgi; scgi_temp_path {here}/scgi;
                 log_format asked '$server_protocol $request_method $uri'; access_log {here}/asked asked;
                 server {{
                     listen 127.0.0.1:{port} {listens};
                     root {here}; {also}
                     location = /hello {{ return 200 'hello world'; }}
                 }}
             }}"
        );
        fs::write(folder.path().join("large"), vec![b'x'; 300_000]).expect("written");
        fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("ours");
        fs::write(folder.path().join("nginx.conf"), configuration).expect("written");
        let mut command = Command::new("nginx");
        command.args(["-c", &format!("{here}/nginx.conf"), "-e", &format!("{here}/error")]);
        let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
        let child = command.env("PATH", path).stderr(Stdio::null()).spawn().ok()?;
        let nginx = Nginx { child, folder, port };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(20), "{}", nginx.said("error"));
            thread::sleep(Duration::from_millis(20));
        }
        Some(nginx)
    }

    fn said(&self, file: &str) -> String {
        fs::read_to_string(self.folder.path().join(file)).unwrap_or_default()
    }

    /// How many lines its log has about one request, once they are as many as are wanted or no more come.
    fn asked(&self, line: &str, wanted: usize) -> usize {
        let count = || self.said("asked").lines().filter(|one| *one == line).count();
        let begun = Instant::now();
        while count() < wanted && begun.elapsed() < Duration::from_secs(5) {
            thread::sleep(Duration::from_millis(20));
        }
        count()
    }
}

fn plan(url: &str) -> Plan {
    Plan {
        urls: vec![url.parse().expect("a URL")],
        arrival: Arrival::Closed,
        duration: Duration::from_mins(1),
        requests: Some(500),
        connections: 3,
        pipeline: 10,
        requests_each: None,
        threads: 2,
        timeout: Duration::from_secs(20),
        method: "GET".into(),
        headers: Vec::new(),
        body: Vec::new(),
        expected: Expected { status: Some(200), body: None },
        secured: Secured::default(),
        seed: 1,
    }
}

fn done(plan: &Plan) -> case::Load {
    let watch = &mut |_: &mut dyn FnMut() -> load::Live| {
        thread::sleep(Duration::from_millis(10));
        true
    };
    load::run(plan, watch).expect("a load").load
}

fn faults(found: &case::Load) -> Vec<(LoadFault, u64)> {
    found.errors.iter().map(|one| (one.fault, one.count)).collect()
}

#[test]
fn a_server_answers_as_many_requests_as_were_made_on_streams_side_by_side() {
    // By default it takes a connection back after 1,000 requests, those that are under way on it included.
    let Some(nginx) = Nginx::start("http2", "keepalive_requests 100000;") else {
        return testing::skip("nginx is not installed");
    };
    let hello = plan(&format!("h2c://127.0.0.1:{}/hello", nginx.port));
    let expected = Expected { status: Some(200), body: Some(b"lo wor".to_vec()) };
    let found = done(&Plan { expected, ..hello.clone() });
    assert_eq!((found.requests, found.answered, found.opened), (500, 500, 3), "{found:?}");
    assert_eq!(nginx.asked("HTTP/2.0 GET /hello", 500), 500);
    // More than a window of the usual size.
    let large = plan(&format!("h2c://127.0.0.1:{}/large", nginx.port));
    let large = Plan { requests: Some(200), connections: 1, pipeline: 100, ..large };
    let found = done(&large);
    assert_eq!((found.answered, found.failed), (200, 0), "{found:?}");
    assert!(found.received_bytes > 200 * 300_000, "{found:?}");
    assert_eq!(nginx.asked("HTTP/2.0 GET /large", 200), 200);
    // At a rate, with another method.
    let arrival = Arrival::Constant(500.0);
    let found = done(&Plan { arrival, requests: Some(50), method: "HEAD".into(), ..large });
    assert_eq!((found.answered, found.failed), (50, 0), "{found:?}");
    assert_eq!(nginx.asked("HTTP/2.0 HEAD /large", 50), 50);
}

#[test]
fn a_connection_that_a_server_takes_back_is_followed_by_another() {
    let Some(nginx) = Nginx::start("http2", "keepalive_requests 7;") else {
        return testing::skip("nginx is not installed");
    };
    let hello = plan(&format!("h2c://127.0.0.1:{}/hello", nginx.port));
    let found = done(&Plan { requests: Some(70), connections: 1, pipeline: 1, ..hello });
    assert_eq!((found.answered, found.failed), (70, 0), "{found:?}");
    assert!(found.opened >= 10, "{found:?}");
    assert_eq!(nginx.asked("HTTP/2.0 GET /hello", 70), 70);
}

#[test]
fn what_goes_wrong_has_the_names_that_it_has_in_http_1() {
    let Some(nginx) = Nginx::start("http2", "") else { return testing::skip("nginx is not installed") };
    let found = done(&Plan { requests: Some(20), ..plan(&format!("h2c://127.0.0.1:{}/absent", nginx.port)) });
    assert_eq!(faults(&found), [(LoadFault::UnexpectedStatus, 20)], "{found:?}");
    assert_eq!(nginx.asked("HTTP/2.0 GET /absent", 20), 20);
    let Some(old) = Nginx::start("", "") else { return };
    let found = done(&Plan { requests: Some(3), ..plan(&format!("h2c://127.0.0.1:{}/hello", old.port)) });
    assert_eq!(faults(&found), [(LoadFault::BadStatusLine, 3)], "it speaks HTTP/1 only: {found:?}");
}

#[test]
fn over_tls_it_is_agreed_on_by_alpn() {
    let keys = tempfile::tempdir().expect("a folder");
    let Some((certificate, key)) = certificate(keys.path()) else { return testing::skip("openssl is not installed") };
    let also = format!(
        "ssl_protocols TLSv1.3; ssl_certificate {}; ssl_certificate_key {};",
        certificate.display(),
        key.display()
    );
    let Some(nginx) = Nginx::start("ssl http2", &also) else { return testing::skip("nginx is not installed") };
    let plan = plan(&format!("h2://127.0.0.1:{}/hello", nginx.port));
    let secured = Secured { trusts_all: true, ..Secured::default() };
    let found = done(&Plan { secured, method: "POST".into(), body: b"abc".to_vec(), ..plan });
    assert_eq!((found.answered, found.tls_version.as_str(), found.opened), (500, "1.3", 3), "{found:?}");
    assert_eq!(nginx.asked("HTTP/2.0 POST /hello", 500), 500);
}

/// A certificate and its key, made by openssl.
fn certificate(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
    let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
    let mut command = Command::new("openssl");
    command.args(["req", "-x509", "-nodes", "-days", "1", "-subj", "/CN=localhost"]).args(curve);
    let made = command.arg("-keyout").arg(&key).arg("-out").arg(&certificate).stderr(Stdio::null()).status().ok()?;
    made.success().then_some((certificate, key))
}
