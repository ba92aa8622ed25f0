//! Who ended when, and whose child it was: a thread's end wakes those who join it, and a process's end those who read its pipes. No wake-up tells of it:
//! the kernel reports the end before it closes what the process had open.

use crate::threads::Threads;
use case::Recording;
use rustc_hash::FxHashMap;

/// Ends of threads and processes, to be asked for by time.
#[derive(Default)]
pub(crate) struct Ends {
    /// Process, time, place in the table of threads.
    threads: Vec<(u32, u64, usize)>,
    /// Parent, time, place of the first thread in the table of threads.
    processes: Vec<(u32, u64, usize)>,
    /// The process that started each.
    parents: FxHashMap<u32, u32>,
}

impl Ends {
    /// Indexes the ends of a recording.
    pub fn new(recording: &Recording, threads: &Threads) -> Ends {
        let all = threads.all().iter().enumerate();
        let parents =
            recording.processes.iter().filter(|row| row.parent > 0).map(|row| (row.pid, row.parent)).collect();
        let threads_ended = all.map(|(slot, thread)| (thread.pid, thread.end, slot)).collect();
        let mut ends = Ends { threads: threads_ended, processes: Vec::new(), parents };
        let first = |pid: u32| threads.slot(pid);
        let processes = recording.processes.iter().filter(|row| row.parent > 0);
        ends.processes.extend(processes.filter_map(|row| Some((row.parent, row.end.0, first(row.pid)?))));
        ends.threads.sort_unstable();
        ends.processes.sort_unstable();
        ends
    }

    /// The process that started a process.
    pub fn parent(&self, pid: u32) -> Option<u32> {
        self.parents.get(&pid).copied()
    }

    /// The thread of a process that ended last between two times.
    pub fn thread(&self, pid: u32, from: u64, to: u64) -> Option<usize> {
        last(&self.threads, pid, from, to)
    }

    /// The first thread of the child that ended last between two times.
    pub fn child(&self, parent: u32, from: u64, to: u64) -> Option<usize> {
        last(&self.processes, parent, from, to)
    }
}

fn last(ends: &[(u32, u64, usize)], of: u32, from: u64, to: u64) -> Option<usize> {
    let until = ends.partition_point(|&(whose, time, _)| (whose, time) <= (of, to));
    let &(whose, time, slot) = &ends[until.checked_sub(1)?];
    (whose == of && time >= from).then_some(slot)
}
