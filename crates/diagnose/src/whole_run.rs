//! What was counted of a run whose rows end before it does, or were thinned out.

use crate::windows::Windows;
use case::facts::{CallKindSum, RecordingCost, WholeRun};
use case::{Detail, Recording, syscall};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Kinds of calls that are named.
const MOST_KINDS: usize = 5;

/// What was counted; none where the rows say it all.
pub fn counted(recording: &Recording) -> Option<WholeRun> {
    let manifest = &recording.manifest;
    let counted = manifest.counted?;
    let mut kinds: BTreeMap<u16, CallKindSum> = BTreeMap::new();
    for row in &recording.call_sums {
        let kind = kinds.entry(row.number).or_default();
        kind.calls = kind.calls.saturating_add(row.calls);
        kind.failed = kind.failed.saturating_add(row.failed);
        kind.bytes = kind.bytes.saturating_add(row.bytes);
        kind.time_ns = kind.time_ns.saturating_add(row.time.0);
        kind.blocked_ns = kind.blocked_ns.saturating_add(row.blocked.0);
    }
    let calls = kinds.values().fold(0u64, |calls, kind| calls.saturating_add(kind.calls));
    let named = kinds.into_iter().map(|(number, kind)| CallKindSum { call: syscall::name(number), ..kind });
    let mut most_time: Vec<CallKindSum> = named.collect();
    most_time.sort_by_key(|kind| Reverse(kind.time_ns));
    most_time.truncate(MOST_KINDS);
    let windows = Windows::new(recording);
    let (from, until) = (counted.from.0, manifest.end.0);
    Some(WholeRun {
        wall_ns: (counted.until - counted.from).0,
        rows_ns: windows.length(from, until),
        windows: if windows.is_thinned() { windows.parts(from, until).count() as u64 } else { 0 },
        cost: manifest.detail.map(cost),
        calls,
        calls_with_rows: recording.calls.iter().filter(|call| call.finished).count() as u64,
        threads: counted.threads,
        on_cpu_ns: counted.on_cpu.0,
        run_delay_ns: counted.run_delay.map(|delay| delay.0),
        most_time,
    })
}

fn cost(detail: Detail) -> RecordingCost {
    RecordingCost {
        asked: detail.overhead,
        cpu_ns: (detail.kernel + detail.drain).0,
        on_their_threads_ns: detail.kernel.0,
        programs_cpu_ns: detail.subject.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::tables::{CallSum, Thinned};
    use case::{Counted, Manifest, Nanos};

    #[test]
    fn calls_of_all_processes_are_counted_together() {
        let sum = |pid, number, time| CallSum { pid, number, calls: 2, time: Nanos(time), ..CallSum::default() };
        let counted = Counted { from: Nanos(10), until: Nanos(110), ..Counted::default() };
        let manifest = Manifest { end: Nanos(60), counted: Some(counted), ..Manifest::default() };
        let call_sums = vec![sum(1, 0, 5), sum(1, 1, 8), sum(2, 0, 7)];
        let recording = Recording { manifest, call_sums, ..Recording::default() };
        let run = super::counted(&recording).expect("rows end early");
        assert_eq!((run.wall_ns, run.rows_ns, run.calls), (100, 50, 6));
        let kinds: Vec<_> = run.most_time.iter().map(|kind| (kind.call.as_str(), kind.calls, kind.time_ns)).collect();
        assert_eq!(kinds, [("read", 4, 12), ("write", 2, 8)]);
    }

    #[test]
    fn rows_that_were_thinned_out_cover_their_windows() {
        let thinned = |start, end| Thinned { start: Nanos(start), end: Nanos(end) };
        let counted = Counted { from: Nanos(10), until: Nanos(110), ..Counted::default() };
        let detail = Detail { overhead: 0.02, kernel: Nanos(3), drain: Nanos(2), subject: Nanos(90) };
        let manifest =
            Manifest { end: Nanos(110), counted: Some(counted), detail: Some(detail), ..Manifest::default() };
        let thinned = vec![thinned(20, 50), thinned(60, 110)];
        let run = super::counted(&Recording { manifest, thinned, ..Recording::default() }).expect("thinned out");
        assert_eq!((run.wall_ns, run.rows_ns, run.windows), (100, 20, 2));
        let cost = run.cost.expect("governed");
        assert_eq!((cost.asked, cost.cpu_ns, cost.programs_cpu_ns), (0.02, 5, 90));
    }

    #[test]
    fn where_there_are_rows_of_everything_nothing_is_said() {
        let call_sums = vec![CallSum { calls: 1, ..CallSum::default() }];
        assert_eq!(super::counted(&Recording { call_sums, ..Recording::default() }), None);
    }
}
