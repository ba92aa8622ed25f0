//! Continues a wait into the peer's own threads, where both ends were recorded.

use super::account::Account;
use super::room::Room;
use super::walk::{Charge, Walker, on_processor, overlay};
use crate::analysis::ender;
use crate::connections::End;
use crate::search::not_after;
use crate::syscall;
use crate::threads::{Moment, State, call_end};
use case::tables::{Call, direction, transport};

impl Walker<'_> {
    /// Breakdown a stretch in which the client waited: under way, with the server, or held in the server's kernel.
    pub(super) fn peer(&mut self, slot: usize, from: u64, to: u64, charge: &mut Charge) {
        let analysis = self.analysis;
        let transfers = analysis.connections.transfer_numbers(slot);
        let mut next = not_after(transfers, |&row| call_end(analysis.call(row as usize)), from);
        let mut at = from;
        while at < to {
            let before = next.checked_sub(1).and_then(|row| transfers.get(row)).map(|&row| analysis.call(row as usize));
            let Some(&row) = transfers.get(next) else {
                return self.after_the_last_transfer(slot, before, at, to, charge);
            };
            let call = analysis.call(row as usize);
            let until = call_end(call).clamp(at, to);
            if syscall::is_write(call.number) {
                self.answering(slot, call, at, until, charge);
            } else {
                // A read that goes on beyond this stretch may be for what comes after it.
                let arrived = self.arrival(slot, at, call_end(call)).map(|arrived| arrived.min(until));
                let arrived = arrived.or_else(|| {
                    self.analysis.connections.arrived_at_once(slot).filter(|time| (at..=until).contains(time))
                });
                // Where every segment was recorded, what is read and did not arrive since was there before: a piece of a whole.
                let is_seen = analysis.connections.all()[slot].under_way.is_some();
                let arrived = arrived.unwrap_or(if is_seen { at } else { until });
                // What had arrived before belongs to a read that began before it could be asked for here.
                let is_there = analysis.connections.has_unread(slot, at) || self.has_arrived_before(slot, before, at);
                let arrived = if is_there { at } else { arrived };
                self.under_way(slot, at, arrived, charge);
                self.answering(slot, call, arrived, until, charge);
            }
            at = until;
            next += 1;
        }
    }

    /// The first payload that reached an end of a connection in a stretch.
    pub(super) fn arrival(&self, slot: usize, from: u64, to: u64) -> Option<u64> {
        if self.analysis.connections.row(slot).transport == transport::UNIX {
            return self.written(self.analysis.connections.all()[slot].peer?, from, to);
        }
        let segments = self.analysis.connections.segments(slot);
        let first = not_after(segments, |segment| segment.time.0, from);
        let mut here = segments[first..].iter().take_while(|segment| segment.time.0 <= to);
        here.find(|segment| segment.direction == direction::IN && segment.payload > 0).map(|segment| segment.time.0)
    }

    /// When an end of a Unix socket first wrote in a stretch: the other one has it at once.
    fn written(&self, slot: usize, from: u64, to: u64) -> Option<u64> {
        let call = |row: &u32| self.analysis.call(*row as usize);
        let rows = self.analysis.connections.transfer_numbers(slot);
        let first = not_after(rows, |row| call_end(call(row)), from);
        let mut here = rows[first..].iter().map(call).take_while(|call| call.start.0 <= to);
        here.find(|call| syscall::is_write(call.number) && call.result > 0).map(|call| call.start.0.max(from))
    }

    /// Whether a payload reached the server after its transfer before, and before a time.
    fn has_arrived_before(&self, slot: usize, before: Option<&Call>, at: u64) -> bool {
        self.arrival(slot, before.map_or(0, call_end), at).is_some()
    }

    fn after_the_last_transfer(&mut self, slot: usize, last: Option<&Call>, at: u64, to: u64, charge: &mut Charge) {
        let Some(call) = last else { return self.under_way(slot, at, to, charge) };
        if syscall::is_read(call.number) {
            return self.answering(slot, call, at, to, charge);
        }
        // The end of the stream comes once the thread that wrote last closes it.
        let mut pieces = Vec::new();
        self.under_way(slot, at, to, &mut |from, to, account| pieces.push((from, to, account)));
        for (from, to, account) in pieces {
            match account {
                Account::Unexplained => self.answering(slot, call, from, to, charge),
                account => charge(from, to, account),
            }
        }
    }

    /// Nothing for the server's thread to do: bytes were held in either kernel, or under way.
    fn under_way(&mut self, slot: usize, from: u64, to: u64, charge: &mut Charge) {
        let connections = self.analysis.connections.all();
        let rows = &connections[slot];
        let of_client = rows.peer.map_or(&[][..], |client| &connections[client].unsent);
        let free = |from: u64, to: u64, charge: &mut Charge| {
            let Some(under_way) = &rows.under_way else { return charge(from, to, Account::Network) };
            overlay(under_way, |&span| span, from, to, &mut |from, to, flight| match flight {
                Some(_) => charge(from, to, Account::Network),
                None => held(&rows.unsent, of_client, from, to, charge),
            });
        };
        overlay(&rows.send_stalls, |stall| (stall.start, stall.end), from, to, &mut |from, to, stall| match stall {
            Some(stall) if stall.nagle.is_some() => charge(from, to, Account::HeldByNagle(End::Server)),
            Some(_) => charge(from, to, Account::HeldInKernel(End::Server)),
            None => overlay(&rows.repairs, |&span| span, from, to, &mut |from, to, repair| match repair {
                Some(_) => charge(from, to, Account::Retransmission),
                None => free(from, to, charge),
            }),
        });
    }

    /// The server's thread has the request, or part of it: what it did until the transfer. Before the connection was accepted,
    /// and before the thread was started, that is for whoever accepted it.
    pub(super) fn answering(&mut self, slot: usize, call: &Call, from: u64, to: u64, charge: &mut Charge) {
        if from >= to {
            return;
        }
        let analysis = self.analysis;
        let Some(thread) = analysis.threads.slot(call.tid) else { return charge(from, to, Account::Unexplained) };
        let taken = ender::taken(analysis, slot, thread).filter(|taken| from < taken.until);
        let until = taken.as_ref().map_or(from, |taken| taken.until.min(to));
        if let Some(taken) = taken {
            self.by_thread(slot, taken.accept, taken.thread, (from, until), charge);
        }
        self.by_thread(slot, call, thread, (until, to), charge);
    }

    fn by_thread(&mut self, slot: usize, call: &Call, thread: usize, (from, to): (u64, u64), charge: &mut Charge) {
        let mut cursor = self.cursors[thread];
        self.analysis.threads.walk_by_doubt(thread, from, to, &mut cursor, &mut |moment| {
            self.answering_moment(slot, call, thread, moment, charge);
        });
        self.cursors[thread] = cursor;
    }

    fn answering_moment(&mut self, slot: usize, transfer: &Call, thread: usize, moment: Moment, charge: &mut Charge) {
        let analysis = self.analysis;
        let (from, to) = (moment.start, moment.end);
        let call = moment.call.map(|row| analysis.call(row));
        let here = analysis.connections.row(slot).id;
        if moment.is_doubtful {
            return charge(from, to, Account::Unexplained);
        }
        match (moment.state, call) {
            (State::OnProcessor, _) => charge(from, to, on_processor(End::Server, transfer.pid, call)),
            (State::Runnable, _) => charge(from, to, Account::Processor(End::Server)),
            (State::Absent, _) => charge(from, to, Account::Unexplained),
            (_, Some(call)) if syscall::is_write(call.number) && call.connection == here => {
                charge(from, to, Account::HeldInKernel(End::Server));
            }
            (_, Some(call))
                if takes(transfer.number)
                    && waits_for_requests(call, here)
                    && !moment.call.is_some_and(|row| ender::is_for_one_other(analysis, row, here)) =>
            {
                charge(from, to, Account::WakeUp(End::Server));
            }
            _ => {
                let otherwise = match self.room(slot, transfer, moment) {
                    Room::NotAwaited => return charge(from, to, self.blocked(End::Server, Some(thread), moment)),
                    Room::Here => Account::HeldInKernel(End::Server),
                    Room::Later => self.blocked(End::Server, Some(thread), moment),
                };
                // What it wrote before is on its way meanwhile, or not acknowledged yet.
                self.under_way(slot, from, to, &mut |from, to, account| {
                    charge(from, to, if account == Account::Unexplained { otherwise } else { account });
                });
            }
        }
    }
}

