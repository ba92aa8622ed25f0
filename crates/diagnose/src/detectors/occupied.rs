//! When a thread that answers requests is not to be had for them.

use crate::analysis::{Analysis, ender};
use case::syscall::{Class, class, is_write};
use case::tables::{Call, role};

/// Whether a thread that is blocked in a call (a row of the table) is not to be had for requests, and is not itself waiting in
/// some line: neither waits for whatever comes, nor for a lock, nor for more from a client. A client that takes an answer
/// slowly does occupy it. Some runtimes sleep in a lock that nobody lets go of, until a time is over.
pub(super) fn is_others(analysis: &Analysis, row: usize) -> bool {
    let call = analysis.call(row);
    match class(call.number) {
        Class::Lock => return ender::is_set_time(analysis, row),
        Class::Poll => return ender::is_for_answer(analysis, row),
        _ => {}
    }
    let idle = [Class::Accept, Class::WaitForSignal];
    let more_from_client = is_of_client(analysis, call) && !is_write(call.number);
    !idle.contains(&class(call.number)) && !more_from_client
}

/// Whether a call is on the connection of a client.
pub(super) fn is_of_client(analysis: &Analysis, call: &Call) -> bool {
    let slot = analysis.connections.slot(call.connection).filter(|_| call.connection != 0);
    slot.is_some_and(|slot| analysis.connections.row(slot).role == role::SERVER)
}
