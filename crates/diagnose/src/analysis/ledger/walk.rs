//! Breakdown one exchange: every instant of it goes into exactly one account.
//!
//! The thread that makes the next transfer answers for the time until then. On a processor, or waiting for one, it is
//! charged itself; blocked in something else, that call is; waiting for this connection, the network's state is.

mod captured;

use super::account::{Account, Object, Phase};
use crate::analysis::Analysis;
use crate::analysis::ready;
use crate::connections::End;
use crate::exchange::Exchange;
use crate::search::not_after;
use crate::syscall;
use crate::threads::{Cursor, Moment, State, call_end};
use case::tables::{Call, role};

/// Takes a stretch of time and the account it goes into.
pub type Charge<'c> = dyn FnMut(u64, u64, Account) + 'c;

/// Breakdown exchanges; remembers where in each thread's time it was, since the next exchange is near.
pub struct Walker<'e> {
    pub(super) analysis: &'e Analysis<'e>,
    pub(super) cursors: Vec<Cursor>,
}

/// Who answers for a stretch of an exchange, and what for.
#[derive(Clone, Copy)]
struct Duty {
    /// The thread.
    slot: Option<usize>,
    /// Its process.
    pid: u32,
    /// Whether the transfer that ends the stretch reads.
    reads: bool,
    /// Whether another thread made the transfer before: then this one had nothing to do with it until its turn.
    handed_over: bool,
    /// When bytes to read had arrived; the far future where they had not.
    arrival: u64,
}

