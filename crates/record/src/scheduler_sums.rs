//! What the scheduler itself counts for each thread: a measure beside the recorder's events, against which the ledger is
//! checked.

use crate::clock::now;
use crate::events::{Counted, ExitEvent, Sums};
use case::Nanos;
use case::tables::SchedulerSum;
use std::fs;

/// The longest tick of a kernel's clock: CONFIG_HZ is 100 at least. The scheduler brings the sum of a running thread up to
/// date with every tick.
const TICK: u64 = 10_000_000;

impl Sums {
    /// Reads a thread's sums from /proc; none where it is gone, or the kernel does not count. That of a thread that is
    /// on a processor meanwhile is as old as the last tick.
    pub fn look(pid: u32, tid: u32) -> Option<Sums> {
        let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/task/{tid}/{name}")).ok();
        parse(&read("schedstat")?, &read("status")?)
    }

    /// The sums at the beginning of watching a thread that has stood as it does for a while: where it waits, that wait is
    /// the first that is recorded.
    #[must_use]
    pub fn before_this_wait(self) -> Sums {
        if self.inexact > 0 { self } else { Sums { voluntary: self.voluntary.saturating_sub(1), ..self } }
    }
}

/// The lines of `/proc/PID/task/TID/schedstat` and `status`.
fn parse(schedstat: &str, status: &str) -> Option<Sums> {
    let mut figures = schedstat.split_whitespace().map_while(|figure| figure.parse::<u64>().ok());
    let (runtime, run_delay) = (figures.next()?, figures.next()?);
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let runs = field("State:")?.starts_with('R');
    Some(Sums {
        runtime,
        run_delay,
        voluntary: field("voluntary_ctxt_switches:")?.parse().ok()?,
        involuntary: field("nonvoluntary_ctxt_switches:")?.parse().ok()?,
        time: now().0,
        inexact: if runs { TICK } else { 0 },
    })
}

/// Whether this kernel counts how long threads wait for a processor: one that runs has been put on one, and where that
/// is not counted the file is not there, or is all zeros.
pub fn counts_run_delay() -> bool {
    let line = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    line.split_whitespace().nth(2).is_some_and(|turns| turns != "0")
}

/// The row of a thread that ended.
pub fn at_the_exit(event: &ExitEvent, has_run_delay: bool) -> SchedulerSum {
    let end = Sums { runtime: runtime_at_the_exit(event), ..event.end };
    let counted = Counted { calls: event.recorded_calls, withheld: event.withheld, waking: event.waking };
    row((event.tid, event.pid), event.begin, end, counted, has_run_delay)
}

/// The row of a thread that was watched from `begin` and stands at `end`, with what the kernel side has counted of it.
pub fn row((tid, pid): (u32, u32), begin: Sums, end: Sums, counted: Counted, has_run_delay: bool) -> SchedulerSum {
    let Counted { calls, withheld, waking } = counted;
    SchedulerSum {
        tid,
        pid,
        start: Nanos(begin.time),
        on_cpu: Nanos(end.runtime.saturating_sub(begin.runtime)),
        inexact: Nanos(begin.inexact + end.inexact),
        run_delay: Nanos(end.run_delay.saturating_sub(begin.run_delay)),
        has_run_delay,
        waking,
        voluntary: end.voluntary.saturating_sub(begin.voluntary),
        involuntary: end.involuntary.saturating_sub(begin.involuntary),
        calls,
        thinned_calls: withheld.calls,
        thinned_waits: withheld.waits,
        thinned_preemptions: withheld.preemptions,
    }
}

/// A thread ends while it runs, so that the scheduler's sum is as old as the last tick: what has passed since it was put on
/// the processor is added to the sum of that moment. Where that is not what can have passed since the last tick (the thread
/// is of a class that keeps no such sum), the sum is taken as it is.
fn runtime_at_the_exit(event: &ExitEvent) -> u64 {
    let running = if event.on_since > 0 { event.time.saturating_sub(event.on_since) } else { 0 };
    let (least, most) = (event.end.runtime, event.end.runtime + TICK);
    let runtime = event.runtime_before + running;
    if (least..=most).contains(&runtime) { runtime } else { least }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str =
        "Name:\tx\nState:\tS (sleeping)\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t3\n";

    #[test]
    fn the_scheduler_s_figures_are_read_from_both_files() {
        let sums = parse("500 60 10\n", STATUS).expect("sums");
        let expected = Sums { runtime: 500, run_delay: 60, voluntary: 7, involuntary: 3, time: sums.time, inexact: 0 };
        assert_eq!(sums, expected);
        assert_eq!(sums.before_this_wait().voluntary, 6);
        let running = STATUS.replace("S (sleeping)", "R (running)");
        let running = parse("500 60 10\n", &running).expect("sums");
        assert_eq!((running.inexact, running.before_this_wait().voluntary), (TICK, 7));
        assert_eq!(parse("", STATUS), None);
    }

    #[test]
    fn our_own_thread_has_sums() {
        let look = || Sums::look(std::process::id(), nix::unistd::gettid().as_raw() as u32).expect("sums");
        let before = look();
        std::thread::sleep(std::time::Duration::from_millis(5));
        let after = look();
        assert!(after.voluntary > before.voluntary && after.runtime > before.runtime, "{before:?} {after:?}");
    }

    #[test]
    fn a_thread_that_ends_has_run_since_the_last_tick_as_well() {
        let end = Sums { runtime: 5_000_000, ..Sums::default() };
        let event = ExitEvent {
            kind: 11,
            pad: 0,
            tid: 1,
            pid: 1,
            code: 0,
            time: 9_000_000,
            on_cpu: 0,
            calls: 0,
            recorded_calls: 0,
            on_since: 2_000_000,
            runtime_before: 1_000_000,
            begin: Sums { runtime: 400_000, ..Sums::default() },
            end,
            withheld: crate::events::WithheldRows::default(),
            waking: 0,
            name: [0; 16],
        };
        assert_eq!(at_the_exit(&event, true).on_cpu, Nanos(7_600_000));
        // Of a class whose sum at the last switch is not kept.
        let other = ExitEvent { runtime_before: 0, on_since: 8_999_000, ..event };
        assert_eq!(at_the_exit(&other, true).on_cpu, Nanos(4_600_000));
    }
}
