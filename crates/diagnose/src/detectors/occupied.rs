//! When a thread that answers requests is not to be had for them.

use crate::analysis::Analysis;
use case::syscall::{Class, class};
use case::tables::{Call, role};

/// Whether a thread that is blocked in a call is not to be had for requests, and is not itself waiting in some line: neither
/// waits for whatever comes, nor for a lock, nor for more from a client.
pub(super) fn is_others(analysis: &Analysis, call: &Call) -> bool {
    let idle = [Class::Poll, Class::Accept, Class::Lock, Class::WaitForSignal];
    let is_client = analysis.connections.slot(call.connection);
    let is_client = is_client.is_some_and(|slot| analysis.connections.row(slot).role == role::SERVER);
    !idle.contains(&class(call.number)) && !is_client
}
