//! Bytes held at a peer that nobody watched, seen from the end that waits for them: a small piece arrives, the reader's
//! own delayed-ACK timer fires, a bare acknowledgement leaves, and a round trip later the rest is there.
//!
//! A sender that merely takes as long looks alike once, not every time. So every case of one peer is judged together:
//! the rest must follow the acknowledgement in nearly all of them, at the same distance, and that distance must vary no
//! more than the one from the first piece. Where a piece was acknowledged at once, its rest must not come late as well:
//! Linux does so for the first segments of a connection (its quick-ACK mode), and those exchanges are the control.

use crate::analysis::Analysis;
use crate::connections::{End, transfer_at};
use crate::exchange::Exchange;
use crate::search::before;
use crate::send_stalls::USUAL_SEGMENT;
use crate::syscall;
use crate::threads::{Cursor, State, call_end};
use case::tables::{Call, Segment, direction, event, flags, transport};
use std::collections::{BTreeMap, BTreeSet};

/// Linux delays an acknowledgement by 40 ms at least, adapting up to 200 ms, others by more; anything under half of
/// that is no such timer.
const DELAYED: u64 = 20_000_000;

/// How soon after the timer the acknowledgement leaves: measured 13 to 15 us; 1 ms allows for a busy processor.
const TIMER_LEAD: u64 = 1_000_000;

/// Beyond the round trips, how late the rest may be in a single case: 1 ms allows for a busy processor.
const LATE: u64 = 1_000_000;

/// Beyond one and a half round trips, how late the rest may be in four cases of five: on a loopback whose round trip is
/// 4 to 9 us nine tenths came within 26 to 50 us, all of it in the kernel. A program that has to be woken first takes
/// longer: behind relays on the same machine, whose own delayed acknowledgement fires at the same tick of the clock,
/// nine tenths took up to 89 and 159 us.
const LATE_AS_A_RULE: u64 = 50_000;

/// How much more than the distance from the first piece the distance from the acknowledgement may vary: a few runs of
/// the kernel's network code.
const NOISE: u64 = 20_000;

/// Exchanges that must show it: twice may be chance.
const EXCHANGES: usize = 3;

/// One stall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerStall {
    /// When the last piece before it had arrived.
    pub start: u64,
    /// When the held bytes arrived.
    pub end: u64,
    /// When the acknowledgement left that released them.
    pub acknowledged: u64,
    /// Bytes of the piece before.
    pub piece: u32,
    /// Bytes that were held.
    pub bytes: u32,
    /// The firing of the timer: a row of the table of TCP events; none in a capture, which does not show it.
    pub timer: Option<usize>,
    /// The read that waited for them: a row of the table of calls.
    pub read: usize,
    /// How long the reader's thread waited for them meanwhile, within the exchange.
    pub waited: u64,
}

impl PeerStall {
    /// From the acknowledgement to the rest.
    pub fn release(&self) -> u64 {
        self.end.saturating_sub(self.acknowledged)
    }

