//! What one end of a connection sent, segment by segment, and what came back for it: positions in the stream, round trips,
//! bytes under way, and what was sent again.

use case::tables::{Segment, direction, flags};

/// A payload that left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// When.
    pub time: u64,
    /// The position of its first byte, and of the one after its last.
    pub from: u64,
    pub to: u64,
    /// Its row among the connection's segments.
    pub row: usize,
    /// When these bytes left before, the last time, where they did.
    pub before: Option<u64>,
    /// Bytes that were not acknowledged yet as it left, with its own.
    pub under_way: u64,
}

/// An acknowledgement of something new that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledged {
    /// When.
    pub time: u64,
    /// The position after the last byte acknowledged.
    pub to: u64,
    /// The time since the last acknowledged segment left, where it was sent once.
    pub round_trip: Option<u64>,
}

/// A pause of a sender that had more to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// When the last segment before left, and the next one.
    pub from: u64,
    pub to: u64,
    /// Bytes under way meanwhile.
    pub window: u64,
}

/// How soon after an acknowledgement the bytes that waited for it leave: as with Nagle's algorithm, 1 ms allows for a busy
/// processor.
const RELEASE: u64 = 1_000_000;

/// One direction of a connection, as its sender saw it.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// In order of time.
    pub sent: Vec<Sent>,
    /// In order of time.
    pub acknowledged: Vec<Acknowledged>,
}

impl Flow {
    /// Reads off a connection's segments, in order of time, what its own end sent. A SYN has position 0.
    pub fn new(segments: &[Segment]) -> Flow {
        Flow::of(segments, direction::OUT)
    }

    /// The same of what went in a direction.
    pub fn of(segments: &[Segment], way: u8) -> Flow {
        let mut flow = Flow::default();
        let mut base: Option<u32> = None;
        // The furthest position that left, and that was acknowledged.
        let (mut left, mut known) = (0u64, 0u64);
        for (row, segment) in segments.iter().enumerate() {
            if segment.direction == way {
                let syn = u32::from(segment.flags & flags::SYN != 0);
                if segment.payload == 0 {
                    base = base.or((syn > 0).then_some(segment.sequence.wrapping_add(1)));
                    continue;
                }
                let base = *base.get_or_insert(segment.sequence);
                let from = position(segment.sequence, base, left);
                let to = from.saturating_add(u64::from(segment.payload));
                let before = if from < left { flow.left_before(from) } else { None };
                left = left.max(to);
                let under_way = left.saturating_sub(known);
                flow.sent.push(Sent { time: segment.time.0, from, to, row, before, under_way });
            } else if let Some(base) = base.filter(|_| segment.flags & flags::ACK != 0) {
                let to = position(segment.acknowledged, base, known).min(left);
                if to > known {
                    known = to;
                    let round_trip = flow.round_trip(to, segment.time.0);
                    flow.acknowledged.push(Acknowledged { time: segment.time.0, to, round_trip });
                }
            }
        }
        flow
    }

    /// When the byte at a position left, the last time. Of what is sent again the first time is not far back.
    fn left_before(&self, position: u64) -> Option<u64> {
        self.sent.iter().rev().find(|sent| (sent.from..sent.to).contains(&position)).map(|sent| sent.time)
    }

    fn round_trip(&self, to: u64, time: u64) -> Option<u64> {
        let last = self.sent.iter().rev().find(|sent| sent.from < to)?;
        let again = self.sent.iter().rev().take_while(|sent| sent.time >= last.time).any(|sent| sent.before.is_some());
        (last.before.is_none() && !again).then(|| time.saturating_sub(last.time))
    }

    /// Pauses that the congestion window makes: all that was under way was waited for, half a round trip or more, and an
    /// acknowledgement let the next segment go, with bytes waiting to be sent all the time (`unsent`, in order of time).
    pub fn pauses(&self, unsent: &[(u64, u64)]) -> Vec<Pause> {
        let Some(round_trip) = self.shortest_round_trip() else { return Vec::new() };
        let pause = |pair: &[Sent]| {
            let (last, next) = (pair[0], pair[1]);
            let is_long = next.time.saturating_sub(last.time) >= round_trip / 2 && next.before.is_none();
            let at = unsent.partition_point(|&(_, end)| end < next.time);
            let waits = unsent.get(at).is_some_and(|&(start, _)| start <= last.time.saturating_add(round_trip / 4));
            let by = self.acknowledged.partition_point(|one| one.time <= next.time);
            let freed = by.checked_sub(1).map(|at| self.acknowledged[at].time);
            let is_freed = freed.is_some_and(|time| time > last.time && next.time.saturating_sub(time) < RELEASE);
            (is_long && waits && is_freed).then_some(Pause { from: last.time, to: next.time, window: last.under_way })
        };
        self.sent.windows(2).filter_map(pause).collect()
    }

    /// The shortest round trip that it shows.
    pub fn shortest_round_trip(&self) -> Option<u64> {
        self.acknowledged.iter().filter_map(|one| one.round_trip).min()
    }
}

/// A sequence number as a position, nearest to one that is known: the numbers wrap, positions do not.
fn position(sequence: u32, base: u32, near: u64) -> u64 {
    let offset = sequence.wrapping_sub(base).wrapping_sub(near as u32) as i32;
    near.saturating_add_signed(i64::from(offset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::Nanos;

    fn segment(time: u64, way: u8, sequence: u32, acknowledged: u32, payload: u32) -> Segment {
        let (time, flags) = (Nanos(time), flags::ACK);
        Segment { time, connection: 1, direction: way, flags, sequence, acknowledged, payload, limit: 0 }
    }

    #[test]
    fn what_was_sent_again_is_known_with_when_it_left_before_also_where_numbers_wrap() {
        let base = u32::MAX - 150;
        let out = |time, at: u32| segment(time, direction::OUT, base.wrapping_add(at), 0, 100);
        let back = |time, at: u32| segment(time, direction::IN, 0, base.wrapping_add(at), 0);
        let flow = Flow::new(&[out(1, 0), out(2, 100), out(3, 200), back(11, 100), out(212, 100), back(222, 300)]);
        let sent = |time, from, before, under_way, row| Sent { time, from, to: from + 100, row, before, under_way };
        assert_eq!(flow.sent[1], sent(2, 100, None, 200, 1));
        assert_eq!(flow.sent[3], sent(212, 100, Some(2), 200, 4));
        let round_trips: Vec<_> = flow.acknowledged.iter().map(|one| (one.to, one.round_trip)).collect();
        assert_eq!(round_trips, [(100, Some(10)), (300, None)]);
    }

    #[test]
    fn a_sender_pauses_where_it_has_more_to_send_and_an_acknowledgement_lets_it_go_on() {
        let out = |time, at: u32| segment(time, direction::OUT, at, 0, 100);
        let back = |time, at: u32| segment(time, direction::IN, 0, at, 0);
        let flow = Flow::new(&[out(1, 0), out(2, 100), back(12, 200), out(13, 200), back(23, 300), out(60, 300)]);
        // The last one was not written before 59.
        let pauses = flow.pauses(&[(1, 13), (59, 60)]);
        assert_eq!(pauses, [Pause { from: 2, to: 13, window: 200 }]);
    }
}
