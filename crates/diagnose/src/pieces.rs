//! Messages that are written in pieces: runs of small writes on a connection with nothing between them.

use crate::analysis::Analysis;
use crate::syscall;
use crate::threads::call_end;
use case::tables::{Call, content, transport};

/// Head and body are two, a few more are nothing; from four on there is a buffer to be gained.
const PIECES: usize = 4;

/// Pieces further apart than this came into being one after the other.
const TOGETHER: u64 = 1_000_000;

/// Whether pieces in a row can be one message to somebody: what a socket of datagrams sends is whole each time, with a socket of
/// which it has both ends a program only wakes itself, and several streams on a connection take turns.
pub fn are_of_one_message(analysis: &Analysis, slot: usize) -> bool {
    let row = |slot: usize| analysis.connections.row(slot);
    let peer = analysis.connections.all()[slot].peer;
    let is_to_another = peer.is_none_or(|peer| row(peer).pid != row(slot).pid);
    row(slot).transport == transport::TCP && is_to_another && !is_multiplexed(analysis, slot)
}

/// Whether the connection may carry many messages at a time, so that pieces in a row need not belong to one: HTTP/2,
/// recognised by its first bytes or, where it is encrypted, by the protocols that the client offered.
pub fn is_multiplexed(analysis: &Analysis, slot: usize) -> bool {
    let peer = analysis.connections.all()[slot].peer;
    let offers = |row: &case::tables::Handshake| row.protocols.split(',').any(|protocol| protocol == "h2");
    let begins = |slot: usize| {
        let mut first = analysis.connections.transfers_of(slot).take(1);
        first.any(|call| call.content == content::HTTP2_PREFACE)
    };
    std::iter::once(slot)
        .chain(peer)
        .any(|slot| analysis.connections.handshake(slot).is_some_and(offers) || begins(slot))
}

/// Of requests that are pipelined each answer is written by itself, one after the other.
fn begins_a_message(call: &Call) -> bool {
    matches!(call.content, content::HTTP_REQUEST | content::HTTP_RESPONSE)
}

/// Whether a thread heard from elsewhere between two of its calls, or waited until it would: what it writes then could not have been
/// written before.
fn heard(analysis: &Analysis, last: usize, row: usize) -> bool {
    let hears = |call: &Call| {
        (syscall::is_read(call.number) && call.result > 0 && call.connection != 0)
            || (call.blocked.0 > 0 && (syscall::is_read(call.number) || syscall::is_poll(call.number)))
    };
    // Rows are in order of threads.
    analysis.recording.calls.get(last + 1..row).unwrap_or_default().iter().any(hears)
}

/// Runs of writes by one thread that are small, at most a millisecond apart, with no read between them, of whomever, and of one
/// message: rows of `calls`.
pub fn runs(analysis: &Analysis, slot: usize, is_small: impl Fn(&Call) -> bool) -> Vec<Vec<usize>> {
    let mut runs = Vec::new();
    let mut current: Vec<usize> = Vec::new();
    let mut finish = |run: &mut Vec<usize>| {
        if run.len() >= PIECES {
            runs.push(std::mem::take(run));
        }
        run.clear();
    };
    for &row in analysis.connections.transfer_numbers(slot) {
        let row = row as usize;
        let call = analysis.call(row);
        let small = syscall::is_write(call.number) && !syscall::is_handover(call.number) && is_small(call);
        let together = current.last().is_none_or(|&before| {
            let last = analysis.call(before);
            last.tid == call.tid
                && call.start.0.saturating_sub(call_end(last)) <= TOGETHER
                && !heard(analysis, before, row)
        });
        if !small || !together || begins_a_message(call) {
            finish(&mut current);
        }
        if small {
            current.push(row);
        }
    }
    finish(&mut current);
    runs
}
