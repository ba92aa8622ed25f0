//! Loads against small servers in this process, good and bad.

use super::*;
use crate::plan::tests::plan;
use crate::replay::{Recorded, Replay};
use case::LoadFault;
use farm::bad::{self, says, server};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Answers each request with the same bytes.
fn answering(mut stream: TcpStream, answer: &[u8]) {
    let mut bytes = [0; 4096];
    while stream.read(&mut bytes).is_ok_and(|count| count > 0) && stream.write_all(answer).is_ok() {}
}

fn load(plan: &Plan) -> Load {
    let watch = &mut |_: &mut dyn FnMut() -> Live| {
        thread::sleep(Duration::from_millis(10));
        true
    };
    run(plan, watch).expect("a load").load
}

/// Longer than a crowded machine makes any request wait.
const PATIENCE: Duration = Duration::from_secs(20);

fn at(port: u16, scheme: &str) -> Plan {
    plan(&format!("{scheme}://127.0.0.1:{port}/"))
}

#[test]
fn a_closed_load_counts_what_the_server_has_answered() {
    let port = server(|stream| answering(stream, ANSWER));
    // Long enough on a busy machine as well.
    let plan =
        Plan { connections: 3, threads: 2, duration: Duration::from_secs(1), timeout: PATIENCE, ..at(port, "http") };
    let found = load(&plan);
    assert!(found.answered > 100 && found.failed == 0, "{found:?}");
    assert_eq!((found.requests, found.opened), (found.answered, 3));
    assert_eq!(found.received_bytes, found.answered * ANSWER.len() as u64);
    assert_eq!(found.statuses.first().map(|one| (one.status, one.count)), Some((200, found.answered)));
    assert_eq!((found.latency.count, found.uncorrected), (found.answered, None));
}

#[test]
fn a_load_ends_after_as_many_requests_as_asked_for_closed_or_open() {
    let port = server(|stream| answering(stream, ANSWER));
    let long =
        Plan { duration: Duration::from_mins(1), connections: 3, threads: 2, timeout: PATIENCE, ..at(port, "http") };
    for arrival in [Arrival::Closed, Arrival::Constant(1000.0), Arrival::Poisson(1000.0)] {
        let found = load(&Plan { requests: Some(101), arrival, ..long.clone() });
        assert_eq!((found.requests, found.answered, found.unsent), (101, 101, 0), "{found:?}");
        assert!(found.wall_ns < 20_000_000_000, "{found:?}");
    }
}

#[test]
fn what_was_recorded_is_asked_for_again_with_its_methods() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = asked.clone();
    let port = server(move |mut stream| {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut bytes) {
            let head = String::from_utf8_lossy(&bytes[..count]).lines().next().unwrap_or_default().to_string();
            // An answer to HEAD has the head of the other, and no body.
            let answer = if head.starts_with("HEAD") { &ANSWER[..ANSWER.len() - 2] } else { ANSWER };
            seen.lock().expect("held").push(head);
            if stream.write_all(answer).is_err() {
                break;
            }
        }
    });
    let recorded = |method: &str, path: &str| Recorded { method: method.into(), path: path.into() };
    let arrivals = [(0, 1), (10, 0), (20, 1)].map(|(at, target)| (Duration::from_millis(at), target)).to_vec();
    let targets = vec![recorded("GET", "/a?b"), recorded("HEAD", "/c")];
    let replay = Replay { targets, arrivals, speed: 1.0, ..Replay::default() };
    let plan =
        Plan { arrival: Arrival::Replay(Arc::new(replay)), duration: Duration::from_mins(1), ..at(port, "http") };
    let found = load(&plan);
    assert_eq!((found.answered, found.failed), (3, 0), "{found:?}");
    let asked = asked.lock().expect("held");
    assert_eq!(*asked, ["HEAD /c HTTP/1.1", "GET /a?b HTTP/1.1", "HEAD /c HTTP/1.1"]);
}

#[test]
fn connections_end_after_as_many_requests_as_asked_for() {
    let port = server(|stream| answering(stream, ANSWER));
    let found = load(&Plan { requests_each: Some(5), ..at(port, "http") });
    assert_eq!((found.opened, found.failed), (found.answered.div_ceil(5), 0), "{found:?}");
}

#[test]
fn an_open_load_keeps_its_rate() {
    let port = server(|stream| answering(stream, ANSWER));
    let found = load(&Plan { arrival: Arrival::Constant(500.0), connections: 4, ..at(port, "http") });
    assert_eq!((found.answered, found.failed, found.unsent), (50, 0, 0), "{found:?}");
}

