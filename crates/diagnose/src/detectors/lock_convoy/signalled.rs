//! Locks between processes that are handed over by a signal: whoever lets go wakes the next one so (PostgreSQL's locks on rows).

use crate::analysis::Analysis;
use crate::analysis::ender;
use crate::syscall;
use crate::threads::{Moment, call_end};
use crate::waits;
use case::syscall::Class;

/// The thread of another process that ended a wait for events by a signal, where nothing had come on any connection.
pub(super) fn holder(analysis: &Analysis, thread: usize, moment: &Moment, row: usize) -> Option<usize> {
    let call = analysis.call(row);
    if syscall::class(call.number) != Class::Poll || ender::is_timed_out(call) {
        return None;
    }
    let holder = waits::ended_by(analysis, thread, moment)?;
    let (own, other) = (&analysis.threads.all()[thread], &analysis.threads.all()[holder]);
    let calls = &analysis.recording.calls[other.calls.clone()];
    let last = calls.partition_point(|call| call.start.0 <= moment.end).checked_sub(1)?;
    let is_signal = syscall::is_signal(calls[last].number) && call_end(&calls[last]) >= moment.end;
    (other.pid != own.pid && is_signal).then_some(holder)
}