impl<'e> Walker<'e> {
    /// A walker over a recording.
    pub fn new(analysis: &'e Analysis<'e>) -> Walker<'e> {
        Walker { analysis, cursors: vec![Cursor::default(); analysis.threads.all().len()] }
    }

    /// Hands over the whole of an exchange, in order and without gaps. What fell into a stretch with lost events is
    /// unexplained, whatever the rows that were not lost say.
    pub fn exchange(&mut self, exchange: &Exchange, charge: &mut Charge) {
        let lost = &self.analysis.reconciliation.lost;
        if lost.is_empty() {
            return self.by_the_rows(exchange, charge);
        }
        self.by_the_rows(exchange, &mut |from, to, account| {
            overlay(lost, |&span| span, from, to, &mut |from, to, lost| {
                charge(from, to, if lost.is_some() { Account::Unexplained } else { account });
            });
        });
    }

    fn by_the_rows(&mut self, exchange: &Exchange, charge: &mut Charge) {
        let analysis = self.analysis;
        let mut from = exchange.start;
        let mut before = None;
        for &index in analysis.transfers(exchange) {
            let call = analysis.call(index as usize);
            let to = call_end(call).clamp(from, exchange.end);
            // Of a server alone nobody knows how the request came; it begins with that it was there.
            if before.is_none()
                && exchange.end_seen == End::Server
                && exchange.set_up.is_none()
                && !analysis.is_capture()
            {
                self.answering(exchange.connection, call, from, to, charge);
            } else {
                let duty = self.duty(exchange, call, before, from, to);
                self.stretch(exchange, &duty, from, to, charge);
            }
            from = to;
            before = Some(call.tid);
        }
        if from < exchange.end
            && let Some(&last) = analysis.transfers(exchange).last()
        {
            let call = analysis.call(last as usize);
            let duty = Duty { reads: true, ..self.duty(exchange, call, before, from, exchange.end) };
            let send_stalls = &analysis.connections.all()[exchange.connection].send_stalls;
            overlay(send_stalls, |stall| (stall.start, stall.end), from, exchange.end, &mut |from, to, stall| {
                match stall {
                    // Its thread has done its part, whatever it does meanwhile for others.
                    Some(stall) if stall.nagle.is_some() && exchange.end_seen == End::Server => {
                        charge(from, to, Account::HeldByNagle(End::Server));
                    }
                    _ => self.stretch(exchange, &duty, from, to, charge),
                }
            });
        } else if from < exchange.end {
            charge(from, exchange.end, Account::Unexplained);
        }
    }

    fn duty(&self, exchange: &Exchange, call: &Call, before: Option<u32>, from: u64, to: u64) -> Duty {
        // Of a capture nobody asks what a thread waits for.
        let arrival = if self.analysis.is_capture() { None } else { self.arrival(exchange.connection, from, to) };
        let reads = syscall::is_read(call.number);
        let handed_over = before.is_some_and(|tid| tid != call.tid);
        // Where every segment was recorded, what is read and did not arrive since was there before.
        let is_seen = self.analysis.connections.all()[exchange.connection].under_way.is_some();
        let arrival = arrival.or_else(|| (reads && handed_over && is_seen).then_some(from));
        Duty {
            slot: self.analysis.threads.slot(call.tid),
            pid: call.pid,
            reads,
            handed_over,
            arrival: arrival.unwrap_or(u64::MAX),
        }
    }

    fn stretch(&mut self, exchange: &Exchange, duty: &Duty, from: u64, to: u64, charge: &mut Charge) {
        let analysis = self.analysis;
        if analysis.is_capture() {
            return captured::stretch(analysis, exchange, captured::Ends::of(duty.reads), (from, to), charge);
        }
        let held_at_peer = analysis.peer_stalls.get(&exchange.connection).filter(|_| exchange.end_seen == End::Server);
        let held_at_peer = held_at_peer.map_or(&[][..], Vec::as_slice);
        overlay(held_at_peer, |stall| (stall.start, stall.end), from, to, &mut |from, to, stall| match stall {
            // What a server's thread does for others meanwhile is not for this one.
            Some(_) => charge(from, to, Account::HeldAtPeer),
            None => self.by_the_thread(exchange, duty, (from, to), charge),
        });
    }

    /// By what the thread did that answers for a stretch.
    fn by_the_thread(&mut self, exchange: &Exchange, duty: &Duty, (from, to): (u64, u64), charge: &mut Charge) {
        let Some(slot) = duty.slot else { return charge_unless_empty(from, to, Account::Unexplained, charge) };
        let mut cursor = self.cursors[slot];
        self.analysis.threads.walk_by_doubt(slot, from, to, &mut cursor, &mut |moment| {
            self.moment(exchange, duty, moment, charge);
        });
        self.cursors[slot] = cursor;
    }

    fn moment(&mut self, exchange: &Exchange, duty: &Duty, moment: Moment, charge: &mut Charge) {
        let (from, to) = (moment.start, moment.end);
        let end = exchange.end_seen;
        let call = moment.call.map(|row| self.analysis.call(row));
        if moment.is_doubtful {
            return charge(from, to, Account::Unexplained);
        }
        match moment.state {
            State::OnProcessor => charge(from, to, on_processor(end, duty.pid, call)),
            State::Runnable => charge(from, to, Account::Processor(end)),
            State::Absent if duty.handed_over => self.waiting(exchange, duty, from, to, charge),
            State::Absent => charge(from, to, Account::Unexplained),
            State::Blocked | State::BlockedOnDisk => {
                let start = exchange.set_up.as_ref().map_or(0, |set_up| set_up.application);
                if from < start {
                    self.setting_up(exchange, duty, moment, charge);
                } else if self.waits_for_connection(exchange, duty, call, from) {
                    let until = if sleeps_on(duty, &moment, call) { duty.arrival.clamp(from, to) } else { to };
                    if from < until {
                        self.waiting(exchange, duty, from, until, charge);
                    }
                    // Who ends a wait takes long to find out: only where somebody is to be charged with it.
                    if until < to {
                        charge(until, to, self.blocked(end, duty.slot, moment));
                    }
                } else {
                    charge(from, to, self.blocked(end, duty.slot, moment));
                }
            }
        }
    }

    /// Blocked before the first request: the phase of the set-up it falls into, at the seams cut in two.
    fn setting_up(&mut self, exchange: &Exchange, duty: &Duty, moment: Moment, charge: &mut Charge) {
        let Some(set_up) = &exchange.set_up else { return };
        let resumed = self.analysis.connections.handshake(exchange.connection).is_some_and(|row| row.resumed);
        let handshake = if resumed { Phase::ResumedHandshake } else { Phase::FullHandshake };
        let phases = [
            (set_up.lookup.1, Some(Phase::Lookup)),
            (set_up.connect, None),
            (set_up.connected, Some(Phase::Connect)),
            (set_up.handshake, None),
            (set_up.ready, Some(handshake)),
            (set_up.application, None),
        ];
        let mut from = moment.start;
        for (phase_end, phase) in phases {
            let to = phase_end.min(moment.end);
            if from < to {
                match phase {
                    None => charge(from, to, self.blocked(exchange.end_seen, duty.slot, moment)),
                    Some(phase) => self.phase(exchange, duty, phase, (moment, from, to), charge),
                }
                from = to;
            }
        }
        if from < moment.end {
            self.waiting(exchange, duty, from, moment.end, charge);
        }
    }

    /// Part of a blocked moment, in one phase of the set-up: by what whoever was asked did meanwhile, where that was recorded.
    fn phase(
        &mut self,
        exchange: &Exchange,
        duty: &Duty,
        phase: Phase,
        (moment, from, to): (Moment, u64, u64),
        charge: &mut Charge,
    ) {
        let analysis = self.analysis;
        let rows = &analysis.connections.all()[exchange.connection];
        let blocked = self.blocked(exchange.end_seen, duty.slot, moment);
        match phase {
            Phase::Lookup if blocked.is_followed() => charge(from, to, blocked.within(phase)),
            Phase::Lookup => charge(from, to, Account::SetUp(phase, None)),
            Phase::Connect => overlay(&rows.repairs, |&span| span, from, to, &mut |from, to, repair| {
                let part = match repair {
                    // Whoever should have accepted may have been too busy to.
                    Some(_) if blocked.is_followed() => blocked,
                    Some(_) => Account::Retransmission,
                    None if rows.peer.is_some() => Account::Network,
                    None => Account::NetworkAndPeer,
                };
                charge(from, to, part.within(phase));
            }),
            Phase::FullHandshake | Phase::ResumedHandshake => {
                let call = moment.call.map(|row| analysis.call(row));
                let arrival = self.arrival(exchange.connection, moment.start, moment.end).unwrap_or(u64::MAX);
                let duty = Duty { reads: true, arrival, ..*duty };
                if !self.waits_for_connection(exchange, &duty, call, from) {
                    return charge(from, to, blocked.within(phase));
                }
                self.waiting(exchange, &duty, from, to, &mut |from, to, part| charge(from, to, part.within(phase)));
            }
        }
    }

    /// A moment in which a thread was blocked, by whoever ended that.
    pub(super) fn blocked(&self, end: End, thread: Option<usize>, moment: Moment) -> Account {
        match moment.call {
            None if moment.state == State::BlockedOnDisk => Account::PageFault(end),
            None => Account::BlockedElsewhere(end),
            Some(row) => {
                let on = object(self.analysis, row);
                let on =
                    thread.map_or(on, |thread| self.analysis.awaited.of_request(self.analysis, thread, &moment, on));
                Account::Blocked(end, self.analysis.call(row).number, on)
            }
        }
    }

    /// Whether a blocked thread waits for this connection rather than for something of its own.
    fn waits_for_connection(&self, exchange: &Exchange, duty: &Duty, call: Option<&Call>, from: u64) -> bool {
        let Some(call) = call else { return duty.handed_over };
        // What comes next is a write of its own: only a full send queue keeps it from that.
        if syscall::is_poll(call.number) {
            return duty.reads || self.is_held(exchange.connection, from);
        }
        let here = self.analysis.connections.row(exchange.connection).id;
        if call.connection == here && !syscall::is_accept(call.number) {
            return true;
        }
        // A runtime with threads of its own parks one in a futex while the connection is another's to watch: until the
        // bytes arrive it is they that are waited for.
        let parked = call.number == syscall::FUTEX && from < duty.arrival && duty.arrival != u64::MAX;
        duty.reads && (duty.handed_over || parked)
    }

    fn is_held(&self, slot: usize, at: u64) -> bool {
        let send_stalls = &self.analysis.connections.all()[slot].send_stalls;
        send_stalls.get(send_stalls.partition_point(|stall| stall.end <= at)).is_some_and(|stall| stall.start <= at)
    }

    /// Waiting for this connection: what the network, the kernels and the peer did meanwhile.
    fn waiting(&mut self, exchange: &Exchange, duty: &Duty, from: u64, to: u64, charge: &mut Charge) {
        let analysis = self.analysis;
        let rows = &analysis.connections.all()[exchange.connection];
        let held_at_peer = analysis.peer_stalls.get(&exchange.connection).map_or(&[][..], Vec::as_slice);
        let end = exchange.end_seen;
        let free = |walker: &mut Self, from: u64, to: u64, charge: &mut Charge| {
            overlay(&rows.repairs, |&span| span, from, to, &mut |from, to, repair| {
                if repair.is_some() {
                    return charge(from, to, Account::Retransmission);
                }
                let arrived = if duty.reads { duty.arrival.clamp(from, to) } else { to };
                if from < arrived {
                    match rows.peer {
                        Some(peer) if end == End::Client => walker.peer(peer, from, arrived, charge),
                        _ => charge(from, arrived, Account::NetworkAndPeer),
                    }
                }
                charge_unless_empty(arrived, to, Account::WakeUp(end), charge);
            });
        };
        overlay(&rows.send_stalls, |stall| (stall.start, stall.end), from, to, &mut |from, to, stall| match stall {
            Some(stall) if stall.nagle.is_some() => charge(from, to, Account::HeldByNagle(end)),
            Some(_) => charge(from, to, Account::HeldInKernel(end)),
            None => {
                overlay(held_at_peer, |stall| (stall.start, stall.end), from, to, &mut |from, to, stall| match stall {
                    Some(_) => charge(from, to, Account::HeldAtPeer),
                    None => free(self, from, to, charge),
                });
            }
        });
    }
}

