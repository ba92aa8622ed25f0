//! When the time-outs of a server's waits end: an event loop that something comes to waits again, until the same moment.

use crate::analysis::Analysis;
use crate::syscall;
use crate::threads::call_end;
use case::tables::Call;
use rustc_hash::{FxHashMap, FxHashSet};

/// Time-outs are set in milliseconds, rounded up or down, and end late: two that are meant for one moment differ by this at most,
const SAME: u64 = 2_500_000;
/// and by this part of a period.
const SAME_PART: u64 = 4;

/// When waits end by time that were begun before, and when they were begun.
pub(super) struct Deadlines {
    of_process: FxHashMap<u32, Vec<(u64, u64)>>,
}

impl Deadlines {
    pub fn new(analysis: &Analysis, pids: &FxHashSet<u32>) -> Deadlines {
        let mut of_process: FxHashMap<u32, Vec<(u64, u64)>> = FxHashMap::default();
        let polls = analysis.calls_of(syscall::is_poll).map(|(_, call)| call);
        for call in polls.filter(|call| call.argument_2 > 0 && pids.contains(&call.pid)) {
            // All ones: no time-out.
            if let Some(end) = call.start.0.checked_add(call.argument_2) {
                of_process.entry(call.pid).or_default().push((end, call.start.0));
            }
        }
        for ends in of_process.values_mut() {
            ends.sort_unstable();
        }
        Deadlines { of_process }
    }

    /// Whether the time at which a wait ended had been set before a request came: in that wait, or in one that it goes on with.
    pub fn is_set_before(&self, wait: &Call, read: u64, period: u64) -> bool {
        let (end, late) = (call_end(wait), SAME.min(period / SAME_PART));
        let ends = self.of_process.get(&wait.pid).map_or(&[][..], Vec::as_slice);
        let first = ends.partition_point(|&(one, _)| one + late < end);
        let mut near = ends[first..].iter().take_while(|&&(one, _)| one <= end + late);
        wait.start.0 < read || near.any(|&(_, start)| start < read)
    }
}
