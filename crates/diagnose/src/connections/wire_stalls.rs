//! Nagle's algorithm seen on the wire alone: a small segment leaves, nothing follows until its acknowledgement, which is late
//! (the receiver delays it), and then the next small segment leaves at once.
//!
//! A program that merely writes later looks alike once, not every time: so all connections to one server are judged together,
//! by the rules of [`peer_stalls`](crate::analysis::peer_stalls). And where small segments leave while earlier ones are not
//! acknowledged, the algorithm is off.

use super::{Connections, End, transfer_time};
use case::tables::{Segment, direction, flags};
use std::collections::BTreeMap;

/// Linux delays an acknowledgement by 40 ms at least, others by more; anything under half of that is no such timer.
const DELAYED: u64 = 20_000_000;

/// A wait is a delayed acknowledgement's, and not the way's, from this many round trips.
const ROUND_TRIPS: u64 = 5;

/// How soon after an acknowledgement the bytes that waited for it leave, a busy processor allowed for.
const RELEASE: u64 = 1_000_000;

/// The same in four cases of five: measured 15 to 50 us in the kernel; a program that has to be woken takes longer.
const RELEASE_AS_A_RULE: u64 = 100_000;

/// How much more than the distance from the first piece the distance from the acknowledgement may vary: a few runs of the
/// kernel's network code.
const NOISE: u64 = 20_000;

/// Stalls that must be there: twice may be chance.
const REPEATED: usize = 3;

/// Of the small segments that followed another one so few may have left without an acknowledgement: a kernel with Nagle's
/// algorithm holds each, but for those that end a stream.
const AT_ONCE: usize = 20;

/// Bytes that were held until an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// When the piece before crossed, its acknowledgement, and the held bytes.
    pub start: u64,
    /// When its acknowledgement did.
    pub acknowledged: u64,
    /// When the held bytes did.
    pub end: u64,
    /// Bytes of the piece before.
    pub piece: u32,
    /// Bytes that were held.
    pub bytes: u32,
}

impl Held {
    fn release(&self) -> u64 {
        self.end - self.acknowledged
    }
}

/// What one direction shows.
#[derive(Default)]
struct Shown {
    held: Vec<Held>,
    /// Bytes that came after a late acknowledgement, but not in step with it.
    later: usize,
    /// Small segments that left before an earlier small one was acknowledged.
    at_once: usize,
}

/// The stalls of each connection's own end, and of its other end, in the order of the connections.
pub fn find(connections: &Connections) -> Vec<[Vec<Held>; 2]> {
    let mut found: Vec<[Vec<Held>; 2]> = vec![Default::default(); connections.all().len()];
    let mut peers: BTreeMap<(String, u8), Vec<(usize, Shown)>> = BTreeMap::new();
    for slot in 0..found.len() {
        let server = match connections.all()[slot].end {
            Some(End::Client) => connections.remote(slot),
            _ => connections.row(slot).local_port.to_string(),
        };
        for way in [direction::OUT, direction::IN] {
            let shown = shown(connections, slot, way);
            if !shown.held.is_empty() || shown.later + shown.at_once > 0 {
                peers.entry((server.clone(), way)).or_default().push((slot, shown));
            }
        }
    }
    for ((_, way), shown) in peers {
        if is_nagle(connections, way, &shown) {
            for (slot, one) in shown {
                found[slot][usize::from(way)] = one.held;
            }
        }
    }
    found
}

