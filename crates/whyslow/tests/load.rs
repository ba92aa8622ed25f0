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

/// A Python program of this folder, told what to do.
fn python(program: &str, arguments: &[&str]) -> Background {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/load/").to_string() + program;
    Background(Command::new("python3").arg(file).args(arguments).spawn().expect("python3"))
}

/// The command of a server of known capacity, in a link's network.
fn workers(threads: u32, seconds: &str) -> String {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/load/workers.py");
    format!("python3 {file} {{server}} 8080 {threads} {seconds}")
}

#[test]
fn a_server_that_stands_still_is_not_spared_and_the_page_shows_it() {
    let stage = Stage::new();
    let port = free_port();
    let server = python("stalling.py", &[&port.to_string(), "1", "0.1"]);
    await_port(port);
    let url = format!("http://127.0.0.1:{port}/");
    let files = ["--histogram", "first.csv", "-o", "page.html"];
    let open = ["load", "--json", "--rate", "500", "-c", "4", "--duration", "3s", &url];
    let ran = stage.run(&[&open[..], &files].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    let found = ran.json();
    let p95 =
        |way: &str| found[way]["p90_ns"].as_u64().expect("a number").max(found[way]["p99_ns"].as_u64().unwrap_or(0));
    assert!(p95("latency") > 50_000_000 && p95("latency") > 3 * p95("uncorrected"), "{found}");
    let moments = found["over_time"]["moments"].as_array().expect("moments");
    assert_eq!(moments.iter().filter_map(|one| one["answered"].as_u64()).sum::<u64>(), 1500);

    let page = std::fs::read_to_string(stage.path("page.html")).expect("a page");
    assert!(page.matches("<svg class=\"load-chart").count() == 6 && page.contains("from the intended start"), "{page}");

    // A closed load beside it: put together, both ways of counting are one file's.
    let closed = stage.run(&["load", "--json", "-n", "50", "--histogram", "second.csv", &url]);
    assert_eq!((closed.code, &closed.json()["answered"]), (0, &50.into()), "{closed:?}");
    drop(server);
    let merged = stage.run(&["load", "--json", "--merge", "first.csv", "second.csv", "--histogram", "both.csv"]);
    let both = merged.json();
    assert_eq!((merged.code, &both["answered"], &both["uncorrected"]["count"]), (0, &1550.into(), &1550.into()));
    assert_eq!(
        both["latency"]["max_ns"].as_u64().max(found["latency"]["max_ns"].as_u64()),
        both["latency"]["max_ns"].as_u64()
    );
    let again = stage.run(&["load", "--merge", "both.csv"]);
    assert!(again.stdout.starts_with("1,550 requests from 1 file were answered."), "{again:?}");
}

#[test]
#[ignore = "takes half a minute: a stall of a second in every ten"]
fn a_stall_of_a_second_in_ten_is_seen_from_the_intended_start_only() {
    let stage = Stage::new();
    let port = free_port();
    let server = python("stalling.py", &[&port.to_string(), "10", "1"]);
    await_port(port);
    let url = format!("http://127.0.0.1:{port}/");
    let ran = stage.run(&["load", "--json", "--rate", "500", "-c", "4", "--duration", "30s", &url]);
    drop(server);
    let found = ran.json();
    let p99 = |way: &str| found[way]["p99_ns"].as_u64().expect("a number");
    println!("corrected p99 {} ns, uncorrected {} ns", p99("latency"), p99("uncorrected"));
    assert!((800_000_000..1_100_000_000).contains(&p99("latency")), "{found}");
    assert!(p99("uncorrected") < 100_000_000, "{found}");
}

#[test]
fn a_log_is_replayed_with_its_paths_and_methods() {
    let stage = Stage::new();
    let Some((server, plain, _)) = nginx(&stage) else { return };
    let line = |second: u32, request: &str| {
        format!("192.0.2.7 - - [10/Oct/2000:20:55:{second:02} +0000] \"{request} HTTP/1.1\" 200 12 \"-\" \"x\"\n")
    };
    let requests = ["GET /a", "HEAD /", "GET /none", "POST /a", "GET /b?c=d"];
    let log = (0..50).map(|number| line(number / 25, requests[number as usize % 5])).collect::<String>();
    std::fs::write(stage.path("access.log"), log + "garbage\n").expect("written");
    let url = format!("http://127.0.0.1:{plain}/");
    let replay = ["load", "--json", "--replay", "access.log", "--speed", "4", &url];
    let found = stage.run(&replay).json();
    assert_eq!(
        (&found["requests"], &found["failed"], &found["arrival"]["left_out"]),
        (&40.into(), &0.into(), &11.into())
    );
    let statuses = found["statuses"].as_array().expect("statuses").iter().map(|one| (&one["status"], &one["count"]));
    assert_eq!(statuses.collect::<Vec<_>>(), [(&200.into(), &30.into()), (&404.into(), &10.into())]);
    let all = stage.run(&[&replay[..], &["--all-methods"]].concat()).json();
    assert_eq!((&all["requests"], &all["arrival"]["left_out"]), (&50.into(), &1.into()));
    end(server);
}

#[test]
fn a_load_takes_the_place_of_a_program() {
    let stage = Stage::new();
    if !stage.can_record() {
        return;
    }
    let server = workers(2, "0.001");
    let load = "http://{server}:8080/,requests=60,connections=2,threads=1";
    let linked = ["--link", "mtu=1500", "--server", &server, "--load", load];
    let run = stage.run(&[&["run", "--no-prove", "--json"], &linked[..]].concat()).answered().json();
    assert_eq!(run["exchanges"], 60, "{run}");
    assert!(run["command"].as_array().is_some_and(|words| words[1] == "load"), "{run}");
    let varied = ["sweep", "--json", "--budget", "20s", "--vary", "rate=50,200"];
    let sweep = stage.run(&[&varied[..], &linked].concat()).answered().json();
    assert_eq!(sweep["metric"], "answered_per_second", "{sweep}");
    let points = sweep["points"].as_array().expect("points");
    for (point, rate) in points.iter().zip([50.0, 200.0]) {
        let measured = point["measured"].as_f64().expect("a number");
        assert!((0.7 * rate..1.1 * rate).contains(&measured), "{sweep}");
    }
}

#[test]
#[ignore = "takes a minute: a sweep of eleven rates"]
fn the_knee_of_a_server_is_its_capacity() {
    let stage = Stage::new();
    if !stage.can_record() {
        return;
    }
    // 8 workers of 5 ms each: 1,600 requests a second, which is none of the rates that are tried.
    let server = workers(8, "0.005");
    let load = "http://{server}:8080/,requests=2000,connections=64";
    let sweep =
        ["sweep", "--json", "--link", "mtu=1500", "--server", &server, "--load", load, "--vary", "rate=500..3500:300"];
    let found = stage.run(&sweep).answered().json();
    println!("{:#}", found["knee"]);
    let knee = found["knee"]["at"].as_f64().unwrap_or_else(|| panic!("{found:#}"));
    assert!((1520.0..=1680.0).contains(&knee), "{found:#}");
}

#[test]
fn what_cannot_be_loaded_is_an_error_of_three_lines() {
    let stage = Stage::new();
    std::fs::write(stage.path("nothing.csv"), "no log\n").expect("written");
    let errors = [
        vec!["load", "http://127.0.0.1:1/", "http://127.0.0.1:2/"],
        vec!["load", "--cacert", "missing.pem", "https://localhost:1/"],
        vec!["load", "--header", "no colon", "http://127.0.0.1:1/"],
        vec!["load", "--method", "G T", "http://127.0.0.1:1/"],
        vec!["load", "ftp://127.0.0.1/"],
        vec!["load", "--body", "", "tcp://127.0.0.1:1"],
        vec!["load", "--body", "@missing", "http://127.0.0.1:1/"],
        vec!["load", "-o", "page.pdf", "http://127.0.0.1:1/"],
        vec!["load", "--merge", "missing.csv"],
        vec!["load", "--merge", "nothing.csv"],
        vec!["load", "--replay", "missing.log", "http://127.0.0.1:1/"],
        vec!["load", "--replay", "nothing.csv", "http://127.0.0.1:1/"],
        vec!["load", "--replay", "nothing.csv", "gopher://127.0.0.1:1/"],
        vec!["run", "--load", "http://127.0.0.1:1/,rte=5"],
        vec!["run", "--load", "http://127.0.0.1:1/", "--", "true"],
        vec!["compare", "--load", "http://127.0.0.1:1/", "--", "true"],
        vec!["sweep", "--load", "http://127.0.0.1:1/", "--vary", "rate=fast,slow"],
        vec!["sweep", "--load", "http://127.0.0.1:1/", "--vary", "size=1,2"],
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
