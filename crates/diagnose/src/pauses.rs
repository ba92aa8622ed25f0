//! Pauses that a thread makes after something went wrong.

use crate::analysis::Analysis;
use crate::syscall;

/// The call in which a thread sleeps after a time, before it sends or receives anything again: a row of the table of calls.
pub fn sleep_after(analysis: &Analysis, tid: u32, time: u64) -> Option<usize> {
    let thread = analysis.threads.get(tid)?;
    let calls = &analysis.recording.calls[thread.calls.clone()];
    let first = thread.calls.start + calls.partition_point(|call| call.start.0 < time);
    let mut before_next = (first..thread.calls.end).take_while(|&row| !moves_bytes(analysis, row));
    before_next.find(|&row| {
        let call = analysis.call(row);
        syscall::is_sleep(call.number) && call.blocked.0 > 0
    })
}

fn moves_bytes(analysis: &Analysis, row: usize) -> bool {
    let call = analysis.call(row);
    call.connection != 0 && call.result > 0 && (syscall::is_read(call.number) || syscall::is_write(call.number))
}
