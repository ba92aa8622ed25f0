//! `whyslow load` against real servers.

use crate::stage::{Background, Ran, Stage, free_port, shell, wait_until};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use testing::skip;

/// Waits until someone listens on a port.
fn await_port(port: u16) {
    wait_until("a server", || TcpStream::connect(("127.0.0.1", port)).is_ok());
}

/// An nginx without and with TLS, with a certificate for `localhost`; its two ports.
fn nginx(stage: &Stage) -> Option<(Background, u16, u16)> {
    if shell("command -v nginx; command -v openssl").lines().count() < 2 {
        skip("nginx or openssl is not installed");
        return None;
    }
    let (plain, secured) = (free_port(), free_port());
    let folder = stage.path("").display().to_string();
    let subject = "-subj /CN=localhost -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE";
    shell(&format!(
        "cd {folder} && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 {subject} \
         -keyout key.pem -out cert.pem 2>/dev/null"
    ));
    let settings = format!(
        "daemon off; pid {folder}/pid; error_log {folder}/error; worker_processes 1; events {{ }}\n\
         http {{ access_log off; server {{ listen 127.0.0.1:{plain}; listen 127.0.0.1:{secured} ssl;\n\
         ssl_protocols TLSv1.2 TLSv1.3; ssl_certificate cert.pem; ssl_certificate_key key.pem;\n\
         ssl_session_cache shared:sessions:1m;\n\
         location / {{ return 200 hello; }} location /none {{ return 404; }} }} }}"
    );
    std::fs::write(stage.path("nginx.conf"), settings).expect("written");
    let mut command = Command::new("nginx");
    command.args(["-p", &folder, "-c", &format!("{folder}/nginx.conf")]).stderr(Stdio::null());
    let server = Background(command.spawn().expect("nginx"));
    await_port(plain);
    Some((server, plain, secured))
}

/// Ends nginx with its workers, which a kill would leave behind.
fn end(mut server: Background) {
    server.signal(nix::sys::signal::Signal::SIGTERM);
    server.0.wait().expect("ended");
}

fn phase<'a>(ran: &'a serde_json::Value, name: &str) -> &'a serde_json::Value {
    let phases = ran["phases"].as_array().expect("phases");
    phases.iter().find(|one| one["phase"] == name).map_or(&serde_json::Value::Null, |one| &one["time"]["count"])
}

#[test]
fn a_real_server_is_loaded_plainly_and_over_tls() {
    let stage = Stage::new();
    let Some((server, plain, secured)) = nginx(&stage) else { return };
    let short = ["load", "--json", "--duration", "500ms"];
    let load = |more: &[&str]| stage.run(&[&short, more].concat());
    let (url, other) = (format!("3*http://127.0.0.1:{plain}/"), format!("http://127.0.0.1:{plain}/none"));
    let ran = load(&[&url, &other]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let found = ran.json();
    assert_eq!((&found["failed"], &found["answered"]), (&0.into(), &found["requests"]));
    let statuses = found["statuses"].as_array().expect("statuses");
    assert_eq!(statuses.iter().map(|one| &one["status"]).collect::<Vec<_>>(), [200, 404]);

    let tls = format!("https://localhost:{secured}/");
    let one_each = ["--requests-per-connection", "1", "--cacert", "cert.pem", &tls];
    for version in ["1.2", "1.3"] {
        let resumed = load(&[&["--tls", version], &one_each[..]].concat()).json();
        assert_eq!((&resumed["tls_version"], &resumed["failed"]), (&version.into(), &0.into()));
        assert!(phase(&resumed, "tls-resumed").as_u64() > phase(&resumed, "tls-full").as_u64(), "{resumed}");
    }
    let full = load(&[&["--no-resumption"], &one_each[..]].concat()).json();
    assert!(phase(&full, "tls-resumed").is_null() && phase(&full, "tls-full").as_u64() > Some(0), "{full}");

    let untrusted = load(&[&tls]);
    assert_eq!((untrusted.code, &untrusted.json()["errors"][0]["fault"]), (1, &"certificate".into()));
    let unexpected = load(&["--expect-status", "200", &other]);
    assert_eq!((unexpected.code, &unexpected.json()["errors"][0]["fault"]), (1, &"unexpected-status".into()));
    let body = load(&["--expect-body", "hello", &url]);
    assert_eq!(body.code, 0, "{body:?}");
    end(server);
}

#[test]
fn a_server_that_stands_still_is_not_spared() {
    let stage = Stage::new();
    let port = free_port();
    // One thread that stands still for 200 ms of every second.
    let script = format!(
        "import selectors, socket, time\n\
         listener = socket.create_server(('127.0.0.1', {port})); listener.setblocking(False)\n\
         waiting = selectors.DefaultSelector(); waiting.register(listener, selectors.EVENT_READ)\n\
         stall = time.monotonic() + 1\n\
         while True:\n    \
             if time.monotonic() > stall:\n        \
                 time.sleep(0.2); stall = time.monotonic() + 0.8\n    \
             for key, _ in waiting.select(0.05):\n        \
                 if key.fileobj is listener:\n            \
                     waiting.register(listener.accept()[0], selectors.EVENT_READ)\n        \
                 elif key.fileobj.recv(65536):\n            \
                     key.fileobj.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok')\n        \
                 else:\n            \
                     waiting.unregister(key.fileobj); key.fileobj.close()\n"
    );
    let server = Background(Command::new("python3").args(["-c", &script]).spawn().expect("python3"));
    await_port(port);
    let url = format!("http://127.0.0.1:{port}/");
    let ran = stage.run(&["load", "--json", "--rate", "500", "-c", "2", "--duration", "4s", &url]);
    drop(server);
    assert_eq!(ran.code, 0, "{ran:?}");
    let found = ran.json();
    let p99 = |way: &str| found[way]["p99_ns"].as_u64().expect("a number");
    assert!(p99("latency") > 100_000_000, "{found}");
    assert!(p99("uncorrected") < 100_000_000, "{found}");
}

#[test]
fn what_cannot_be_loaded_is_an_error_of_three_lines() {
    let stage = Stage::new();
    let errors = [
        vec!["load", "http://127.0.0.1:1/", "http://127.0.0.1:2/"],
        vec!["load", "--cacert", "missing.pem", "https://localhost:1/"],
        vec!["load", "--header", "no colon", "http://127.0.0.1:1/"],
        vec!["load", "--method", "G T", "http://127.0.0.1:1/"],
        vec!["load", "ftp://127.0.0.1/"],
        vec!["load", "--body", "", "tcp://127.0.0.1:1"],
        vec!["load", "--body", "@missing", "http://127.0.0.1:1/"],
    ];
    for arguments in errors {
        let ran: Ran = stage.run(&arguments);
        assert!(ran.error()[0].len() > "whyslow: ".len(), "{arguments:?}");
    }
}

#[test]
fn a_server_that_is_not_there_is_named_as_that() {
    let stage = Stage::new();
    let url = format!("http://127.0.0.1:{}/", free_port());
    let ran = stage.run(&["load", "--duration", "200ms", &url]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("connection refused"), "{ran:?}");
}
