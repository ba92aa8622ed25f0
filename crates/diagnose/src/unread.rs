//! Payload that has arrived at an end of a connection and that its program has not read yet.

use crate::send_stalls::{SPLICE, position, stream_base};
use crate::threads::call_end;
use case::tables::{Call, Segment, direction};

/// When payload lay in the kernel unread, from its arrival until the read that took the last of it, in order of time. Nothing where
/// that cannot be told: more was read than arrived (peeked at, or there before the first segment that was seen), or a splice
/// took part of it. What is never read is left out.
pub fn unread(segments: &[Segment], calls: &[Call], reads: impl Iterator<Item = usize>) -> Vec<(u64, u64)> {
    let Some(base) = stream_base(segments, direction::IN, 0) else { return Vec::new() };
    let arrives = |segment: &&Segment| segment.direction == direction::IN && segment.payload > 0;
    let mut arrivals = segments.iter().filter(arrives).peekable();
    let (mut arrived, mut read) = (0, 0);
    let mut since = None;
    let mut spans = Vec::new();
    for call in reads.map(|index| &calls[index]) {
        while let Some(segment) = arrivals.next_if(|segment| segment.time.0 <= call_end(call)) {
            let end = position(base, segment.sequence.wrapping_add(segment.payload), arrived);
            if end > arrived {
                since.get_or_insert(segment.time.0);
                arrived = end;
            }
        }
        read += call.result.max(0) as u64;
        if read > arrived || call.number == SPLICE {
            return Vec::new();
        }
        if read == arrived {
            spans.extend(since.take().map(|since| (since, call_end(call))));
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{CLIENT, Fixture, MS, READ, US};

    /// Payload of 3,000 bytes that arrives in two pieces, and reads of so many bytes, each 10 ms after the one before.
    fn spans(reads: &[i64]) -> Vec<(u64, u64)> {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        let start = fixture.now;
        fixture.segment(start + 2 * MS, 1, direction::IN, 1_000);
        fixture.segment(start + 15 * MS, 1, direction::IN, 2_000);
        for (at, bytes) in (1..).zip(reads) {
            fixture.now = start + at * 10 * MS;
            fixture.moves(CLIENT, 1, READ, *bytes);
        }
        let recording = fixture.end();
        let segments: Vec<Segment> = recording.segments.iter().filter(|row| row.connection == 1).cloned().collect();
        let rows = (0..recording.calls.len()).filter(|&row| recording.calls[row].number == READ);
        unread(&segments, &recording.calls, rows).iter().map(|(from, to)| (from - start, to - start)).collect()
    }

    #[test]
    fn payload_is_unread_from_its_arrival_until_the_last_of_it_is_read() {
        let read = |at: u64| at * MS + 5 * US;
        assert_eq!(spans(&[1_000, 2_000]), [(2 * MS, read(10)), (15 * MS, read(20))]);
        assert_eq!(spans(&[400, 600, 2_000]), [(2 * MS, read(30))]);
        assert_eq!(spans(&[400]), []);
    }

    #[test]
    fn where_more_is_read_than_arrived_nothing_is_told() {
        assert_eq!(spans(&[1_000, 2_001]), []);
    }
}
