//! Bytes held in the local kernel: a write accepted them at one time, and they left the host at a later one.
//!
//! The stream's first byte is the one after the SYN where that was seen, else the first payload that left after the
//! first write. Sequence numbers wrap; positions here do not.

use crate::threads::call_end;
use case::tables::{Call, Connection, Segment, direction, flags};

/// A segment size to assume where none was recorded: Ethernet's, with timestamps.
pub const USUAL_SEGMENT: u64 = 1448;

/// `splice`.
pub(crate) const SPLICE: u16 = 275;

/// How soon after an acknowledgement the bytes that waited for it leave: measured 15 to 25 us; 1 ms allows for a busy
/// processor.
const RELEASE: u64 = 1_000_000;

/// Bytes waiting in the kernel between a write's return and their leaving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendStall {
    /// When the write returned.
    pub start: u64,
    /// When its first waiting byte left.
    pub end: u64,
    /// The write: a row of the table of calls.
    pub write: usize,
    /// Bytes that waited when the hold began.
    pub bytes: u64,
    /// When the bytes before them left, and when their acknowledgement arrived, where that is what released them:
    /// Nagle's algorithm.
    pub nagle: Option<Release>,
}

/// What ended a hold by Nagle's algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// When the unacknowledged bytes had left.
    pub sent: u64,
    /// When their acknowledgement arrived.
    pub acknowledged: u64,
}

/// What happened on one stream, in order of time.
struct Stream<'r> {
    segments: &'r [Segment],
    next: usize,
    base: u32,
    left: u64,
    acknowledged: u64,
    last_sent: u64,
    last_acknowledgement: (u64, u64),
}

/// Finds the holds of one connection, in order of time.
pub fn find(
    connection: &Connection,
    segments: &[Segment],
    calls: &[Call],
    writes: impl Iterator<Item = usize>,
) -> Vec<SendStall> {
    let writes = in_one_direction(calls, writes);
    let Some(mut stream) = Stream::of_writes(segments, calls, &writes) else { return Vec::new() };
    let segment_size = if connection.mss > 0 { u64::from(connection.mss) } else { USUAL_SEGMENT };
    let mut send_stalls: Vec<SendStall> = Vec::new();
    let mut written = 0;
    for index in writes {
        let call = &calls[index];
        written += call.result.max(0) as u64;
        stream.advance(call_end(call));
        // Bytes that waited already belong to the hold that is being followed.
        if stream.left >= written || send_stalls.last().is_some_and(|stall| stall.end > call_end(call)) {
            continue;
        }
        let bytes = written - stream.left;
        // Where nothing ever leaves again there is no end to tell, and no later hold either.
        let Some((end, release)) = follow(&stream, call_end(call)) else { break };
        let nagle = release.filter(|_| !connection.nodelay && bytes < segment_size);
        if end > call_end(call) {
            send_stalls.push(SendStall { start: call_end(call), end, write: index, bytes, nagle });
        }
    }
    send_stalls
}

/// When written bytes had not left yet, from the write's return on, in order of time: for want of room in the peer's window,
/// or in a queue for a link. Bytes that never left are left out.
pub fn unsent(segments: &[Segment], calls: &[Call], writes: impl Iterator<Item = usize>) -> Vec<(u64, u64)> {
    let writes = in_one_direction(calls, writes);
    let Some(mut stream) = Stream::of_writes(segments, calls, &writes) else { return Vec::new() };
    let mut spans = Vec::new();
    let mut waits_since: Option<u64> = None;
    let mut written = 0;
    let mut leave = |stream: &mut Stream, until: u64, written: u64, waits_since: &mut Option<u64>| {
        while stream.segments.get(stream.next).is_some_and(|segment| segment.time.0 <= until) && stream.step() {
            if stream.left >= written {
                spans.extend(waits_since.take().map(|since| (since, stream.last_sent.max(since))));
            }
        }
    };
    for index in writes {
        let returned = call_end(&calls[index]);
        leave(&mut stream, returned, written, &mut waits_since);
        written += calls[index].result.max(0) as u64;
        if stream.left < written {
            waits_since.get_or_insert(returned);
        }
    }
    leave(&mut stream, u64::MAX, written, &mut waits_since);
    spans
}

/// A splice may go either way, and its count would make bytes wait that were never written.
fn in_one_direction(calls: &[Call], writes: impl Iterator<Item = usize>) -> Vec<usize> {
    writes.filter(|&index| calls[index].number != SPLICE).collect()
}

/// Follows waiting bytes until the first of them leaves: when that is, and the acknowledgement that released them.
fn follow(stream: &Stream, start: u64) -> Option<(u64, Option<Release>)> {
    let unacknowledged = stream.left > stream.acknowledged;
    let mut ahead = Stream { ..*stream };
    while ahead.left <= stream.left {
        if !ahead.step() {
            return None;
        }
    }
    let end = ahead.last_sent;
    let (acknowledged, position) = ahead.last_acknowledgement;
    let released = acknowledged >= start && end.saturating_sub(acknowledged) <= RELEASE && position >= stream.left;
    let release = Release { sent: stream.last_sent, acknowledged };
    Some((end, (unacknowledged && released).then_some(release)))
}

