//! Whether a server's thread that has written a part of an answer waits until it can write more.

use super::walk::Walker;
use crate::analysis::ready;
use crate::search::not_after;
use crate::syscall;
use crate::threads::{Moment, call_end};
use case::tables::Call;

/// How many calls lie between a poll and a write at most for which it returned: an event loop that has many connections to
/// write to writes to each of them several times.
const CALLS_BETWEEN: usize = 400;

/// What a moment of a thread has to do with room in its connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// It does not wait for any.
    NotAwaited,
    /// It waits for descriptors, and the wait ends as it can write more.
    Here,
    /// The same, but the wait ends for another descriptor: there was no room yet, which a later one finds.
    Later,
}

impl Walker<'_> {
    /// Whether a thread that had written to a connection waits, in a call for any of several descriptors, until it can write more
    /// to it with the transfer that comes next.
    pub(super) fn room(&self, slot: usize, transfer: &Call, moment: Moment) -> Room {
        let analysis = self.analysis;
        let is_poll = |row: &usize| syscall::is_poll(analysis.call(*row).number);
        let Some(row) = moment.call.filter(is_poll).filter(|_| syscall::is_write(transfer.number)) else {
            return Room::NotAwaited;
        };
        let transfers = analysis.connections.transfer_numbers(slot);
        let ended = not_after(transfers, |&row| call_end(analysis.call(row as usize)), moment.start);
        let before = ended.checked_sub(1).map(|last| analysis.call(transfers[last] as usize));
        if before.is_none_or(|call| !syscall::is_write(call.number) || call.tid != transfer.tid) {
            return Room::NotAwaited;
        }
        let next = transfers.get(ended).map(|&row| row as usize);
        match next.and_then(|next| self.found_room(slot, next)) {
            Some(found) if found == row => Room::Here,
            Some(found) if found > row => Room::Later,
            _ => Room::NotAwaited,
        }
    }

    /// The poll that returned since a write, a row of the table of calls, had room: its connection is the only one, or nothing else
    /// was read meanwhile that could be written now.
    fn found_room(&self, slot: usize, write: usize) -> Option<usize> {
        let analysis = self.analysis;
        let tid = analysis.call(write).tid;
        let mut has_read = false;
        for row in (0..write).rev().take(CALLS_BETWEEN) {
            let call = analysis.call(row);
            if call.tid != tid {
                return None;
            }
            if syscall::is_poll(call.number) {
                let is_for_this = || ready::connection(analysis, row).is_some_and(|(ready, _)| ready == slot);
                let is_one_of_them = call.result > 1 && !has_read;
                return (ready::has_room(call) && (is_one_of_them || is_for_this())).then_some(row);
            }
            has_read |= syscall::is_read(call.number) && call.path == 0 && call.result > 0;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use crate::Analysis;
    use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE};
    use case::facts::Wait;
    use case::{Account, End};

    /// `EPOLLIN` and `EPOLLOUT`.
    const READABLE: u64 = 1;
    const WRITABLE: u64 = 4;

    /// An answer in two writes to one of two clients: between them the server polls for 30 ms, which ends for the other client,
    /// and for 20 ms more, which ends with so many descriptors. Of what it wrote first a part leaves at the end only.
    fn beside_another(found: u64, descriptors: i64) -> Fixture {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        fixture.rows(2, CLIENT, fixture.now);
        let start = fixture.now;
        fixture.moves(CLIENT, 1, WRITE, 200);
        fixture.travels(start + 3 * US, 1, 1001, 200);
        let waiting = fixture.now;
        fixture.now = start + 12 * US;
        fixture.moves(SERVER, 1001, READ, 200);
        fixture.moves(SERVER, 1001, WRITE, 1000);
        fixture.waits(SERVER, 30 * MS, EPOLL_WAIT, |call| (call.result, call.argument_3) = (1, WRITABLE));
        fixture.moves(SERVER, 1002, WRITE, 500);
        fixture.waits(SERVER, 20 * MS, EPOLL_WAIT, |call| (call.result, call.argument_3) = (descriptors, found));
        if descriptors > 1 {
            fixture.moves(SERVER, 1002, WRITE, 500);
        }
        fixture.travels(fixture.now - MS, 1001, 1, 1000);
        fixture.moves(SERVER, 1001, WRITE, 500);
        let answered = fixture.now;
        fixture.travels(answered, 1001, 1, 500);
        fixture.now = waiting;
        fixture.waits_for(CLIENT, 1, answered + 12 * US - waiting, 1500);
        fixture
    }

    /// The time of all exchanges that is held in the server's kernel, and that the server polls.
    fn held_and_polled(fixture: Fixture) -> (u64, u64) {
        let recording = fixture.end();
        let ledger = Analysis::new(&recording).exchange_ledger();
        let sum = |accepts: &dyn Fn(&Account) -> bool| {
            ledger.accounts.iter().filter(|one| accepts(&one.account)).map(|one| one.ns).sum()
        };
        let held = sum(&|account| *account == Account::HeldInKernel { end: End::Server });
        (held, sum(&|account| matches!(account, Account::Blocked { wait: Wait::Events, .. })))
    }

    #[test]
    fn a_poll_that_ends_for_another_client_still_waits_for_room_in_this_connection() {
        for descriptors in [1, 2] {
            let (held, polled) = held_and_polled(beside_another(WRITABLE, descriptors));
            assert!(held > 48 * MS && polled == 0, "{descriptors}: {held} {polled}");
        }
    }

    #[test]
    fn a_poll_that_ends_for_something_to_read_waits_for_no_room() {
        let (held, polled) = held_and_polled(beside_another(READABLE, 1));
        assert!(held < MS && polled > 48 * MS, "{held} {polled}");
    }
}