/// Both ends' segments were recorded and none was under way: written bytes waited in a kernel until the link or the peer's window
/// had room, or nobody knows what the time went into.
fn held(of_server: &[(u64, u64)], of_client: &[(u64, u64)], from: u64, to: u64, charge: &mut Charge) {
    overlay(of_server, |&span| span, from, to, &mut |from, to, unsent| match unsent {
        Some(_) => charge(from, to, Account::HeldInKernel(End::Server)),
        None => overlay(of_client, |&span| span, from, to, &mut |from, to, unsent| {
            let account = if unsent.is_some() { Account::HeldInKernel(End::Client) } else { Account::Unexplained };
            charge(from, to, account);
        }),
    });
}

/// Whether a call takes a connection, or a request from it.
fn takes(number: u16) -> bool {
    syscall::is_read(number) || syscall::is_accept(number)
}

/// Whether a blocked call is one that the request's arrival ends. A poll that timed out was not for this request, which was there:
/// its connection was not among those that it asked for.
fn waits_for_requests(call: &Call, connection: u32) -> bool {
    (syscall::is_poll(call.number) && !syscall::is_nap(call) && call.result != 0)
        || syscall::is_accept(call.number)
        || (call.connection == connection && syscall::is_read(call.number))
}

#[cfg(test)]
mod tests {
    use crate::Analysis;
    use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE};
    use case::tables::transport;
    use case::{Account, AccountTime, End};

    #[test]
    fn an_upload_that_waits_for_room_waits_for_what_the_server_does_between_its_reads() {
        let mut fixture = Fixture::new();
        fixture.stack(7, &["server!append", "server!main"]);
        fixture.connect(1, CLIENT);
        let start = fixture.now;
        // The whole of it fits into the server's buffer but for the last part, for which its second read makes room.
        fixture.travels(start + 5 * US, 1, 1001, 48_000);
        fixture.now = start + 20 * US;
        for part in 0..4 {
            fixture.moves(SERVER, 1001, READ, 16_000);
            fixture.computes(SERVER, 10 * MS, 7);
            if part == 1 {
                fixture.travels(fixture.now - 2 * MS, 1, 1001, 16_000);
            }
        }
        let answered = fixture.now;
        fixture.moves(SERVER, 1001, WRITE, 100);
        fixture.travels(answered + 3 * US, 1001, 1, 100);
        fixture.now = start;
        fixture.waits(CLIENT, 25 * MS, WRITE, |call| (call.connection, call.fd, call.result) = (1, 3, 64_000));
        let waiting = fixture.now;
        fixture.waits_for(CLIENT, 1, answered + 12 * US - waiting, 100);
        let recording = fixture.end();
        let ledger = Analysis::new(&recording).exchange_ledger();
        let is_the_servers = |one: &&AccountTime| matches!(one.account, Account::UserCpu { end: End::Server, .. });
        let on_cpu: u64 = ledger.accounts.iter().filter(is_the_servers).map(|one| one.ns).sum();
        assert!(on_cpu > 39 * MS, "{on_cpu}");
    }

    #[test]
    fn nothing_is_under_way_on_a_unix_socket() {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        for _ in 0..10 {
            // It is on CPU for another one when the request comes.
            fixture.served(|fixture| fixture.now += 5 * MS);
        }
        let mut recording = fixture.end();
        recording.segments.clear();
        recording.connections.iter_mut().for_each(|row| row.transport = transport::UNIX);
        let ledger = Analysis::new(&recording).exchange_ledger();
        let of = |wanted: fn(&Account) -> bool| {
            ledger.accounts.iter().filter(|one| wanted(&one.account)).map(|one| one.ns).sum::<u64>()
        };
        assert_eq!(of(|account| matches!(account, Account::Network | Account::NetworkAndPeer)), 0, "{ledger:#?}");
        assert!(of(|account| account.end() == Some(End::Server)) > 49 * MS, "{ledger:#?}");
        assert_eq!(ledger.unexplained, 0, "{ledger:#?}");
    }
}
