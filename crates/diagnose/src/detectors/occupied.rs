//! When a thread that answers requests is not to be had for them.

use crate::analysis::{Analysis, ender};
use case::syscall::{Class, class};
use case::tables::role;

/// Whether a thread that is blocked in a call (a row of the table) is not to be had for requests, and is not itself waiting in
/// some line: neither waits for whatever comes, nor for a lock, nor for more from a client. Some runtimes sleep in a lock that
/// nobody lets go of, until a time is over.
pub(super) fn is_others(analysis: &Analysis, row: usize) -> bool {
    let call = analysis.call(row);
    match class(call.number) {
        Class::Lock => return ender::is_set_time(analysis, row),
        Class::Poll => return ender::is_for_answer(analysis, row),
        _ => {}
    }
    let idle = [Class::Accept, Class::WaitForSignal];
    let is_client = analysis.connections.slot(call.connection);
    let is_client = is_client.is_some_and(|slot| analysis.connections.row(slot).role == role::SERVER);
    !idle.contains(&class(call.number)) && !is_client
}
