//! Exports of a recorded run, read back by the programs that they are for.

use crate::stage::{Stage, client, free_port, server, shell};
use serde_json::Value;
use std::process::Command;
use testing::skip;

/// A case of a client and a server that talk over the loopback; none where this machine does not record.
fn recorded(stage: &Stage) -> Option<Value> {
    if !stage.can_record() {
        return None;
    }
    let port = free_port();
    let [python, c, script] = client(port);
    let serve = server(stage.path(".").as_path(), port);
    let arguments = ["run", "--json", "--no-prove", "-o", "case", "--server", &serve, "--", &python, &c, &script];
    Some(stage.run(&[&arguments[..], &["{server}"]].concat()).answered().json())
}

/// Whether a program is installed; where not, says that a test is cut short.
fn has(program: &str) -> bool {
    let found = !shell(&format!("command -v {program} || true")).is_empty();
    if !found {
        skip(&format!("{program} is not installed"));
    }
    found
}

fn tshark(stage: &Stage, arguments: &[&str]) -> String {
    let mut command = Command::new("tshark");
    command.args(["-r", "out.pcapng"]).args(arguments).current_dir(stage.path("."));
    let output = command.output().expect("tshark");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn segments(stage: &Stage) -> Vec<case::tables::Segment> {
    case::Case::open(&stage.path("case")).expect("a case").read().expect("segments")
}

#[test]
fn tshark_reads_every_segment_with_its_process_and_finds_no_error() {
    let stage = Stage::new();
    if recorded(&stage).is_none() || !has("tshark") {
        return;
    }
    stage.run(&["report", "case", "--format", "pcapng", "-o", "out.pcapng"]).answered();
    let fields = ["-T", "fields", "-e", "frame.comment", "-e", "tcp.len", "-e", "tcp.seq_raw", "-e", "tcp.dstport"];
    let packets = tshark(&stage, &fields);
    let mut expected = segments(&stage);
    expected.sort_by_key(|segment| segment.time);
    assert!(expected.len() > 8, "{expected:?}");
    assert_eq!(packets.lines().count(), expected.len());
    for (line, segment) in packets.lines().zip(&expected) {
        let [comment, length, sequence, _port] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        assert!(comment.contains("client python3") || comment.contains("server python3"), "{line}");
        assert_eq!((length, sequence), (&*segment.payload.to_string(), &*segment.sequence.to_string()));
    }
    assert!(packets.contains("last sendto of 9 bytes at "), "{packets}");
    let whole = tshark(&stage, &["-V"]);
    assert!(!whole.contains("Malformed"), "{whole}");
    let expert = tshark(&stage, &["-q", "-z", "expert"]);
    assert!(!expert.contains("Errors"), "{expert}");
}

#[test]
fn a_capture_knows_its_ports_and_its_ends() {
    let stage = Stage::new();
    if recorded(&stage).is_none() || !has("tshark") {
        return;
    }
    stage.run(&["report", "case", "--format", "pcapng", "-o", "out.pcapng"]).answered();
    let port = tshark(&stage, &["-Y", "tcp.flags.syn == 1 && tcp.flags.ack == 0", "-T", "fields", "-e", "tcp.dstport"]);
    let port = port.lines().next().expect("a connection").to_string();
    let other = tshark(&stage, &["-Y", &format!("tcp.port != {port}")]);
    assert_eq!(other, "", "all packets are of one server");
    let names = tshark(&stage, &["-T", "fields", "-e", "frame.interface_name"]);
    assert!(names.contains("client-") && names.contains("server-"), "{names}");
}

#[test]
fn a_profile_is_written_whole_beside_its_place_and_moved_there() {
    let stage = Stage::new();
    if recorded(&stage).is_none() {
        return;
    }
    std::fs::write(stage.path("out.json"), "old").expect("written");
    stage.run(&["report", "case", "--format", "firefox-profile", "-o", "out.json"]).answered();
    let text = std::fs::read_to_string(stage.path("out.json")).expect("a file");
    let profile = serde_json::from_str::<Value>(&text).expect("JSON");
    let threads = profile["threads"].as_array().expect("threads");
    assert!(
        threads.iter().any(|thread| thread["processName"] == "python3 (client)"
            || thread["processName"].as_str().is_some_and(|name| name.ends_with("(client)"))),
        "{threads:?}"
    );
    let markers = threads.iter().map(|thread| thread["markers"]["length"].as_u64().expect("a length")).sum::<u64>();
    assert!(markers > 0);
    assert_eq!(shell(&format!("ls -A {} | grep -c '^.whyslow-' || true", stage.path(".").display())), "0\n");
}

#[test]
fn markdown_has_the_ledger_and_the_command() {
    let stage = Stage::new();
    if recorded(&stage).is_none() {
        return;
    }
    let text = stage.run(&["report", "case", "--format", "markdown"]).answered().stdout;
    assert!(text.contains("### Where the time went") && text.contains("whyslow run --server "), "{text}");
}

#[test]
fn what_cannot_be_exported_is_an_error_that_says_what_can() {
    let stage = Stage::new();
    if recorded(&stage).is_none() {
        return;
    }
    let twice = stage.run(&["report", "case", "--json", "--format", "html"]);
    assert!(twice.error()[0].contains("conflicting output formats"));
    let nowhere = stage.run(&["report", "case", "--format", "markdown", "-o", "no/such/folder/x"]);
    assert!(nowhere.error()[2].contains("mkdir -p no/such/folder"), "{nowhere:?}");
    // A comparison is a case of cases.
    std::fs::create_dir(stage.path("both")).expect("made");
    let of = |name: &str| stage.path("both").join(name);
    shell(&format!(
        "cp -r {}/. {} && cp -r {0} {}",
        stage.path("case").display(),
        stage.path("both").display(),
        of("a-1").display()
    ));
    let side = case::Side { cases: vec!["/elsewhere/both/a-1".into()], ..case::Side::default() };
    let comparison = case::Comparison { a: side, ..case::Comparison::default() };
    std::fs::write(of("comparison.json"), serde_json::to_string(&comparison).expect("text")).expect("written");
    let several = stage.run(&["report", "both", "--format", "pcapng", "-o", "x"]);
    assert!(several.error()[2].contains("whyslow report both/a-1 --format pcapng"), "{several:?}");
}
