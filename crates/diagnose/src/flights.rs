//! Segments under way: each from where it left to where it arrived, by its sequence numbers.

use crate::spans::merge;
use case::tables::{Segment, direction, flags};

/// How many rows are searched for an arrival: one that is not among them was lost.
pub const SEARCHED: usize = 256;

/// Signs of a segment that begin or end a connection.
pub const SIGNS: u8 = flags::SYN | flags::FIN | flags::RST;

/// When payload, or a sign, was under way between two ends, in either direction: merged, in order of time.
///
/// Acknowledgements are left out: nobody waits for them but kernels.
pub fn under_way(one: &[Segment], other: &[Segment]) -> Vec<(u64, u64)> {
    let mut spans = flights(one, other);
    spans.extend(flights(other, one));
    merge(spans)
}

fn flights(sender: &[Segment], receiver: &[Segment]) -> Vec<(u64, u64)> {
    let counts = |row: &&Segment| row.payload > 0 || row.flags & SIGNS != 0;
    let arrivals = receiver.iter().filter(|row| row.direction == direction::IN).filter(counts).collect::<Vec<_>>();
    let mut next = 0;
    let mut spans = Vec::new();
    for left in sender.iter().filter(|row| row.direction == direction::OUT).filter(counts) {
        // Both are in order of time, and but for what is sent again in that of their bytes: no arrival is looked at twice.
        let is_before = |row: &&Segment| row.time < left.time || after(end(row), end(left)) < 0;
        next += arrivals[next..].iter().take_while(|row| is_before(row)).count();
        let arrived = arrivals.get(next).filter(|row| after(row.sequence, end(left)) < 0);
        spans.extend(arrived.map(|row| (left.time.0, row.time.0)));
    }
    spans
}

/// The number after what a segment has: its payload, and one for the beginning or the end of a stream.
fn end(segment: &Segment) -> u32 {
    last(segment).wrapping_add(u32::from(segment.flags & SIGNS != 0))
}

/// Whether with an arrival all of a departed segment is there: the same one, or the last piece of one that was cut up,
/// or several that the receiver's card put together.
pub fn completes(left: &Segment, arrived: &Segment, used: bool) -> bool {
    if left.payload == 0 || arrived.payload == 0 {
        return !used
            && left.payload == arrived.payload
            && left.sequence == arrived.sequence
            && left.acknowledged == arrived.acknowledged
            && left.flags & SIGNS == arrived.flags & SIGNS;
    }
    is_part(left, arrived) && after(last(arrived), last(left)) >= 0
}

/// Whether what arrived holds bytes of what left.
pub fn is_part(left: &Segment, arrived: &Segment) -> bool {
    if left.payload == 0 || arrived.payload == 0 {
        return completes(left, arrived, false);
    }
    after(arrived.sequence, last(left)) < 0 && after(last(arrived), left.sequence) > 0
}

/// The number after a segment's last byte.
fn last(segment: &Segment) -> u32 {
    segment.sequence.wrapping_add(segment.payload)
}

/// How far one sequence number is after another; they wrap.
fn after(one: u32, other: u32) -> i32 {
    one.wrapping_sub(other) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Fixture, US};

    #[test]
    fn what_is_under_way_is_so_from_leaving_to_arriving_in_both_directions() {
        let mut fixture = Fixture::new();
        fixture.travels(10 * US, 1, 2, 100);
        fixture.acknowledges(20 * US, 2, 1);
        fixture.travels(30 * US, 2, 1, 4_000);
        // Two that are put together on the way, and one that is lost.
        fixture.segment(40 * US, 1, direction::OUT, 100);
        fixture.segment(41 * US, 1, direction::OUT, 100);
        fixture.segment(48 * US, 2, direction::IN, 200);
        fixture.segment(50 * US, 1, direction::OUT, 100);
        let recording = fixture.end();
        let of = |connection: u32| {
            let own = recording.segments.iter().filter(|row| row.connection == connection);
            own.cloned().collect::<Vec<_>>()
        };
        let expected = vec![(10 * US, 15 * US), (30 * US, 35 * US), (40 * US, 48 * US)];
        assert_eq!(under_way(&of(1), &of(2)), expected);
        assert_eq!(under_way(&of(2), &of(1)), expected);
    }
}
