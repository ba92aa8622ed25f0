use super::*;
use crate::World;
use crate::interventions::Request;
use crate::interventions::tests::{finding_at, request};
use crate::treatment::Treatment;
use case::Nanos;
use case::Recording;
use case::tables::{Call, Connection, Handshake, HttpMessage, Location, StackFrame, direction, transport};

/// Ten calls of an end on ten connections to 10.0.0.2, and the heads of what is asked there.
fn asking(end: End, target: &str, is_compressed: bool) -> (Recording, case::Finding) {
    let (mut recording, mut finding) = finding_at(end);
    let pid = recording.calls[0].pid;
    recording.calls.clear();
    for id in 1..=10 {
        let start = Nanos(u64::from(id) * 1000);
        recording.calls.push(Call { pid, connection: id, start, stack: 1, ..Call::default() });
        let (remote_address, remote_port) = ("10.0.0.2".to_string(), 80);
        let row = Connection { id, pid, remote_address, remote_port, role: role::CLIENT, ..Connection::default() };
        recording.connections.push(Connection { transport: transport::TCP, ..row });
        let (direction, target) = (direction::OUT, target.to_string());
        let head =
            HttpMessage { time: start, connection: id, direction, target, is_compressed, ..HttpMessage::default() };
        recording.http_messages.push(head);
    }
    finding.evidence.rows = (0..10).collect();
    (recording, finding)
}

/// The proxies that an intervention asks for, in words; why it does not, without its end.
fn proxies(
    one: &Intervention,
    id: &str,
    (recording, finding): &(Recording, case::Finding),
) -> Result<Vec<String>, String> {
    let (world, mut treatment) = (World::default(), Treatment::default());
    let finding = case::Finding { id: id.to_string(), ..finding.clone() };
    let asked = Request { recording: Some(recording), finding: Some(&finding), ..request(&world) };
    (one.treat)(&asked, &mut treatment).map_err(|NotHere(why)| why)?;
    let words = |one: &Proxy| format!("{} {} {} {:?}", one.end.word(), one.listens_on, one.before, one.tasks);
    Ok(treatment.proxies.iter().map(words).collect())
}

/// Tests of what is asked of nginx, which is not everywhere.
fn has_nginx() -> bool {
    if record::nginx().is_none() {
        testing::skip("nginx is not installed");
    }
    record::nginx().is_some()
}

#[test]
fn requests_that_hold_up_others_are_told_by_their_path() {
    let path = |path: &str| match answered("GET", path) {
        Some(ProxyTask::Answer { path, .. }) => path,
        _ => String::new(),
    };
    assert_eq!(path("/users/:n/a.json"), "^/users/[0-9]+/a[.]json$");
    assert_eq!((path("/x\"{}"), path("/long..."), path("*")), Default::default());
    assert_eq!(answered("GET;", "/"), None);
}

#[test]
fn who_asks_has_the_proxy_beside_itself() {
    if !has_nginx() {
        return;
    }
    let by = |end| proxies(&CACHING_PROXY, "P71", &asking(end, "/rates", false)).expect("tried").join(",");
    assert_eq!(by(End::Client), r#"client 127.0.0.1 10.0.0.2:80 {Cache("/rates")}"#);
    assert_eq!(by(End::Server), r#"server 127.0.0.1 10.0.0.2:80 {Cache("/rates")}"#);
    let quoted = asking(End::Server, "/rates;evil{}", false);
    assert!(proxies(&CACHING_PROXY, "P71", &quoted).is_err_and(|why| why.contains("plain")));
}

#[test]
fn compression_takes_a_proxy_at_each_end_where_the_client_does_not_ask_for_it() {
    if !has_nginx() {
        return;
    }
    let of = |asks| proxies(&COMPRESSING_PROXY, "P70", &asking(End::Client, "/", asks)).expect("tried");
    assert_eq!(of(true), ["server 10.0.0.2 10.0.0.2:80 {Compress}"]);
    assert_eq!(
        of(false),
        ["client 127.0.0.1 10.0.0.2:80 {AskForCompressed}", "server 10.0.0.2 10.0.0.2:80 {Compress}"]
    );
}

#[test]
fn a_pool_is_tried_where_the_shim_does_not_reach_and_never_under_tls() {
    if !has_nginx() {
        return;
    }
    let of = |id, case: &(Recording, case::Finding)| proxies(&POOLING_PROXY, id, case);
    let one_process = asking(End::Client, "/", false);
    assert!(of("P07", &one_process).is_ok(), "its calls come from no C library");
    let mut by_libc = asking(End::Client, "/", false);
    by_libc.0.locations = vec![Location { id: 7, is_libc: true, ..Location::default() }];
    by_libc.0.stacks = vec![StackFrame { stack: 1, location: 7, ..StackFrame::default() }];
    assert!(of("P07", &by_libc).is_err_and(|why| why.contains("kept-connections")));
    let mut kept = asking(End::Client, "/", false);
    kept.0.http_messages.extend(kept.0.http_messages.clone());
    assert!(of("P07", &kept).is_err_and(|why| why.contains("share one")));
    assert!(of("P17", &by_libc).is_ok(), "no shim goes back to a connection that is forgotten");
    let mut encrypted = asking(End::Client, "/", false);
    encrypted.0.handshakes = vec![Handshake { connection: 3, ..Handshake::default() }];
    assert!(of("P07", &encrypted).is_err_and(|why| why.contains("TLS")));
    let mut other = asking(End::Client, "/", false);
    other.0.http_messages.clear();
    assert!(of("P07", &other).is_err_and(|why| why.contains("HTTP/1")));
}
