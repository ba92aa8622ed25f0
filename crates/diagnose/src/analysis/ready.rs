//! What a call that waits for any of several descriptors returned for.

use crate::analysis::Analysis;
use crate::syscall::{self, Class};
use case::tables::Call;

/// How many calls after it may show what it returned for: first a clock is read, or a lock is taken.
const CALLS_AFTER: usize = 6;

/// What both `poll` and `epoll_wait` say of a descriptor that can be written to (`POLLOUT`, `EPOLLOUT`).
const OUT: u64 = 4;
/// Where `poll` says what it found of its first descriptor, behind the descriptor and what was asked.
const FOUND: u32 = 48;

/// Whether a poll returned since something could be written to again, as far as its first descriptor tells.
pub fn has_room(call: &Call) -> bool {
    let found = if syscall::is_given_descriptors(call.number) { call.argument_3 >> FOUND } else { call.argument_3 };
    syscall::is_poll(call.number) && call.result > 0 && found & OUT != 0
}

/// The connection that a poll returned for and what was then done with it: the first that is read or written afterwards. None
/// where that is no connection, but a pipe, an eventfd or a timer.
pub fn connection(analysis: &Analysis, row: usize) -> Option<(usize, Class)> {
    let poll = analysis.call(row);
    let after = analysis.recording.calls.get(row + 1..).unwrap_or_default().iter().take(CALLS_AFTER);
    let own = after.take_while(|call| call.tid == poll.tid && !syscall::is_poll(call.number));
    let is_transfer = |number: u16| syscall::is_read(number) || syscall::is_write(number);
    let used = own.into_iter().find(|call| is_transfer(call.number) && call.fd >= 0)?;
    let slot = analysis.connections.slot(used.connection).filter(|_| used.connection != 0)?;
    Some((slot, syscall::class(used.number)))
}
