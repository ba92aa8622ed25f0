//! Whether a thread that waited did so for one thing, as a blocking call does, or for whatever came first, as an event loop
//! does. What one request asks of others holds up only that one in a loop, and cannot be told from what the next one asks.

use crate::analysis::Analysis;
use crate::syscall;
use crate::threads::call_end;
use case::tables::Call;

/// The descriptors that a poll of one thing may have: a resolver asks for two address families over two sockets.
const FEW: u64 = 2;

/// Whether all of a thread's waits for events between two times were for one thing.
pub fn waits_for_one_thing(analysis: &Analysis, tid: u32, start: u64, end: u64) -> bool {
    let Some(thread) = analysis.threads.get(tid) else { return false };
    let calls = &analysis.recording.calls[thread.calls.clone()];
    let first = calls.partition_point(|call| call.start.0 < start);
    let within = calls[first..].iter().take_while(|call| call.start.0 < end && call_end(call) <= end);
    within.into_iter().all(|call| !waits_for_many(call))
}

fn waits_for_many(call: &Call) -> bool {
    let name = || syscall::name(call.number);
    syscall::is_poll(call.number) && (name().starts_with("epoll") || (name().contains("poll") && call.argument_1 > FEW))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS};

    const POLL: u16 = 7;

    fn is_one(number: u16, descriptors: u64) -> bool {
        let mut fixture = Fixture::new();
        let start = fixture.now;
        fixture.waits(CLIENT, 5 * MS, number, |call| call.argument_1 = descriptors);
        let end = fixture.now;
        let recording = fixture.end();
        waits_for_one_thing(&Analysis::new(&recording), CLIENT, start, end)
    }

    #[test]
    fn a_poll_of_one_socket_is_for_one_thing_and_an_event_loop_is_not() {
        assert!(is_one(POLL, 1));
        assert!(!is_one(POLL, 40));
        assert!(!is_one(EPOLL_WAIT, 0));
    }
}
