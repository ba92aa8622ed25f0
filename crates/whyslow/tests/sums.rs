//! Calls are added up in the kernel: to what their rows say where there are rows of all, and to the end where there are not.

use crate::stage::Stage;
use case::facts::WholeRun;
use case::{Answer, Case, Recording, syscall};
use std::collections::BTreeMap;
use testing::{beside_others, is_root};

/// Reads, and as many writes.
const BLOCKS: u64 = 60_000;

/// What was said and recorded of copying byte by byte; none where this machine does not let us record.
fn copied(stage: &Stage, events: &str) -> Option<(Answer, Recording)> {
    let _turn = beside_others();
    if !is_root() || !stage.can_record() {
        return None;
    }
    let count = format!("count={BLOCKS}");
    let copy = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "status=none", &count];
    let ran =
        stage.run(&[&["run", "--json", "--no-prove", "-o", "case", "--events", events, "--"][..], &copy].concat());
    let ran = ran.answered();
    let answer = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let case = Case::open(&stage.path("case")).expect("a case");
    Some((answer, Recording::load(&case).expect("loaded")))
}

#[test]
fn sums_are_what_the_rows_add_up_to() {
    let stage = Stage::new();
    let Some((answer, recording)) = copied(&stage, "10000000") else { return };
    // A stack that was not walked to its end is no lost call.
    let lost = recording.losses.iter().filter(|loss| loss.table == "calls").count();
    assert_eq!((answer.whole_run, lost), (None, 0));
    let mut rows: BTreeMap<(u32, u16), [u64; 4]> = BTreeMap::new();
    for call in recording.calls.iter().filter(|call| call.finished) {
        let [calls, failed, time, blocked] = rows.entry((call.pid, call.number)).or_default();
        (*calls, *failed) = (*calls + 1, *failed + u64::from(call.result < 0));
        (*time, *blocked) = (*time + call.duration.0, *blocked + call.blocked.0);
    }
    let sums = recording.call_sums.iter();
    let sums: BTreeMap<_, _> =
        sums.map(|sum| ((sum.pid, sum.number), [sum.calls, sum.failed, sum.time.0, sum.blocked.0])).collect();
    assert_eq!(sums, rows);
    let written = recording.call_sums.iter().find(|sum| syscall::name(sum.number) == "write").expect("writes");
    assert_eq!((written.calls, written.bytes), (BLOCKS, BLOCKS));
}

#[test]
fn a_run_with_more_events_than_are_kept_is_counted_to_its_end() {
    let stage = Stage::new();
    let Some((answer, recording)) = copied(&stage, "20000") else { return };
    let WholeRun { wall_ns, rows_ns, calls, calls_with_rows, on_cpu_ns, most_time, .. } =
        answer.whole_run.expect("rows end before the run does");
    assert!(rows_ns < wall_ns && (5_000..=20_000).contains(&calls_with_rows), "{rows_ns} {wall_ns} {calls_with_rows}");
    assert!(calls > 2 * BLOCKS && on_cpu_ns > 0, "{calls} {on_cpu_ns}");
    let written = most_time.iter().find(|kind| kind.call == "write").expect("writes");
    assert_eq!((written.calls, written.bytes), (BLOCKS, BLOCKS));
    // Whatever has no row is a loss, whether it was made and dropped or not made at all.
    let beyond = recording.losses.iter().filter(|loss| loss.reason == "event limit" && loss.table == "calls");
    assert_eq!(beyond.map(|loss| loss.count).sum::<u64>() + calls_with_rows, calls);
    let text = stage.run(&["report", "case"]).answered().stdout;
    assert!(text.contains("Counted over the whole run") && text.contains("write: 60,000 calls, 60 kB"), "{text}");
}