#[test]
fn a_stall_is_seen_where_time_counts_from_the_intended_start() {
    // Stands still for the first 200 ms of every second, as a collector of garbage does.
    let begun = Instant::now();
    let port = server(move |mut stream| {
        let mut bytes = [0; 4096];
        while stream.read(&mut bytes).is_ok_and(|count| count > 0) {
            let into = begun.elapsed().as_millis() as u64 % 1000;
            thread::sleep(Duration::from_millis(200u64.saturating_sub(into)));
            if stream.write_all(ANSWER).is_err() {
                break;
            }
        }
    });
    let found = load(&Plan {
        arrival: Arrival::Constant(1000.0),
        duration: Duration::from_secs(2),
        connections: 4,
        timeout: Duration::from_secs(5),
        ..at(port, "http")
    });
    let uncorrected = found.uncorrected.expect("an open load has it");
    assert_eq!((found.failed, found.unsent), (0, 0));
    assert!(found.latency.p99_ns > 100_000_000, "{:?}", found.latency);
    assert!(uncorrected.p99_ns * 3 < found.latency.p99_ns, "{uncorrected:?}, {:?}", found.latency);
}

#[test]
fn an_echo_is_answered_and_a_wrong_one_is_named() {
    let right = server(|mut stream| {
        let mut bytes = [0; 5];
        while stream.read_exact(&mut bytes).is_ok() && stream.write_all(&bytes).is_ok() {}
    });
    // Long enough on a busy machine as well.
    let duration = Duration::from_secs(1);
    let echo = |port| load(&Plan { body: b"hello".to_vec(), pipeline: 3, duration, ..at(port, "tcp") });
    let found = echo(right);
    assert!(found.answered > 10 && found.failed == 0, "{found:?}");
    let wrong = echo(server(|stream| answering(stream, b"other")));
    assert_eq!(wrong.errors.first().map(|one| one.fault), Some(LoadFault::WrongEcho));
}

#[test]
fn gopher_ends_with_the_connection() {
    let port = server(|mut stream| {
        let mut bytes = [0; 64];
        let _ = stream.read(&mut bytes).and_then(|_| stream.write_all(b"iHello\r\n.\r\n"));
    });
    let found = load(&at(port, "gopher"));
    assert!(found.answered > 1 && found.failed == 0 && found.opened == found.answered, "{found:?}");
}

#[test]
fn each_kind_of_bad_server_is_named_and_none_hangs() {
    let drips = server(|mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nX-Slow: ");
        while stream.write_all(b"x").is_ok() {
            thread::sleep(Duration::from_millis(50));
        }
    });
    let endless = server(|mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        while stream.write_all(b"X-More: and more and more and more\r\n").is_ok() {}
    });
    let body = server(|mut stream| {
        let _ = stream.read(&mut [0; 4096]).and_then(|_| stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n"));
        while stream.write_all(&[b'x'; 4096]).is_ok() {}
    });
    let half_closed = server(|stream| {
        let _ = stream.shutdown(Shutdown::Write);
        thread::sleep(Duration::from_millis(100));
    });
    let plain = [
        (bad::closed(), LoadFault::Refused),
        (says(""), LoadFault::ClosedEarly),
        (half_closed, LoadFault::ClosedEarly),
        (says("SSH-2.0-x\r\n"), LoadFault::BadStatusLine),
        (says("HTTP/1.1 2"), LoadFault::TruncatedHead),
        (says("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), LoadFault::TruncatedBody),
        (says("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"), LoadFault::BadHeader),
        (says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), LoadFault::BadChunk),
        (says("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nmore"), LoadFault::Unasked),
        (bad::resets(), LoadFault::Reset),
        (bad::silent(), LoadFault::TimedOut),
        (drips, LoadFault::TimedOut),
        (body, LoadFault::TimedOut),
        (endless, LoadFault::HeadTooLong),
    ];
    let cases = plain.into_iter().map(|(port, fault)| ("http", port, fault)).chain([
        ("https", says("HTTP/1.1 400 Bad Request\r\n\r\n"), LoadFault::TlsProtocol),
        ("https", says(""), LoadFault::HandshakeClosed),
        ("https", bad::silent(), LoadFault::HandshakeTimedOut),
        // A handshake_failure, as TLS 1.2 writes it.
        ("https", says(b"\x15\x03\x03\x00\x02\x02\x28".as_slice()), LoadFault::TlsAlert),
    ]);
    for (scheme, port, fault) in cases {
        let begun = Instant::now();
        // Where a time-out is not what is expected, a machine that stands still for a moment must not make it one.
        let times_out = matches!(fault, LoadFault::TimedOut | LoadFault::HandshakeTimedOut);
        let timeout = if times_out { Duration::from_millis(150) } else { Duration::from_secs(5) };
        let found = load(&Plan { timeout, ..at(port, scheme) });
        assert!(begun.elapsed() < Duration::from_secs(10), "{fault:?} took {:?}", begun.elapsed());
        assert!(found.errors.iter().any(|one| one.fault == fault), "{scheme} {fault:?}: {found:?}");
    }
}

#[test]
fn urls_of_several_servers_are_refused() {
    let mut plan = plan("http://127.0.0.1:1/");
    plan.urls.push("http://127.0.0.1:2/".parse().expect("a URL"));
    assert!(matches!(run(&plan, &mut |_| true), Err(LoadFailure::SeveralServers)));
}
