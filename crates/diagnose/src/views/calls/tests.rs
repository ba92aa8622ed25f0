//! System calls by kind: bounded, and nothing is lost on the way.

use super::*;
use crate::fixture::{CLIENT, Fixture, READ, SERVER, US, WRITE, keep_alive};
use case::{End, Recording};

fn listed(recording: &Recording) -> Vec<CallView> {
    sheet(&Analysis::new(recording))
}

#[test]
fn calls_are_listed_by_name_by_what_they_are_about_and_by_who_makes_them() {
    let calls = listed(&keep_alive(10, 300 * US).end());
    let of = |call: &str, end: End| {
        let is_it = |row: &&CallView| row.call == call && row.who == Some(Caller::End(end));
        calls.iter().find(is_it).expect("a row")
    };
    let written = of("write", End::Client);
    assert_eq!((written.about.as_str(), written.count, written.bytes), ("tcp socket", 10, 2_000));
    assert!((written.per_exchange - 1.0).abs() < 1e-9);
    assert_eq!(of("write", End::Server).bytes, 10_000);
    let read = of("read", End::Client);
    assert!(read.blocked_ns > 0 && read.blocked_ns < read.total_ns, "{read:?}");
    assert!(calls.is_sorted_by_key(|row| Reverse(row.total_ns)));
}

#[test]
fn what_finds_no_place_is_summed_up_in_the_last_row() {
    let mut fixture = Fixture::new();
    for number in 0..100u32 {
        fixture.path(number + 1, &format!("/folder-{number}/file"));
        fixture.does(CLIENT, u64::from(number + 1) * US, READ, |call| (call.path, call.result) = (number + 1, 7));
    }
    let recording = fixture.end();
    let calls = listed(&recording);
    assert_eq!(calls.len(), SHOWN + 1);
    assert_eq!((calls[0].about.as_str(), calls[0].total_ns), ("/folder-99/file", 100 * US));
    let rest = calls.last().expect("a rest");
    assert_eq!((rest.call.as_str(), rest.count, rest.bytes), ("other calls", 40, 280));
    let total: u64 = recording.calls.iter().map(|call| call.duration.0).sum();
    assert_eq!(calls.iter().map(|row| row.total_ns).sum::<u64>(), total);
    assert!(calls.iter().all(|row| row.per_exchange.is_nan()));
}

#[test]
fn many_files_of_one_folder_are_one_row_and_errors_are_counted() {
    let mut fixture = Fixture::new();
    for number in 1..=20u32 {
        fixture.path(number, &format!("/etc/certificates/{number}"));
        fixture.does(SERVER, US, 257, |call| (call.path, call.result) = (number, if number < 6 { -2 } else { 5 }));
    }
    fixture.does(SERVER, US, WRITE, |call| (call.result, call.finished) = (-11, false));
    let calls = listed(&fixture.end());
    assert_eq!((calls[0].about.as_str(), calls[0].count, calls[0].failed), ("/etc/certificates/*", 20, 5));
    assert_eq!((calls[1].call.as_str(), calls[1].failed), ("write", 0));
}

#[test]
fn without_calls_there_is_no_row() {
    assert_eq!(listed(&Recording::default()), []);
}