/// Reads one direction of a connection.
fn shown(connections: &Connections, slot: usize, way: u8) -> Shown {
    let segment_size = match connections.row(slot).mss {
        0 => crate::send_stalls::USUAL_SEGMENT as u32,
        size => size,
    };
    let round_trip = connections.round_trip(slot).unwrap_or_default();
    let is_small = |segment: &Segment| !segment.payload.is_multiple_of(segment_size);
    let after = |segment: &Segment| segment.sequence.wrapping_add(segment.payload);
    let mut shown = Shown::default();
    // The last segment of this turn, and when all up to it was acknowledged.
    let mut last: Option<(&Segment, Option<u64>)> = None;
    for segment in connections.segments(slot) {
        if segment.flags & (flags::SYN | flags::FIN | flags::RST) != 0 {
            last = None;
        } else if segment.direction != way {
            match &mut last {
                Some((sent, acknowledged)) if segment.payload == 0 => {
                    let is_all = segment.acknowledged.wrapping_sub(after(sent)) as i32 >= 0;
                    *acknowledged = acknowledged.or(is_all.then_some(segment.time.0));
                }
                // It answers: another turn.
                _ => last = None,
            }
        } else if segment.payload > 0 {
            // What was sent before is sent again: nothing is told by that.
            let follows = |sent: &Segment| segment.sequence == after(sent);
            match last {
                Some((sent, None)) if follows(sent) && is_small(sent) && is_small(segment) => shown.at_once += 1,
                Some((sent, Some(acknowledged))) if follows(sent) && is_small(sent) && is_small(segment) => {
                    let delay = acknowledged.saturating_sub(sent.time.0);
                    // This end's own acknowledgement has not been on its way yet.
                    let on_the_way = if way == direction::OUT { ROUND_TRIPS * round_trip } else { 0 };
                    if delay >= DELAYED && delay >= on_the_way {
                        let (start, end) = (sent.time.0, segment.time.0);
                        let one = Held { start, acknowledged, end, piece: sent.payload, bytes: segment.payload };
                        let late = is_in_step(way, round_trip, &one, RELEASE);
                        shown.later += usize::from(!late);
                        shown.held.extend(late.then_some(one));
                    }
                }
                _ => {}
            }
            last = Some((segment, None));
        }
    }
    shown
}

/// Whether bytes came when an acknowledgement can have released them: at once at this end, a round trip later from the other.
fn is_in_step(way: u8, round_trip: u64, held: &Held, slack: u64) -> bool {
    let release = held.release();
    if way == direction::OUT {
        return release <= slack;
    }
    let most = round_trip.saturating_add(round_trip / 2).saturating_add(slack);
    (round_trip.saturating_sub(slack)..=most).contains(&release)
}

/// Whether what follows late acknowledgements of one server's connections waits for them: nearly always, in step with them, and
/// with no small segment sent ahead of one.
fn is_nagle(connections: &Connections, way: u8, shown: &[(usize, Shown)]) -> bool {
    let held = || shown.iter().flat_map(|(slot, one)| one.held.iter().map(move |held| (*slot, held)));
    let count = held().count();
    let later: usize = shown.iter().map(|(_, one)| one.later).sum();
    let at_once: usize = shown.iter().map(|(_, one)| one.at_once).sum();
    if count < REPEATED || count < 4 * later || at_once * AT_ONCE > count {
        return false;
    }
    let round_trip = |slot: usize| connections.round_trip(slot).unwrap_or_default();
    let prompt = held().filter(|(slot, one)| is_in_step(way, round_trip(*slot), one, RELEASE_AS_A_RULE)).count();
    let from_acknowledgement = spread(held().map(|(_, one)| one.release()).collect());
    let from_piece = spread(held().map(|(_, one)| one.end - one.start).collect());
    prompt * 5 >= count * 4 && from_acknowledgement <= from_piece.saturating_add(NOISE)
}

/// How far values lie from their middle: the median of the distances from the median.
fn spread(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    let Some(&middle) = values.get(values.len() / 2) else { return 0 };
    let mut distances: Vec<u64> = values.into_iter().map(|value| value.abs_diff(middle)).collect();
    distances.sort_unstable();
    distances[distances.len() / 2]
}

/// The transfer that began at a time: a row of the table of calls.
pub fn transfer_at(connections: &Connections, slot: usize, calls: &[case::tables::Call], time: u64) -> Option<usize> {
    let rows = connections.transfer_numbers(slot);
    let first = rows.partition_point(|&row| transfer_time(&calls[row as usize]) < time);
    rows[first..].first().map(|&row| row as usize)
}