/// Whether what arrives does not end a wait: one of a thread that has just been handed a connection and does something of its own
/// first, or one for events that goes on until its time is over.
fn sleeps_on(duty: &Duty, moment: &Moment, call: Option<&Call>) -> bool {
    let sleeps = call.is_some_and(|call| syscall::is_sleep(call.number));
    let times_out = call.is_some_and(|call| syscall::is_poll(call.number) && call.finished && call.result == 0);
    times_out || duty.handed_over && (sleeps || moment.state == State::BlockedOnDisk)
}

/// The account of a thread on a processor.
pub(super) fn on_processor(end: End, pid: u32, call: Option<&Call>) -> Account {
    if call.is_some() { Account::Kernel(end) } else { Account::User(end, pid) }
}

/// What a blocked call is about; for one that waits for any of several descriptors, the server that then answered.
pub(crate) fn object(analysis: &Analysis, row: usize) -> Object {
    let call = analysis.call(row);
    if syscall::is_nap(call) {
        return Object::TimeOut;
    }
    if syscall::is_poll(call.number) {
        let asks = |slot: &usize| analysis.connections.row(*slot).role == role::CLIENT;
        let ready = ready::connection(analysis, row).map(|(slot, _)| slot).filter(asks);
        return ready.map_or(Object::Unnamed, |slot| Object::Connection(slot as u32));
    }
    if call.number == syscall::FUTEX {
        return Object::Unnamed;
    }
    match analysis.connections.slot(call.connection) {
        Some(slot) if call.connection != 0 => Object::Connection(slot as u32),
        _ if call.path != 0 => Object::Path(call.path),
        _ => Object::Unnamed,
    }
}

fn charge_unless_empty(from: u64, to: u64, account: Account, charge: &mut Charge) {
    if from < to {
        charge(from, to, account);
    }
}

/// Cuts a stretch at the borders of the spans of a sorted list; each piece comes with the span it lies in.
pub(super) fn overlay<T>(
    list: &[T],
    span: impl Fn(&T) -> (u64, u64),
    from: u64,
    to: u64,
    emit: &mut dyn FnMut(u64, u64, Option<&T>),
) {
    let mut at = from;
    let first = not_after(list, |item| span(item).1, from);
    for item in &list[first..] {
        let (start, end) = span(item);
        if start >= to || at >= to {
            break;
        }
        if start > at {
            emit(at, start, None);
            at = start;
        }
        if end.min(to) > at {
            emit(at, end.min(to), Some(item));
            at = end.min(to);
        }
    }
    if at < to {
        emit(at, to, None);
    }
}
