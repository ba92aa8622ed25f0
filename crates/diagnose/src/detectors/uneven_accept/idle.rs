//! How many of some workers had nothing to do, over time.

use super::workers::Worker;
use crate::analysis::Analysis;
use crate::syscall;
use crate::threads::call_end;

/// A call that is blocked for less found something to do at once.
const LEAST: u64 = 20_000;

/// How many are idle from each time on, and what that comes to up to then.
pub struct Idle {
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Step {
    from: u64,
    idle: u32,
    /// The time of idle workers up to here, in nanoseconds.
    time: f64,
    /// What they could have taken off a line before another worker up to here.
    help: f64,
}

impl Step {
    /// Of a line, so many colleagues take this part: with one, half of it is left.
    fn part(self) -> f64 {
        f64::from(self.idle) / f64::from(self.idle + 1)
    }
}

impl Idle {
    /// Gathers when these workers waited for anything to come.
    pub fn of<'w>(analysis: &Analysis, workers: impl Iterator<Item = &'w Worker>) -> Idle {
        let mut changes: Vec<(u64, i32)> = Vec::new();
        for thread in workers.filter_map(|worker| analysis.threads.get(worker.tid)) {
            for call in &analysis.recording.calls[thread.calls.clone()] {
                let waits = syscall::is_poll(call.number) || syscall::is_accept(call.number);
                // How long a call was blocked is known when it returns.
                let blocked = if call.finished { call.blocked } else { call.duration };
                if waits && blocked.0 > LEAST {
                    changes.extend([(call.start.0, 1), (call_end(call), -1)]);
                }
            }
        }
        changes.sort_unstable();
        let mut steps = vec![Step::default()];
        for (from, change) in changes {
            let last = steps[steps.len() - 1];
            let length = from.saturating_sub(last.from) as f64;
            steps.push(Step {
                from,
                idle: last.idle.saturating_add_signed(change),
                time: last.time + length * f64::from(last.idle),
                help: last.help + length * last.part(),
            });
        }
        Idle { steps }
    }

    /// The time that they idled between two times, all together.
    pub fn time(&self, from: u64, to: u64) -> f64 {
        let until = |at: u64| {
            let step = self.at(at);
            step.time + (at - step.from) as f64 * f64::from(step.idle)
        };
        until(to.max(from)) - until(from)
    }

    /// What they could have taken off a line between two times.
    pub fn help(&self, from: u64, to: u64) -> f64 {
        let until = |at: u64| {
            let step = self.at(at);
            step.help + (at - step.from) as f64 * step.part()
        };
        until(to.max(from)) - until(from)
    }

    fn at(&self, time: u64) -> Step {
        let next = self.steps.partition_point(|step| step.from <= time);
        self.steps[next.max(1) - 1]
    }
}