    fn length(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

/// All stalls, by the place of their connection, in order of time.
pub type PeerStalls = BTreeMap<usize, Vec<PeerStall>>;

/// What the delayed acknowledgements towards one peer were followed by.
#[derive(Default)]
struct Towards {
    /// Timers that fired within exchanges while a piece was not acknowledged.
    fired: usize,
    /// Those where the rest came soon enough after the acknowledgement to ask whether it was waiting for it.
    soon: usize,
    /// Those where it came when the acknowledgement can have released it: connection, exchange, stall.
    tied: Vec<(usize, usize, PeerStall)>,
    /// Pieces that were acknowledged at once, as at the beginning of a connection, and whose rest came soon.
    prompt: usize,
    /// Such pieces whose rest came as late as if the acknowledgement had been delayed.
    late: usize,
}

/// Which end reads, and whom from: a server's address, or the port that clients come to from many.
type Peer = (End, String);

/// Finds the stalls of connections whose other end was not recorded.
pub fn find(analysis: &Analysis) -> PeerStalls {
    if analysis.is_capture() {
        return on_the_wire(analysis);
    }
    let mut peers: BTreeMap<Peer, Towards> = BTreeMap::new();
    for (number, exchange) in analysis.exchanges.iter().enumerate() {
        let Some(peer) = unseen_peer(analysis, exchange) else { continue };
        for timer in firings(analysis, exchange) {
            peers.entry(peer.clone()).or_default().judge(analysis, exchange, number, timer);
        }
    }
    peers.retain(|_, towards| towards.is_nagle(analysis));
    if !peers.is_empty() {
        for exchange in &analysis.exchanges {
            if let Some(towards) = unseen_peer(analysis, exchange).and_then(|peer| peers.get_mut(&peer)) {
                towards.compare(analysis, exchange);
            }
        }
        peers.retain(|_, towards| !towards.is_late_anyway());
    }
    in_order(peers.into_values().flat_map(|towards| towards.tied))
}

/// What the segments of a capture show, as far as it falls into exchanges.
fn on_the_wire(analysis: &Analysis) -> PeerStalls {
    let tied = analysis.exchanges.iter().enumerate().flat_map(|(number, exchange)| {
        let slot = exchange.connection;
        let held = &analysis.connections.all()[slot].held_at_peer;
        let first = held.partition_point(|one| one.end <= exchange.start);
        let within = held[first..].iter().take_while(|one| one.end <= exchange.end);
        within.filter(|one| one.start >= exchange.start).filter_map(move |one| {
            let read = transfer_at(&analysis.connections, slot, &analysis.recording.calls, one.end)?;
            let (start, end, acknowledged) = (one.start, one.end, one.acknowledged);
            let (piece, bytes, waited) = (one.piece, one.bytes, end - start);
            Some((slot, number, PeerStall { start, end, acknowledged, piece, bytes, timer: None, read, waited }))
        })
    });
    in_order(tied)
}

fn unseen_peer(analysis: &Analysis, exchange: &Exchange) -> Option<Peer> {
    let slot = exchange.connection;
    let rows = &analysis.connections.all()[slot];
    let row = analysis.connections.row(slot);
    if rows.peer.is_some() || rows.events.is_empty() || row.transport != transport::TCP {
        return None;
    }
    let name = match exchange.end_seen {
        End::Client => analysis.connections.remote(slot),
        End::Server => row.local_port.to_string(),
    };
    Some((exchange.end_seen, name))
}

fn in_order(tied: impl Iterator<Item = (usize, usize, PeerStall)>) -> PeerStalls {
    let mut found = PeerStalls::new();
    for (slot, _, stall) in tied {
        found.entry(slot).or_default().push(stall);
    }
    for send_stalls in found.values_mut() {
        send_stalls.sort_by_key(|stall| (stall.end, stall.start));
        // Two firings cannot have waited for the same piece: one of the rows is damaged.
        let mut free_from = 0;
        send_stalls.retain(|stall| {
            let free = stall.start >= free_from;
            free_from = if free { stall.end } else { free_from };
            free
        });
    }
    found
}

/// The firings of the delayed-ACK timer within an exchange, once its connection was set up.
fn firings(analysis: &Analysis, exchange: &Exchange) -> Vec<usize> {
    let start = exchange.start.max(exchange.set_up.as_ref().map_or(0, |set_up| set_up.application));
    let range = analysis.connections.all()[exchange.connection].events.clone();
    let events = analysis.connections.events(exchange.connection);
    let first = events.partition_point(|row| row.time.0 < start);
    let last = events.partition_point(|row| row.time.0 < exchange.end).max(first);
    let fired = |at: &usize| events[*at].event == event::DELAYED_ACK_FIRED;
    (first..last).filter(fired).map(|at| range.start + at).collect()
}

impl Towards {
    fn judge(&mut self, analysis: &Analysis, exchange: &Exchange, number: usize, timer: usize) {
        let segments = analysis.connections.segments(exchange.connection);
        let time = analysis.recording.tcp_events[timer].time.0;
        let Some(piece) = unacknowledged_piece(segments, time) else { return };
        self.fired += 1;
        let Some(stall) = stall(analysis, exchange, timer, piece) else { return };
        // A rest that comes much later than the acknowledgement has nothing to do with it, and says nothing about
        // others.
        if stall.release().saturating_mul(2) > stall.length() {
            return;
        }
        self.soon += 1;
        let round_trip = analysis.connections.round_trip(exchange.connection).unwrap_or_default();
        let earliest = round_trip.saturating_sub(LATE);
        let latest = round_trip.saturating_mul(2).max(LATE);
        if (earliest..=latest).contains(&stall.release()) {
            self.tied.push((exchange.connection, number, stall));
        }
    }

    /// Looks at pieces that were acknowledged at once: where their rest comes late too, it waits for something else.
    fn compare(&mut self, analysis: &Analysis, exchange: &Exchange) {
        let segments = analysis.connections.segments(exchange.connection);
        let first = segments.partition_point(|segment| segment.time.0 < exchange.start);
        let within = segments[first..].iter().take_while(|segment| segment.time.0 < exchange.end);
        for piece in within.filter(|segment| segment.direction == direction::IN && segment.payload > 0) {
            let time = piece.time.0;
            match released(segments, time.saturating_add(1), piece) {
                Some((_, rest)) if rest.time.0 > exchange.end => {}
                Some((_, rest)) if rest.time.0.saturating_sub(time) >= DELAYED => self.late += 1,
                Some(_) => self.prompt += 1,
                None => {}
            }
        }
    }

    fn is_late_anyway(&self) -> bool {
        self.late > 0 && self.late >= self.prompt
    }

    /// Whether the rest waits for the acknowledgement: nearly always, in step with it, and a round trip after it.
    fn is_nagle(&self, analysis: &Analysis) -> bool {
        let exchanges: BTreeSet<usize> = self.tied.iter().map(|&(_, number, _)| number).collect();
        let often = exchanges.len() >= EXCHANGES && self.tied.len() * 2 >= self.fired;
        if !often || self.tied.len() * 5 < self.soon * 4 {
            return false;
        }
        let round_trip = |slot: usize| analysis.connections.round_trip(slot).unwrap_or_default();
        let prompt = |&&(slot, _, stall): &&(usize, usize, PeerStall)| {
            let usual = round_trip(slot);
            stall.release() <= usual.saturating_add(usual / 2).saturating_add(LATE_AS_A_RULE)
        };
        let nearly_always_prompt = self.tied.iter().filter(prompt).count() * 5 >= self.tied.len() * 4;
        let from_acknowledgement = spread(self.tied.iter().map(|(_, _, stall)| stall.release()).collect());
        let from_piece = spread(self.tied.iter().map(|(_, _, stall)| stall.length()).collect());
        nearly_always_prompt && from_acknowledgement <= from_piece.saturating_add(NOISE)
    }
}

/// How far values lie from their middle: the median of the distances from the median.
fn spread(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    let Some(&middle) = values.get(values.len() / 2) else { return 0 };
    let mut distances: Vec<u64> = values.into_iter().map(|value| value.abs_diff(middle)).collect();
    distances.sort_unstable();
    distances[distances.len() / 2]
}

/// The last payload that had arrived before a time, where nothing has left since.
fn unacknowledged_piece(segments: &[Segment], before: u64) -> Option<&Segment> {
    let last = segments.partition_point(|segment| segment.time.0 < before);
    let since = segments[..last].iter().rev().take_while(|segment| segment.direction == direction::IN);
    since.into_iter().find(|segment| segment.payload > 0)
}

/// The stall that a firing ended, where a thread waited for what came next.
fn stall(analysis: &Analysis, exchange: &Exchange, timer: usize, piece: &Segment) -> Option<PeerStall> {
    let fired = analysis.recording.tcp_events[timer].time.0;
    let row = analysis.connections.row(exchange.connection);
    let segment_size = if row.mss > 0 { u64::from(row.mss) } else { USUAL_SEGMENT };
    let small = |segment: &Segment| u64::from(segment.payload) < segment_size;
    let (acknowledgement, rest) = released(analysis.connections.segments(exchange.connection), fired, piece)?;
    let (start, end) = (piece.time.0, rest.time.0);
    if !small(piece) || !small(rest) || fired.saturating_sub(start) < DELAYED || end > exchange.end {
        return None;
    }
    let transfers = analysis.transfers(exchange).iter().map(|&index| index as usize);
    // What it writes meanwhile makes the wait its own.
    let mut rest_of_turn = transfers.skip_while(|&index| call_end(analysis.call(index)) <= start);
    let mut wrote = false;
    let read = rest_of_turn.find(|&index| {
        let call = analysis.call(index);
        // A request's own write may still be on its way back when the first piece is there: on a loopback it often is.
        wrote |= !syscall::is_read(call.number) && call.start.0 > start;
        wrote || (syscall::is_read(call.number) && call_end(call) >= end)
    })?;
    let waited = waited(analysis, analysis.call(read), start.max(exchange.start), end);
    let waits = !wrote && waited.saturating_mul(2) >= end - start;
    let (acknowledged, bytes, timer) = (acknowledgement.time.0, rest.payload, Some(timer));
    waits.then_some(PeerStall { start, end, acknowledged, piece: piece.payload, bytes, timer, read, waited })
}

/// The bare acknowledgement of a piece that left soon after a time, and the payload that came next.
fn released<'r>(segments: &'r [Segment], after: u64, piece: &Segment) -> Option<(&'r Segment, &'r Segment)> {
    let at = segments.partition_point(|segment| segment.time.0 < after);
    let next = segments[at..].iter().position(|row| row.direction == direction::OUT || row.payload > 0)?;
    let acknowledgement = &segments[at + next];
    let until = piece.sequence.wrapping_add(piece.payload);
    let bare = acknowledgement.direction == direction::OUT && is_bare(acknowledgement);
    let prompt = acknowledgement.time.0.saturating_sub(after) <= TIMER_LEAD;
    if !bare || !prompt || acknowledgement.acknowledged != until {
        return None;
    }
    let rest = segments[at + next + 1..].iter().find(|row| row.payload > 0 || !is_bare(row))?;
    let follows = rest.direction == direction::IN && rest.payload > 0 && rest.sequence == until;
    follows.then_some((acknowledgement, rest))
}

fn is_bare(segment: &Segment) -> bool {
    segment.payload == 0 && segment.flags & (flags::SYN | flags::FIN | flags::RST) == 0
}

/// How long the thread of a read waited for its bytes between two times: blocked, or busy with other connections from
/// where it asked which of them had something to where it asked so last. What had come meanwhile it would have had by
/// then.
fn waited(analysis: &Analysis, read: &Call, from: u64, to: u64) -> u64 {
    let Some(slot) = analysis.threads.slot(read.tid) else { return 0 };
    let calls = &analysis.recording.calls[analysis.threads.all()[slot].calls.clone()];
    let within = |time| before(calls, |call| call.start.0, time);
    let (first, last) = (within(from), within(to));
    let mut polls = calls[first.min(last)..last].iter().filter(|call| syscall::is_poll(call.number));
    let Some(asked) = polls.next().map(|call| call.start.0) else { return blocked(analysis, read, from, to) };
    let asked_last = polls.next_back().map_or(asked, |call| call.start.0);
    (asked_last - asked) + blocked(analysis, read, from, asked) + blocked(analysis, read, asked_last, to)
}

/// How long the thread of a read was blocked between two times in something that the read's bytes can end.
fn blocked(analysis: &Analysis, read: &Call, from: u64, to: u64) -> u64 {
    let mut total = 0;
    if let Some(slot) = analysis.threads.slot(read.tid) {
        analysis.threads.walk(slot, from, to, &mut Cursor::default(), &mut |moment| {
            if moment.state == State::Blocked
                && moment.call.is_some_and(|row| waits_for_the_same(analysis.call(row), read))
            {
                total += moment.end - moment.start;
            }
        });
    }
    total
}

/// Whether a blocked call may wait for what a read took: not for a time, a disk or another connection.
fn waits_for_the_same(call: &Call, read: &Call) -> bool {
    let reads_it = syscall::is_read(call.number) && call.connection == read.connection;
    reads_it || syscall::is_poll(call.number) || call.number == syscall::FUTEX
}
