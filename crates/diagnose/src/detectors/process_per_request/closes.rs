//! Descriptors that new processes close though nothing is open there: all up to the limit, one by one.

use super::median;
use crate::analysis::Analysis;
use crate::number;
use crate::syscall;
use case::Nanos;
use case::tables::CallSum;
use std::collections::BTreeSet;

/// Who closes fewer closes what it knows of.
const MANY: u64 = 1_000;

/// What half of some processes close in vain, or more, and how long all their closing takes; none where that is little.
pub(super) fn said(analysis: &Analysis, processes: impl Iterator<Item = u32>) -> Option<String> {
    let processes: BTreeSet<u32> = processes.collect();
    let sums = analysis.recording.call_sums.iter();
    let closing: Vec<&CallSum> =
        sums.filter(|sum| sum.number == syscall::CLOSE && processes.contains(&sum.pid)).collect();
    let failed = median(closing.iter().map(|sum| sum.failed).collect());
    let took = Nanos(median(closing.iter().map(|sum| sum.time.0).collect()));
    (failed >= MANY).then(|| {
        format!(
            "Each of them closes {} descriptors at which nothing is open, all up to the limit on open files (RLIMIT_NOFILE): {took} \
             in the kernel. close_range() closes them in one call.",
            number::count(failed)
        )
    })
}
