//! What is computed between the calls that go to the files of each request.

use crate::analysis::Analysis;
use crate::syscall;
use crate::threads::call_end;
use case::tables::Call;

/// What a thread computes between two such calls belongs to the first where it is shorter than this: reading or compiling a source file
/// of some thousand lines takes less.
const BETWEEN: u64 = 1_000_000;

/// What a thread computed between two calls of these, one soon after the other.
#[derive(Clone, Copy)]
pub(super) struct Span {
    /// The thread, and from when to when.
    pub stretch: (u32, u64, u64),
    /// How long it was on CPU.
    pub ns: u64,
    /// Both calls read of the same file.
    pub goes_on: bool,
}

/// What was computed between each of some calls and the next one of its thread.
pub(super) fn between(analysis: &Analysis, calls: &[(usize, u64)]) -> Vec<Span> {
    let mut calls: Vec<&Call> = calls.iter().map(|(row, _)| analysis.call(*row)).collect();
    calls.sort_by_key(|call| (call.tid, call.start));
    let computed = |pair: &[&Call]| {
        let (tid, from, to) = (pair[0].tid, call_end(pair[0]), pair[1].start.0);
        let is_near = pair[1].tid == tid && from < to && to - from <= BETWEEN;
        let is_request = is_near && analysis.split(tid, from, to).0 > 0;
        let reads = |call: &Call| syscall::is_read(call.number) && call.result > 0;
        is_request.then(|| {
            let (user, kernel) = analysis.threads.on_processor(tid, from, to);
            let goes_on = pair[0].path == pair[1].path && reads(pair[0]) && syscall::is_read(pair[1].number);
            Span { stretch: (tid, from, to), ns: user + kernel, goes_on }
        })
    };
    calls.windows(2).filter_map(computed).collect()
}
