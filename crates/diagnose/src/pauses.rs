//! Pauses that a program makes on purpose, however its runtime makes them.

use crate::analysis::Analysis;
use crate::analysis::ender::is_timed_out;
use crate::java;
use crate::syscall;
use crate::threads::call_end;
use case::tables::Call;

/// A program that uses so much of a wait on CPUs does something meanwhile.
const BUSY: f64 = 0.2;

/// So many exchanges before a wait are asked whether they were still going on: more are not under way at a time where a
/// client pauses.
const MOST_EXCHANGES: usize = 1_000;

/// Whether a thread let time pass in a call: it slept, or waited for something for a limited time in which nothing came. That
/// is how runtimes with an event loop, or with threads of their own, sleep: Node.js and asyncio in `epoll_wait`, Ruby in
/// `ppoll`, Java and Go in `futex`.
pub fn may_be_pause(call: &Call) -> bool {
    call.blocked.0 > 0 && (syscall::is_sleep(call.number) || is_timed_out(call))
}

/// Whether a thread did nothing but let time pass in a call, as far as the call and the code that made it tell.
pub fn sleeps(analysis: &Analysis, call: &Call) -> bool {
    let is_java_s = || is_timed_out(call) && java::sleeps(analysis.code.frames(call.stack));
    syscall::sleeps(call) || syscall::class(call.number) == syscall::Class::Lock && is_java_s()
}

/// Whether the process of such a call had nothing else to do meanwhile: no request was under way, and it hardly ran. A wait
/// that is only limited says that little; a sleep says it by itself.
pub fn is_pause(analysis: &Analysis, row: usize) -> bool {
    let call = analysis.call(row);
    may_be_pause(call) && (syscall::is_sleep(call.number) || is_idle(analysis, call))
}

fn is_idle(analysis: &Analysis, call: &Call) -> bool {
    let (from, to) = (call.start.0, call_end(call));
    let begun = analysis.exchanges.partition_point(|exchange| exchange.start < to);
    let asks = |connection: usize| analysis.connections.row(connection).pid == call.pid;
    let earlier = analysis.exchanges[..begun].iter().rev().take(MOST_EXCHANGES);
    if earlier.into_iter().any(|exchange| exchange.end > from && asks(exchange.connection)) {
        return false;
    }
    let threads = analysis.threads.all().iter().filter(|thread| thread.pid == call.pid);
    let on_processor = |tid: u32| {
        let (outside, within) = analysis.threads.on_processor(tid, from, to);
        outside + within
    };
    let busy: u64 = threads.map(|thread| on_processor(thread.tid)).sum();
    (busy as f64) < BUSY * (to - from) as f64
}

/// The call in which a thread pauses after a time, before it sends or receives anything again, or connects: a row of the table
/// of calls.
pub fn sleep_after(analysis: &Analysis, tid: u32, time: u64) -> Option<usize> {
    let thread = analysis.threads.get(tid)?;
    let calls = &analysis.recording.calls[thread.calls.clone()];
    let first = thread.calls.start + calls.partition_point(|call| call.start.0 < time);
    let mut before_next = (first..thread.calls.end).take_while(|&row| !asks(analysis, row));
    before_next.find(|&row| is_pause(analysis, row))
}

/// Whether a call has to do with the next request.
fn asks(analysis: &Analysis, row: usize) -> bool {
    let call = analysis.call(row);
    let moves = call.result > 0 && (syscall::is_read(call.number) || syscall::is_write(call.number));
    call.connection != 0 && (moves || call.number == syscall::CONNECT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, US, request};
    use case::tables::Thread;
    use case::{Nanos, Recording};

    const HELPER: u32 = CLIENT + 5;

    /// A wait of 20 ms between two requests: what it returns, how long another thread works meanwhile, and what else happens.
    fn waiting(result: i64, work: u64, beside: impl Fn(&mut Fixture)) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        let start = Nanos(fixture.now);
        fixture.recording.threads.push(Thread { tid: HELPER, pid: CLIENT, start, ..Thread::default() });
        let mut idle = fixture.now;
        request(&mut fixture, CLIENT, 1, 300 * US, &mut idle);
        let from = fixture.now;
        fixture.waits(CLIENT, 20 * MS, EPOLL_WAIT, |call| call.result = result);
        let to = fixture.now;
        fixture.off(HELPER, start.0, from + MS);
        fixture.off(HELPER, from + MS + work, to);
        fixture.now = from + MS;
        beside(&mut fixture);
        fixture.now = fixture.now.max(to);
        request(&mut fixture, CLIENT, 1, 300 * US, &mut idle);
        fixture.end()
    }

    fn pauses(recording: &Recording) -> bool {
        let analysis = Analysis::new(recording);
        let row = recording.calls.iter().position(|call| call.tid == CLIENT && call.number == EPOLL_WAIT);
        is_pause(&analysis, row.expect("the wait"))
    }

    #[test]
    fn a_wait_in_which_nothing_comes_is_a_pause_where_nothing_else_goes_on() {
        assert!(pauses(&waiting(0, 0, |_| {})));
        assert!(!pauses(&waiting(1, 0, |_| {})), "something came");
    }

    #[test]
    fn a_wait_beside_a_thread_that_works_is_none() {
        assert!(!pauses(&waiting(0, 10 * MS, |_| {})));
    }

    #[test]
    fn a_wait_beside_a_request_is_none() {
        let ask = |fixture: &mut Fixture| {
            fixture.connect(2, CLIENT + 7);
            fixture.recording.connections.iter_mut().for_each(|row| row.pid = row.pid.min(CLIENT));
            let mut idle = fixture.now;
            request(fixture, CLIENT + 7, 2, 5 * MS, &mut idle);
        };
        assert!(!pauses(&waiting(0, 0, ask)));
    }
}
