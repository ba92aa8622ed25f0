//! Where a sender stops in the middle of a message until an acknowledgement arrives.

use crate::analysis::Analysis;
use crate::exchange::Exchange;
use crate::syscall;
use crate::threads::{Cursor, Moment, State, call_end};
use case::tables::{Segment, direction, flags};

/// A wait of a sender for an acknowledgement, with more of a message to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// When the last segment before had left.
    pub from: u64,
    /// When the acknowledgement had arrived that let the next one go.
    pub acknowledged: u64,
    /// When the next one left, right after that.
    pub to: u64,
    /// Bytes in flight meanwhile.
    pub under_way: u64,
    /// What the kernel says kept it; see `case::tables::limit`.
    pub limit: u8,
}

/// The stops of an end's sender within an exchange, in order of time.
pub fn within(analysis: &Analysis, exchange: &Exchange, sender: usize) -> Vec<Stop> {
    let segments = analysis.connections.segments(sender);
    let first = segments.partition_point(|segment| segment.time.0 < exchange.start);
    let last = segments.partition_point(|segment| segment.time.0 <= exchange.end);
    let mut sent: Option<Sent> = None;
    let mut stops = Vec::new();
    for segment in &segments[first.min(last)..last] {
        if segment.direction == direction::OUT {
            if segment.payload == 0 {
                continue;
            }
            if let Some(before) = &sent
                && let Some((at, limit)) = before.acknowledged
                && segment.time.0 - at < at - before.at
            {
                let under_way = before.under_way;
                stops.push(Stop { from: before.at, acknowledged: at, to: segment.time.0, under_way, limit });
            }
            sent = Some(Sent::after(segment, sent.as_ref()));
        } else if segment.payload > 0 {
            // The peer answers: another message.
            sent = None;
        } else if segment.flags & flags::ACK != 0
            && let Some(before) = &mut sent
        {
            before.acknowledge(segment);
        }
    }
    stops
}

/// What the sender has in flight.
struct Sent {
    /// When its last segment left.
    at: u64,
    /// Up to where it is acknowledged.
    known: u32,
    /// Bytes in flight when the last segment had left.
    under_way: u64,
    /// When the last acknowledgement since then arrived, and what kept the sender by then.
    acknowledged: Option<(u64, u8)>,
}

impl Sent {
    fn after(segment: &Segment, before: Option<&Sent>) -> Sent {
        let end = segment.sequence.wrapping_add(segment.payload);
        let known = before.map_or(segment.sequence, |before| before.known);
        Sent { at: segment.time.0, known, under_way: u64::from(end.wrapping_sub(known)), acknowledged: None }
    }

    fn acknowledge(&mut self, segment: &Segment) {
        if segment.acknowledged.wrapping_sub(self.known) as i32 > 0 {
            self.known = segment.acknowledged;
            self.acknowledged = Some((segment.time.0, segment.limit));
        }
    }
}

/// Whether the sender had more to send, between two times, than its kernel took: it lies there, or its thread was blocked for
/// most of the time in writing it, or until it could.
pub fn is_stuck(analysis: &Analysis, sender: usize, from: u64, to: u64) -> bool {
    let connections = &analysis.connections;
    let unsent = &connections.all()[sender].unsent;
    let first = unsent.partition_point(|&(_, end)| end < to);
    if unsent.get(first).is_some_and(|&(start, _)| start <= to) {
        return true;
    }
    let is_for_room = |moment: &Moment| {
        let Some(call) = moment.call.map(|row| analysis.call(row)) else { return false };
        let is_write = syscall::is_write(call.number) && call.connection == connections.row(sender).id;
        let is_poll = syscall::is_poll(call.number) && call.result > 0 && call_end(call) >= to;
        moment.state == State::Blocked && (is_write || is_poll)
    };
    is_most(analysis, sender, from, to, syscall::is_write, is_for_room)
}

/// Whether the receiver's thread was blocked for most of a time, as it is when it has read all there is; with a small buffer it
/// is enough that it was reading.
pub fn waits_for_data(analysis: &Analysis, receiver: usize, is_small: bool, from: u64, to: u64) -> bool {
    let waits = |moment: &Moment| {
        let number = moment.call.map(|row| analysis.call(row).number);
        let is_for_data = number.is_some_and(|number| syscall::is_poll(number) || syscall::is_read(number));
        is_for_data && (is_small || moment.state == State::Blocked)
    };
    is_most(analysis, receiver, from, to, syscall::is_read, waits)
}

/// Whether the thread that makes the next transfer of a kind did what the test accepts for half of a time.
fn is_most(
    analysis: &Analysis,
    slot: usize,
    from: u64,
    to: u64,
    kind: impl Fn(u16) -> bool,
    accepts: impl Fn(&Moment) -> bool,
) -> bool {
    let transfers = analysis.connections.transfer_numbers(slot);
    let next = transfers.partition_point(|&row| call_end(analysis.call(row as usize)) < to);
    let next = transfers[next..].iter().map(|&row| analysis.call(row as usize)).find(|call| kind(call.number));
    let Some(thread) = next.and_then(|call| analysis.threads.slot(call.tid)) else { return false };
    let mut accepted = 0;
    analysis.threads.walk(thread, from, to, &mut Cursor::default(), &mut |moment| {
        if accepts(&moment) {
            accepted += moment.end - moment.start;
        }
    });
    2 * accepted >= to - from
}
