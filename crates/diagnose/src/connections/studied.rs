//! What the segments of one end of a connection tell: what waited to leave, to be read, or to be sent again.

use super::{Connections, End};
use crate::send_stalls::{self, SendStall};
use crate::syscall;
use crate::unread::unread;
use crate::windows::Windows;
use case::tables::{Segment, TcpEvent, direction, event, flags, transport};

/// What the segments of one connection's end tell: see the fields of [`super::ConnectionRows`].
#[derive(Default)]
pub(super) struct StudiedSegments {
    pub(super) send_stalls: Vec<SendStall>,
    pub(super) unsent: Vec<(u64, u64)>,
    pub(super) unread: Vec<(u64, u64)>,
    pub(super) repairs: Vec<(u64, u64)>,
    pub(super) round_trip: Option<u64>,
}

impl Connections<'_> {
    pub(super) fn studied_segments(&self, slot: usize, windows: &Windows) -> StudiedSegments {
        if self.row(slot).transport != transport::TCP || self.rows[slot].segments.is_empty() {
            return StudiedSegments::default();
        }
        let calls = &self.recording.calls;
        let transfers = |accepts: fn(u16) -> bool| {
            let rows = self.transfer_numbers(slot).iter().map(|&index| index as usize);
            rows.filter(move |&index| accepts(calls[index].number))
        };
        let writes = || transfers(syscall::is_write);
        let is_asked = self.rows[slot].end == Some(End::Server) && self.rows[slot].peer.is_some();
        let mut studied = StudiedSegments::default();
        for (from, to) in windows.parts(0, u64::MAX) {
            let segments = self.segments(slot);
            let first = segments.partition_point(|segment| segment.time.0 < from);
            let segments = &segments[first..segments.partition_point(|segment| segment.time.0 < to).max(first)];
            let within = |index: &usize| (from..to).contains(&calls[*index].start.0);
            studied.send_stalls.extend(send_stalls::find(self.row(slot), segments, calls, writes().filter(within)));
            studied.unsent.extend(send_stalls::unsent(segments, calls, writes().filter(within)));
            if is_asked {
                studied.unread.extend(unread(segments, calls, transfers(syscall::is_read).filter(within)));
            }
        }
        studied.repairs = repairs(self.segments(slot), self.events(slot));
        studied.repairs.retain(|&(from, to)| windows.is_whole(from, to));
        studied.round_trip = shortest_round_trip(self.segments(slot));
        studied
    }
}

/// From the last segment that had left before one was sent again until that one left. The kernel reports it as sent again when it
/// has left already (Linux 6.18).
fn repairs(segments: &[Segment], events: &[TcpEvent]) -> Vec<(u64, u64)> {
    let mut found: Vec<(u64, u64)> = Vec::new();
    for row in events.iter().filter(|row| row.event == event::RETRANSMIT) {
        let before = segments.partition_point(|segment| segment.time <= row.time);
        let mut left = segments[..before].iter().rev().filter(|segment| segment.direction == direction::OUT);
        let Some(last) = left.next() else { continue };
        let (from, to) = match left.next() {
            Some(previous) if is_sent_again(last, previous) => (previous.time.0, last.time.0),
            _ => (last.time.0, row.time.0),
        };
        let from = found.last().map_or(from, |&(_, end)| from.max(end));
        if from < to {
            found.push((from, to));
        }
    }
    found
}

/// Whether a segment begins before the end of the one that left before it.
fn is_sent_again(segment: &Segment, previous: &Segment) -> bool {
    let flag = u32::from(previous.flags & (flags::SYN | flags::FIN) != 0);
    let end = previous.sequence.wrapping_add(previous.payload + flag);
    (segment.sequence.wrapping_sub(end) as i32) < 0
}

/// The shortest time from a payload (or the opening SYN) leaving to an arrival that acknowledges it. What was sent again is not
/// measured, since nobody knows which of both is acknowledged (Karn's algorithm, RFC 6298, 3).
pub(super) fn shortest_round_trip(segments: &[Segment]) -> Option<u64> {
    let mut waiting: Option<(u64, u32)> = None;
    let mut sent: Option<u32> = None;
    let mut shortest: Option<u64> = None;
    for segment in segments {
        let syn = u32::from(segment.flags & flags::SYN != 0);
        if segment.direction == direction::OUT {
            let end = segment.sequence.wrapping_add(segment.payload + syn);
            if segment.payload + syn > 0 {
                let is_new = sent.is_none_or(|sent| segment.sequence.wrapping_sub(sent) as i32 >= 0);
                waiting = is_new.then_some((segment.time.0, end));
                sent = sent.filter(|sent| end.wrapping_sub(*sent) as i32 <= 0).or(Some(end));
            }
        } else if let Some((left, last)) = waiting
            && segment.flags & flags::ACK != 0
            && segment.acknowledged.wrapping_sub(last) as i32 >= 0
        {
            let length = segment.time.0.saturating_sub(left);
            shortest = Some(shortest.map_or(length, |known| known.min(length)));
            waiting = None;
        }
    }
    shortest
}
