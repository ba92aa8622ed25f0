//! What the kernel side has added up of each process's calls: exact also where rows were lost, or no longer made.

use crate::error::RecordError;
use crate::events::{CallCounts, CallKey, OpenSum};
use crate::kernel::Kernel;
use aya::maps::{Array, HashMap, MapData, PerCpuArray};
use case::Nanos;
use case::tables::CallSum;
use std::collections::BTreeMap;

/// The maps that the sums are in.
pub struct CallSums {
    closed: HashMap<MapData, CallKey, CallCounts>,
    others: Array<MapData, CallCounts>,
    open: PerCpuArray<MapData, OpenSum>,
}

impl CallSums {
    /// Takes them from the kernel side, once.
    ///
    /// # Errors
    /// Where they are not there.
    pub fn take(kernel: &mut Kernel) -> Result<CallSums, RecordError> {
        Ok(CallSums {
            closed: kernel.take_map("call_sums")?,
            others: kernel.take_array("other_sums")?,
            open: kernel.take_processors("open_sums")?,
        })
    }

    /// The sums of each process and call, once nothing is added any more.
    pub fn rows(&self) -> Vec<CallSum> {
        let closed = self.closed.iter().filter_map(Result::ok);
        let others = self.others.iter().zip(0u32..);
        let others = others.filter_map(|(sum, number)| Some((CallKey { pid: 0, number }, sum.ok()?)));
        let open = self.open.iter().filter_map(Result::ok);
        let open = open.flat_map(|processors| processors.iter().map(|one| (one.key, one.sum)).collect::<Vec<_>>());
        together(closed.chain(others).chain(open))
    }
}

/// What all calls took. Where rows were thinned out most were not seen to begin: of these it is counted how long they were blocked,
/// and the rest is taken to be as long as that of the others.
fn time(sum: &CallCounts) -> u64 {
    let busy = sum.time.saturating_sub(sum.blocked);
    let others = sum.calls.saturating_sub(sum.timed);
    let share = if sum.timed > 0 { others as f64 / sum.timed as f64 } else { 0.0 };
    sum.time + (busy as f64 * share) as u64
}

/// One row for each process and call.
fn together(parts: impl Iterator<Item = (CallKey, CallCounts)>) -> Vec<CallSum> {
    let mut sums: BTreeMap<CallKey, CallCounts> = BTreeMap::new();
    for (key, part) in parts.filter(|(_, part)| part.calls > 0) {
        let sum = sums.entry(key).or_default();
        sum.calls += part.calls;
        sum.failed += part.failed;
        sum.bytes += part.bytes;
        sum.time += part.time;
        sum.blocked += part.blocked;
        sum.timed += part.timed;
    }
    let row = |(key, sum): (CallKey, CallCounts)| CallSum {
        pid: key.pid,
        number: key.number as u16,
        calls: sum.calls,
        failed: sum.failed,
        bytes: sum.bytes,
        time: Nanos(time(&sum)),
        blocked: Nanos(sum.blocked),
    };
    sums.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_one_process_s_calls_are_one_row_and_what_has_no_calls_is_none() {
        let part = |pid, number, calls| {
            let sum = CallCounts { calls, failed: 1, bytes: 10, time: 100, blocked: 50, timed: calls };
            (CallKey { pid, number }, sum)
        };
        let rows = together([part(7, 1, 2), part(7, 0, 1), part(7, 1, 3), part(0, 0, 0)].into_iter());
        let row = |number, calls, parts| CallSum {
            pid: 7,
            number,
            calls,
            failed: parts,
            bytes: 10 * parts,
            time: Nanos(100 * parts),
            blocked: Nanos(50 * parts),
        };
        assert_eq!(rows, [row(0, 1, 1), row(1, 5, 2)]);
    }

    #[test]
    fn calls_that_were_not_timed_take_as_long_as_the_others_beside_their_waiting() {
        let sum = CallCounts { calls: 10, time: 1_000, blocked: 600, timed: 2, ..CallCounts::default() };
        assert_eq!(time(&sum), 600 + 400 + 8 * 200);
        assert_eq!(time(&CallCounts { timed: 0, time: 600, ..sum }), 600);
        assert_eq!(time(&CallCounts { timed: 10, ..sum }), 1_000);
    }
}