impl<'r> Stream<'r> {
    /// That of some writes. Where recording begins in the middle of a stream, the first of them may have left before there were rows
    /// of segments: what the first segment carries is that of a later write then, all of it and nothing else, and leaves while that is
    /// made. Bytes before it that waited would leave with it.
    fn of_writes(segments: &'r [Segment], calls: &[Call], writes: &[usize]) -> Option<Stream<'r>> {
        let since = calls[*writes.first()?].start.0;
        let base = stream_base(segments, direction::OUT, since)?;
        let carries = |row: &&Segment| row.direction == direction::OUT && row.payload > 0 && row.time.0 >= since;
        let left = segments.iter().find(carries).filter(|row| row.sequence == base).map_or(0, |first| {
            let mut written = 0_u64;
            for call in writes.iter().map(|&index| &calls[index]).take_while(|call| call.start <= first.time) {
                if first.time.0 <= call_end(call) && call.result == i64::from(first.payload) {
                    return written;
                }
                written += call.result.max(0) as u64;
            }
            0
        });
        let base = base.wrapping_sub(left as u32);
        Some(Stream { segments, next: 0, base, left, acknowledged: left, last_sent: 0, last_acknowledgement: (0, 0) })
    }

    /// Takes in what happened until a time.
    fn advance(&mut self, until: u64) {
        while self.segments.get(self.next).is_some_and(|segment| segment.time.0 <= until) {
            self.step();
        }
    }

    /// Takes in the next segment; false where there is none.
    fn step(&mut self) -> bool {
        let Some(segment) = self.segments.get(self.next) else { return false };
        self.next += 1;
        if segment.direction == direction::OUT {
            let end = position(self.base, segment.sequence.wrapping_add(segment.payload), self.left);
            if segment.payload > 0 && end > self.left {
                self.left = end;
                self.last_sent = segment.time.0;
            }
        } else if segment.flags & flags::ACK != 0 {
            let position = position(self.base, segment.acknowledged, self.acknowledged);
            if position > self.acknowledged && position <= self.left + 1 {
                self.acknowledged = position;
                self.last_acknowledgement = (segment.time.0, position);
            }
        }
        true
    }
}

/// The sequence number of the first byte of a stream that leaves or arrives, where its SYN was not seen that of the first payload
/// since a time.
pub(crate) fn stream_base(segments: &[Segment], way: u8, since: u64) -> Option<u32> {
    let of_stream = || segments.iter().filter(|segment| segment.direction == way);
    if let Some(syn) = of_stream().find(|segment| segment.flags & flags::SYN != 0) {
        return Some(syn.sequence.wrapping_add(1));
    }
    of_stream().find(|segment| segment.payload > 0 && segment.time.0 >= since).map(|segment| segment.sequence)
}

/// A sequence number as a position in the stream that begins with a base, nearest to one that is known.
pub(crate) fn position(base: u32, sequence: u32, near: u64) -> u64 {
    let offset = sequence.wrapping_sub(base).wrapping_sub(near as u32) as i32;
    near.saturating_add_signed(i64::from(offset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{CLIENT, Fixture, MS, US, WRITE};
    use case::tables::direction;

    #[test]
    fn a_first_write_that_left_before_there_were_segments_holds_nothing() {
        // Writes of 13 bytes that leave at once, after one of 5 bytes that left unseen, or that never does.
        let stalls = |leaves_with: u32| {
            let mut fixture = Fixture::new();
            fixture.connect(1, CLIENT);
            fixture.moves(CLIENT, 1, WRITE, 5);
            for _ in 0..3 {
                fixture.now += 10 * MS;
                fixture.segment(fixture.now + US, 1, direction::OUT, leaves_with);
                fixture.does(CLIENT, 5 * US, WRITE, |call| (call.connection, call.result) = (1, 13));
            }
            let recording = fixture.end();
            let segments: Vec<Segment> = recording.segments.iter().filter(|row| row.connection == 1).cloned().collect();
            let writes = (0..recording.calls.len()).filter(|&row| recording.calls[row].number == WRITE);
            find(&recording.connections[0], &segments, &recording.calls, writes).len()
        };
        assert_eq!(stalls(13), 0);
        assert!(stalls(12) > 0);
    }

    #[test]
    fn bytes_are_unsent_from_the_writes_return_until_the_last_of_them_left() {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        let written = fixture.now;
        fixture.moves(CLIENT, 1, WRITE, 3_000);
        for (at, payload) in [(MS, 1_448), (10 * MS, 1_448), (20 * MS, 104)] {
            fixture.segment(written + at, 1, direction::OUT, payload);
        }
        fixture.now += 30 * MS;
        // This one leaves at once, and the last one never.
        let at_once = fixture.now;
        fixture.segment(at_once + 2 * US, 1, direction::OUT, 100);
        fixture.moves(CLIENT, 1, WRITE, 100);
        fixture.moves(CLIENT, 1, WRITE, 100);
        let recording = fixture.end();
        let segments: Vec<Segment> = recording.segments.iter().filter(|row| row.connection == 1).cloned().collect();
        let writes = (0..recording.calls.len()).filter(|&row| recording.calls[row].number == WRITE);
        assert_eq!(unsent(&segments, &recording.calls, writes), [(written + 5 * US, written + 20 * MS)]);
    }
}
