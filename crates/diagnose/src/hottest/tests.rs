use super::*;
use crate::fixture::{CLIENT, Fixture, MS};

/// A run that searches for duplicates and parses for some milliseconds each, then idles.
fn run(searching: u64, parsing: u64, idle: u64) -> Recording {
    let mut fixture = Fixture::new();
    fixture.stack(1, &["libc.so.6!strcmp", "game!find_duplicate", "game!load", "game!main"]);
    fixture.computes(CLIENT, searching * MS, 1);
    fixture.stack(2, &["game!parse", "game!load", "game!main"]);
    fixture.computes(CLIENT, parsing * MS, 2);
    let start = fixture.now;
    fixture.now += idle * MS;
    fixture.off(CLIENT, start, fixture.now);
    let mut recording = fixture.end();
    for row in recording.locations.iter_mut().filter(|row| !row.is_libc) {
        row.module = "/srv/game".to_string();
        row.function_offset = 0x1000 + u64::from(row.id % 100);
    }
    recording.processes[0].executable = "/srv/game".to_string();
    recording
}

#[test]
fn the_innermost_function_that_holds_half_is_taken() {
    let found = hottest(&run(400, 100, 0)).expect("a function");
    assert_eq!((found.function.as_str(), found.module.as_str()), ("find_duplicate", "/srv/game"));
    assert!(found.own && (found.share - 0.8).abs() < 0.01 && found.offset > 0, "{found:?}");
    // Where the work is spread over what a function calls, it is that function.
    let mut recording = run(100, 100, 0);
    let odd = recording.samples.iter_mut().skip(1).step_by(4);
    odd.for_each(|row| row.stack = 0);
    assert_eq!(hottest(&recording).map(|found| found.function), Some("load".to_string()));
}

#[test]
fn a_program_that_mostly_waits_has_none() {
    assert_eq!(hottest(&run(400, 100, 5_000)), None);
}

#[test]
fn neither_main_nor_a_system_library_is_taken() {
    let mut recording = run(400, 0, 0);
    recording.locations.iter_mut().for_each(|row| row.module = "/usr/lib/libgame.so".to_string());
    assert_eq!(hottest(&recording), None);
    let mut recording = run(400, 0, 0);
    recording.stacks.retain(|row| row.stack != 1 || row.depth == 0 || row.depth == 3);
    assert_eq!(hottest(&recording), None);
}

#[test]
fn a_path_as_it_was_typed_is_made_whole() {
    let mut recording = run(400, 100, 0);
    recording.locations.iter_mut().filter(|row| !row.is_libc).for_each(|row| row.module = "./game".to_string());
    let found = hottest(&recording).expect("a function");
    assert!(found.own);
    assert_eq!(found.module, "/srv/game");
}
