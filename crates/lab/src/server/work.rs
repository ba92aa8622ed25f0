//! Whether a server that is being started is still at work: whoever is on CPU, waits for one, or reads its files is not there yet.

use record::ProcessStat;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// What the processes of a server had done when they were last looked at.
pub(super) struct Work {
    /// The CPU time of each, in clock ticks, by its id.
    ran: BTreeMap<u32, u64>,
    /// When one of them was last seen at work.
    last: Instant,
}

impl Work {
    pub(super) fn new() -> Work {
        Work { ran: BTreeMap::new(), last: Instant::now() }
    }

    /// For how long none of these processes, a server's and what they have started, has been at work.
    pub(super) fn rests_for(&mut self, processes: impl Iterator<Item = ProcessStat>) -> Duration {
        self.look(processes);
        self.last.elapsed()
    }

    fn look(&mut self, processes: impl Iterator<Item = ProcessStat>) {
        let before = std::mem::take(&mut self.ran);
        for process in processes {
            let has_run = before.get(&process.pid) != Some(&process.ran_ticks);
            if has_run || matches!(process.state, 'R' | 'D') {
                self.last = Instant::now();
            }
            self.ran.insert(process.pid, process.ran_ticks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32, state: char, ran_ticks: u64) -> ProcessStat {
        ProcessStat { pid, parent: 1, session: 1, state, ran_ticks, started_ticks: 0 }
    }

    #[test]
    fn a_process_that_has_run_or_wants_to_is_at_work_and_one_that_sleeps_is_not() {
        let mut work = Work::new();
        let mut looks = |processes: &[ProcessStat]| {
            let before = work.last;
            work.look(processes.iter().copied());
            work.last > before
        };
        assert!(looks(&[process(7, 'S', 3)]), "it was not there before");
        assert!(!looks(&[process(7, 'S', 3)]));
        assert!(looks(&[process(7, 'S', 4)]), "it has run meanwhile");
        assert!(looks(&[process(7, 'D', 4)]), "it reads a file");
        assert!(looks(&[process(7, 'S', 4), process(8, 'S', 0)]), "it has started another one");
        assert!(!looks(&[process(7, 'S', 4)]), "that one has ended");
    }
}
