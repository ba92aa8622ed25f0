//! What was counted of a run whose rows end before it does, or were thinned out.

use crate::block::{Block, Section};
use crate::part::{Part, under};
use crate::text::{clean, count, counted};
use case::facts::{CallKindSum, RecordingCost, WholeRun};
use case::{Answer, Bytes, Nanos};

pub(crate) const BLOCK: Block = Block::of(Section::Ledger, |document| document.answer().map_or(Vec::new(), parts));

fn parts(answer: &Answer) -> Vec<Part> {
    let Some(run) = &answer.whole_run else { return Vec::new() };
    let kinds = run.most_time.iter().map(kind).collect();
    under("Counted over the whole run", [Part::Paragraph(sentences(run)), Part::List(kinds)])
}

/// What the rows cover, and what there was in all.
fn sentences(run: &WholeRun) -> String {
    let (rows, wall) = (Nanos(run.rows_ns), Nanos(run.wall_ns));
    let waited = match run.run_delay_ns {
        Some(delay) => format!(" and {} of waiting for one", Nanos(delay)),
        None => String::new(),
    };
    let covered = match run.windows {
        0 => format!("the first {rows} of {wall}: after that no single events were kept (--events)"),
        windows => format!(
            "{}, {rows} of {wall} in all: in between, single events were left out to keep the overhead down (--overhead{}). \
             They are a sample, {} of the time; the counts that follow are of all of it",
            if windows == 1 { "one window".to_string() } else { format!("{} windows", count(windows)) },
            run.cost.as_ref().map(|cost| format!(" {}", Percent(cost.asked))).unwrap_or_default(),
            rows.share_of(wall),
        ),
    };
    let cost = run.cost.as_ref().filter(|_| run.windows > 0).map(spent).unwrap_or_default();
    format!(
        "Findings and the ledger are about {covered}. \
         Over all {wall} the kernel counted {}, of which {} have rows, and in {} {} on a CPU{waited}.{cost} Most time went to \
         (waiting is counted, the rest estimated from the calls with rows):",
        counted(run.calls, "syscall"),
        count(run.calls_with_rows),
        counted(run.threads, "thread"),
        Nanos(run.on_cpu_ns),
    )
}

/// What recording took, and of what.
fn spent(cost: &RecordingCost) -> String {
    let (took, programs) = (Nanos(cost.cpu_ns), Nanos(cost.programs_cpu_ns));
    format!(" Recording took {took} of CPU time, {} of the {programs} that the programs took.", took.share_of(programs))
}

/// A share as it is typed, `2` for 2 %.
struct Percent(f64);

impl std::fmt::Display for Percent {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = (self.0 * 100.0 * 1_000.0).round() / 1_000.0;
        write!(out, "{percent}")
    }
}

/// `epoll_wait: 8,000 calls, 12.0 s, of which 11.8 s blocked`
fn kind(kind: &CallKindSum) -> String {
    let bytes = if kind.bytes > 0 { format!(", {}", Bytes(kind.bytes)) } else { String::new() };
    let failed = if kind.failed > 0 { format!(" ({} failed)", count(kind.failed)) } else { String::new() };
    format!(
        "{}: {}{failed}{bytes}, {}, of which {} blocked",
        clean(&kind.call),
        counted(kind.calls, "call"),
        Nanos(kind.time_ns),
        Nanos(kind.blocked_ns)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rows_cover_and_what_was_counted_is_said() {
        let read = CallKindSum {
            call: "read".into(),
            calls: 20_000_000,
            failed: 3,
            bytes: 60_000,
            time_ns: 9_000_000_000,
            blocked_ns: 7_000_000_000,
        };
        let run = WholeRun {
            wall_ns: 60_000_000_000,
            rows_ns: 12_000_000_000,
            windows: 0,
            cost: None,
            calls: 30_000_000,
            calls_with_rows: 7_000_000,
            threads: 2,
            on_cpu_ns: 45_000_000_000,
            run_delay_ns: Some(1_000_000_000),
            most_time: vec![read],
        };
        let said = sentences(&run);
        assert!(said.contains("the first 12.0 s of 60.0 s") && said.contains("30,000,000 syscalls"), "{said}");
        assert!(said.contains("in 2 threads 45.0 s on a CPU and 1.00 s of waiting for one"), "{said}");
        let cost = RecordingCost {
            asked: 0.02,
            cpu_ns: 900_000_000,
            on_their_threads_ns: 500_000_000,
            programs_cpu_ns: 45_000_000_000,
        };
        let thinned = sentences(&WholeRun { windows: 7, cost: Some(cost), ..run.clone() });
        assert!(thinned.contains("about 7 windows, 12.0 s of 60.0 s in all"), "{thinned}");
        assert!(
            thinned.contains(
                "(--overhead 2). They are a sample, 20 % of the time; the counts that follow are of all of it."
            ),
            "{thinned}"
        );
        assert!(thinned.contains("Recording took 900 ms of CPU time, 2.0 % of the 45.0 s that"), "{thinned}");
        assert_eq!(
            kind(&run.most_time[0]),
            "read: 20,000,000 calls (3 failed), 60 kB, 9.00 s, of which 7.00 s blocked"
        );
    }

    #[test]
    fn a_run_with_rows_of_everything_has_no_such_block() {
        assert!(parts(&Answer::default()).is_empty());
    }
}
