//! The rows behind findings: words for whatever a number stands for, in any table.

use super::*;
use crate::fixture::{CLIENT, MS, US, keep_alive};
use crate::tests::answer;
use case::tables::{Counter, Handshake};
use case::{Nanos, Recording, Status, Verdict};

/// What is shown of rows of a table.
fn evidence(recording: &Recording, table: &str, numbers: &[u64]) -> Vec<EvidenceView> {
    let mut answer = answer(recording);
    answer.verdict = Verdict::Suspected;
    answer.findings = vec![finding(table, numbers)];
    rows(&Analysis::new(recording), &answer)
}

fn finding(table: &str, rows: &[u64]) -> Finding {
    Finding {
        id: "P00".to_string(),
        name: "made up".to_string(),
        status: Status::Suspected,
        evidence: case::Evidence { table: table.to_string(), rows: rows.to_vec() },
        ..Finding::default()
    }
}

fn cell<'e>(view: &'e EvidenceView, row: usize, heading: &str) -> &'e str {
    let column = view.columns.iter().position(|column| column == heading).expect("a column");
    &view.rows[row].cells[column]
}

#[test]
fn calls_are_put_into_words() {
    let mut fixture = keep_alive(1, 300 * US);
    fixture.script(5, &["client.py:18:load"]);
    fixture.path(3, "/etc/certificates");
    fixture.does(CLIENT, 7 * US, 257, |call| (call.path, call.result, call.script_stack) = (3, -2, 5));
    let mut recording = fixture.end();
    recording.threads[0].name = "worker".to_string();
    let row = |number: u16| recording.calls.iter().position(|call| call.number == number).expect("a call") as u64;
    let views = evidence(&recording, "calls", &[row(1), row(257), 1_000_000]);
    let view = &views[0];
    assert_eq!((view.finding, view.rows.len(), view.rows[0].row), (0, 2, row(1)));
    assert_eq!(cell(view, 0, "call"), "write");
    assert_eq!(cell(view, 0, "thread"), "worker (100)");
    assert!(cell(view, 0, "on").ends_with("10.0.0.2:80"), "{}", cell(view, 0, "on"));
    assert_eq!(cell(view, 0, "result"), "200 bytes");
    assert_eq!(cell(view, 0, "took"), "5.00 us");
    assert!(cell(view, 0, "time").starts_with("+0.000") && cell(view, 0, "time").ends_with(" s"));
    assert_eq!(cell(view, 1, "on"), "/etc/certificates");
    assert_eq!(cell(view, 1, "result"), "ENOENT");
    assert_eq!(cell(view, 1, "from"), "client.py:18 in load");
}

#[test]
fn a_handshake_is_shown_with_its_names() {
    let mut recording = keep_alive(1, 300 * US).end();
    let (start, end) = (Nanos(2 * MS), Nanos(5 * MS));
    let row = Handshake { start, end, connection: 1, version: 0x0304, cipher: 0x1301, ..Handshake::default() };
    recording.handshakes.push(row);
    let views = evidence(&recording, "handshakes", &[0]);
    assert_eq!(cell(&views[0], 0, "took"), "3.00 ms");
    assert_eq!(cell(&views[0], 0, "version"), "TLS 1.3");
    assert_eq!(cell(&views[0], 0, "resumed"), "no");
    assert!(!views[0].columns.contains(&"server name".to_string()), "a column without a word in it");
}

#[test]
fn any_table_of_a_case_can_be_shown() {
    let mut recording = keep_alive(2, 300 * US).end();
    recording.counters.push(Counter { scope: "cpu".to_string(), name: "user".to_string(), before: 1, after: 9 });
    let view = evidence(&recording, "counters", &[0]).remove(0);
    assert_eq!(view.columns, ["scope", "name", "before", "after"]);
    assert_eq!(view.rows[0].cells, ["cpu", "user", "1", "9"]);
    for (table, ..) in Recording::tables() {
        let has_rows = recording.row(table, 0).is_some();
        let views = evidence(&recording, table, &[0]);
        assert_eq!(views.len(), usize::from(has_rows), "{table}");
        for view in views {
            assert!(view.rows.iter().all(|row| row.cells.len() == view.columns.len()), "{table}");
        }
    }
}

#[test]
fn rows_that_are_not_there_are_left_out() {
    let recording = keep_alive(1, 300 * US).end();
    assert_eq!(evidence(&recording, "calls", &[u64::MAX]), []);
    assert_eq!(evidence(&recording, "no such table", &[0]), []);
}
