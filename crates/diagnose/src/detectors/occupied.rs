//! When a thread that answers requests is not to be had for them.

use crate::analysis::{Analysis, ender, ready};
use case::syscall::{Class, class, is_poll_of_one};
use case::tables::role;

/// Whether a thread that is blocked in a call (a row of the table) is not to be had for requests, and is not itself waiting in
/// some line: neither waits for whatever comes, nor for a lock, nor for more from a client. Some runtimes sleep in a lock that
/// nobody lets go of, until a time is over. Many libraries poll the one connection that they are about to read, for the sake of
/// a time-out.
pub(super) fn is_others(analysis: &Analysis, row: usize) -> bool {
    let call = analysis.call(row);
    if class(call.number) == Class::Lock {
        return ender::is_set_time(analysis, row);
    }
    if class(call.number) == Class::Poll {
        let asked =
            || ready::connection(analysis, row).is_some_and(|(slot, _)| role_of(analysis, slot) == role::CLIENT);
        return is_poll_of_one(call.number, call.argument_1) && asked();
    }
    let idle = [Class::Accept, Class::WaitForSignal];
    let is_client = analysis.connections.slot(call.connection);
    let is_client = is_client.is_some_and(|slot| role_of(analysis, slot) == role::SERVER);
    !idle.contains(&class(call.number)) && !is_client
}

fn role_of(analysis: &Analysis, slot: usize) -> u8 {
    analysis.connections.row(slot).role
}
