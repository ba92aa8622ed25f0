//! `whyslow pcap`: captures that tcpdump made of the story nagle, and what is none.

use crate::stage::Stage;
use std::path::Path;

fn fixture(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../import/fixtures").join(name);
    file.canonicalize().expect("a fixture").display().to_string()
}

/// What is said of a capture.
fn said(stage: &Stage, name: &str) -> serde_json::Value {
    let ran = stage.run(&["pcap", &fixture(name), "--json", "-o", name]);
    let said = ran.json();
    let found = said["findings"].as_array().is_some_and(|found| !found.is_empty());
    assert_eq!(ran.code, i32::from(found), "{ran:?}");
    said
}

#[test]
fn the_stall_of_the_nagle_capture_is_named_with_its_length_from_either_end() {
    let stage = Stage::new();
    for (name, requests, title) in [
        ("nagle-slow-client.pcap", 40, "Nagle's algorithm and delayed ACKs hold the client's writes"),
        ("nagle-far-server.pcap", 20, "The client holds the rest of its requests until the server's delayed ACK"),
    ] {
        let said = said(&stage, name);
        let finding = &said["findings"][0];
        assert_eq!(finding["name"], "nagle-delayed-ack", "{said:#}");
        assert_eq!(finding["status"], "suspected");
        assert!(finding["title"].as_str().unwrap_or_default().starts_with(title), "{}", finding["title"]);
        let length = finding["cost"]["ns_per_exchange"].as_u64().unwrap_or_default();
        assert!((35_000_000..50_000_000).contains(&length), "{length}");
        assert!(finding["cost"]["share_of_wall"].as_f64().unwrap_or_default() > 0.9, "{finding:#}");
        // The first one falls to the quick ACKs of a new connection.
        assert_eq!(finding["cost"]["affected"], requests - 1);
        let accounts = said["ledger"]["accounts"].as_array().expect("accounts");
        let sum: u64 = accounts.iter().filter_map(|one| one["ns"].as_u64()).sum();
        assert_eq!(Some(sum), said["ledger"]["total"].as_u64());
        assert!(said["not_looked_for"].to_string().contains("wire-only"));
        // What threads did, or waited for, no packet tells.
        assert!(said["queue"].is_null() && said["waits"].is_null(), "{said:#}");
        assert!(said["proof"]["not_tried"][0].as_str().is_some_and(|why| why.contains("cannot be run again")));
    }
}

#[test]
fn the_cured_twin_of_the_nagle_capture_is_silent() {
    let stage = Stage::new();
    let said = said(&stage, "nagle-fixed-client.pcap");
    assert_eq!((said["verdict"].as_str(), said["exchanges"].as_u64()), (Some("none"), Some(40)), "{said:#}");
}

#[test]
fn a_case_of_a_capture_is_reported_and_exported_like_any_other() {
    let stage = Stage::new();
    assert_eq!(stage.run(&["pcap", &fixture("nagle-slow-client.pcap"), "-o", "case"]).code, 1);
    let page = std::fs::read_to_string(stage.path("case/report.html")).expect("a page");
    assert!(page.contains("Suspected: nagle-delayed-ack") && page.contains("a capture shows the wire only"));
    let again = stage.run(&["report", "case"]);
    assert!(again.stdout.contains("hold the client's writes"), "{again:?}");
    assert_eq!(stage.run(&["report", "case", "--format", "pcapng", "-o", "again.pcapng"]).code, 0);
    // What was exported has no payload, and its segments are the same.
    let stalls = stage.run(&["pcap", "again.pcapng", "--json", "-o", "again"]).json();
    assert_eq!(stalls["findings"][0]["name"], "nagle-delayed-ack", "{stalls:#}");
}

#[test]
fn what_is_no_capture_is_an_error_that_says_what_to_try_and_leaves_nothing_behind() {
    let stage = Stage::new();
    std::fs::write(stage.path("notes.txt"), "not packets").expect("written");
    let ran = stage.run(&["pcap", "notes.txt", "-o", "case"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("neither pcap nor pcapng") && ran.stderr.contains("file notes.txt"), "{ran:?}");
    assert!(!stage.path("case").exists());
    // A head and no packet.
    let whole = std::fs::read(fixture("nagle-slow-client.pcap")).expect("a fixture");
    std::fs::write(stage.path("empty.pcap"), &whole[..24]).expect("written");
    let ran = stage.run(&["pcap", "empty.pcap", "-o", "case"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("holds no packets"), "{ran:?}");
    assert!(!stage.path("case").exists());
}
