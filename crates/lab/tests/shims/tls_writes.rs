//! `coalesce-tls-writes` in a real client of OpenSSL: fewer records, and not a byte lost, doubled or out of order.

use crate::preload::{Preloaded, python, text_of};
use crate::tls::{make_certificate, script};
use lab::intervention_counters::ShimCounts;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

const REQUESTS: u64 = 20;
/// What `records.py` makes of a request: lines of 40 bytes and one that ends it.
const PIECES: u64 = 51;

/// What came of it: records in which the server got the requests, the bytes of them, and what the shim counted.
struct Sent {
    records: u64,
    text: Vec<u8>,
    counts: ShimCounts,
}

fn send(parameter: &str, how: &str) -> Sent {
    let folder = tempfile::tempdir().expect("a folder");
    make_certificate(&folder.path().join("certificate.pem"), &folder.path().join("key.pem"));
    let preloaded = Preloaded::new(&[("coalesce-tls-writes", parameter)]);
    let mut command = Command::new(python());
    command.arg(script("records.py")).arg("server").arg(folder.path()).stdout(Stdio::piped());
    let mut server = command.spawn().expect("the server starts");
    let mut printed = BufReader::new(server.stdout.take().expect("its output")).lines();
    let port = printed.next().expect("a line").expect("its port");
    let mut client = preloaded.command(python());
    client.arg(script("records.py")).args(["client", &port]).arg(folder.path()).args([&REQUESTS.to_string(), how]);
    text_of(&mut client);
    let last = printed.next().expect("a line").expect("what it got");
    assert!(server.wait().expect("it ends").success());
    let records = last.split(' ').next().expect("a number").parse().expect("the records");
    let text = std::fs::read(folder.path().join("text")).expect("what it got");
    Sent { records, text, counts: preloaded.counts("coalesce-tls-writes") }
}

#[test]
fn the_lines_of_a_request_leave_as_one_record() {
    let sent = send("on", "lines");
    // Beside the requests the server counts what closes the connection, if anything.
    assert!((REQUESTS..=2 * REQUESTS).contains(&sent.records), "{}", sent.records);
    assert_eq!((sent.counts.seen, sent.counts.changed), (REQUESTS * PIECES, REQUESTS * (PIECES - 1)));
}

#[test]
fn an_inert_shim_leaves_every_line_a_record() {
    let sent = send("inert", "lines");
    assert!(sent.records >= REQUESTS * PIECES, "{}", sent.records);
    assert_eq!((sent.counts.seen, sent.counts.changed), (0, 0));
}

#[test]
fn not_a_byte_is_lost_doubled_or_out_of_order() {
    for how in ["lines", "mixed", "threads", "leave"] {
        let (held, plain) = (send("on", how), send("inert", how));
        assert!(held.text == plain.text, "{how}: {} and {} bytes", held.text.len(), plain.text.len());
        assert!(held.records < plain.records / 2, "{how}: {} and {} records", held.records, plain.records);
    }
}
