//! Facts of the environment.

use super::*;
use crate::fixture::{CLIENT, Fixture};
use case::tables::Counter;

fn value(facts: &[Fact], group: &str, name: &str) -> String {
    let fact = facts.iter().find(|fact| fact.group == group && fact.name == name);
    fact.map_or_else(String::new, |fact| fact.value.clone())
}

#[test]
fn the_machine_the_programs_and_the_recording_are_described() {
    let mut fixture = Fixture::new();
    fixture.stack(1, &["libssl.so.1.1!SSL_read", "libpython3.11.so.1.0!call", "client!main"]);
    let mut recording = fixture.end();
    recording.manifest.host.kernel = "6.1.0".to_string();
    recording.manifest.host.memory_bytes = 8 << 30;
    recording.manifest.started_unix_seconds = 951_827_696;
    recording.processes[0].command = "client --fast".to_string();
    let facts = facts(&recording);
    assert_eq!(value(&facts, "Machine", "kernel"), "6.1.0");
    assert_eq!(value(&facts, "Machine", "memory"), "8.0 GiB");
    assert_eq!(value(&facts, "Programs", "/usr/bin/client"), "client; 1 process; client --fast");
    assert_eq!(value(&facts, "Libraries", "libssl.so.1.1"), "version 1.1; /usr/lib/libssl.so.1.1");
    assert_eq!(value(&facts, "Recording", "began"), "2000-02-29 12:34:56 UTC");
    assert_eq!(value(&facts, "Recording", "the client"), "exit status 0");
    assert!(facts.iter().all(|fact| !fact.value.is_empty() && fact.name != "distribution"), "{facts:?}");
}

#[test]
fn many_processes_of_one_program_are_one_row_and_our_own_gate_is_none() {
    let mut fixture = Fixture::new();
    fixture.process(CLIENT, "client");
    (0..500).for_each(|number| fixture.process(1_000 + number, "other"));
    fixture.recording.processes[0].executable = "/usr/bin/gate".to_string();
    fixture.recording.manifest.subject.pid = CLIENT;
    let facts = facts(&fixture.end());
    assert_eq!(value(&facts, "Programs", "/usr/bin/gate"), "");
    assert_eq!(value(&facts, "Programs", "/usr/bin/client"), "client; 1 process");
    assert_eq!(value(&facts, "Programs", "/usr/bin/other"), "other; 500 processes");
}

#[test]
fn counters_that_moved_are_shown_with_their_difference_up_to_a_limit() {
    let mut recording = Recording::default();
    for number in 0..200u64 {
        let (scope, name) = ("netns:1".to_string(), format!("Tcp.Counter{number}"));
        recording.counters.push(Counter { scope, name, before: 10, after: 10 + number });
    }
    let facts = facts(&recording);
    assert_eq!(value(&facts, "Kernel counters", "Tcp.Counter199 (netns:1)"), "10 -> 209 (+199)");
    assert_eq!(value(&facts, "Kernel counters", "Tcp.Counter0 (netns:1)"), "");
    assert_eq!(value(&facts, "Kernel counters", "further counters"), (199 - SHOWN).to_string());
}
