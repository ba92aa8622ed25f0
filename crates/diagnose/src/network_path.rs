//! What the way between clients and servers takes and carries.

use crate::analysis::Analysis;
use crate::exchange::Exchange;
use case::NetworkPath;
use case::tables::direction;

/// What is no longer leaves at once: ten segments of 1,460 bytes (RFC 6928).
pub const FIRST_FLIGHT: u64 = 14_600;

/// The way that the exchanges took; none where no connection shows its round trip.
pub fn find(analysis: &Analysis) -> Option<NetworkPath> {
    let mut round_trips: Vec<u64> =
        analysis.exchanges.iter().filter_map(|one| analysis.connections.round_trip(one.connection)).collect();
    let mut bytes = Vec::new();
    let mut rates = Vec::new();
    for message in analysis.exchanges.iter().filter_map(|exchange| longest_message(analysis, exchange)) {
        bytes.push(message.bytes);
        rates.extend(message.bits_per_second());
    }
    rates.sort_by(f64::total_cmp);
    round_trips.sort_unstable();
    bytes.sort_unstable();
    let round_trip_ns = *round_trips.get(round_trips.len() / 2)?;
    let bytes = bytes.get(bytes.len() / 2).copied().unwrap_or_default();
    Some(NetworkPath { round_trip_ns, bytes, bits_per_second: rates.get(rates.len() / 2).copied() })
}

/// What arrived of one message.
pub struct Message {
    /// When the first and the last of it did.
    pub from: u64,
    pub to: u64,
    /// Payload.
    pub bytes: u64,
    /// That of the first segment: it came before the clock ran.
    first: u64,
}

impl Message {
    fn bits_per_second(&self) -> Option<f64> {
        let took = self.to.saturating_sub(self.from);
        let is_long = self.bytes > FIRST_FLIGHT && took > 0;
        is_long.then(|| (self.bytes - self.first) as f64 * 8e9 / took as f64)
    }
}

/// Of an exchange's request and answer the longer one, as it arrived.
fn longest_message(analysis: &Analysis, exchange: &Exchange) -> Option<Message> {
    let peer = analysis.connections.all()[exchange.connection].peer;
    let ends = [Some(exchange.connection), peer].into_iter().flatten();
    ends.filter_map(|slot| arrived(analysis, exchange, slot)).max_by_key(|message| message.bytes)
}

/// What arrived at an end within an exchange.
pub fn arrived(analysis: &Analysis, exchange: &Exchange, slot: usize) -> Option<Message> {
    let segments = analysis.connections.segments(slot);
    let begun = segments.partition_point(|segment| segment.time.0 < exchange.start);
    let within = segments[begun..].iter().take_while(|segment| segment.time.0 <= exchange.end);
    let mut arrivals = within.filter(|segment| segment.direction == direction::IN && segment.payload > 0);
    let first = arrivals.next()?;
    let payload = u64::from(first.payload);
    let message = Message { from: first.time.0, to: first.time.0, bytes: payload, first: payload };
    Some(arrivals.fold(message, |message, segment| Message {
        to: segment.time.0,
        bytes: message.bytes + u64::from(segment.payload),
        ..message
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE};

    /// One request and its answer in so many segments of 1,000 bytes, 1 ms from one to the next.
    fn path(segments: u64) -> NetworkPath {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        let start = fixture.now;
        fixture.moves(CLIENT, 1, WRITE, 200);
        fixture.travels(start + 3 * US, 1, 1001, 200);
        let asked = fixture.now;
        fixture.now = start + 12 * US;
        fixture.moves(SERVER, 1001, READ, 200);
        fixture.moves(SERVER, 1001, WRITE, 1000 * segments as i64);
        for number in 0..segments {
            fixture.travels(start + MS + number * MS, 1001, 1, 1000);
        }
        fixture.now = asked;
        fixture.waits_for(CLIENT, 1, (segments + 1) * MS, 1000 * segments as i64);
        fixture.recording.segments.sort_by_key(|segment| (segment.connection, segment.time));
        fixture.recording.connections.iter_mut().for_each(|row| row.srtt = case::Nanos(2 * MS));
        let recording = fixture.end();
        find(&Analysis::new(&recording)).expect("there was an exchange")
    }

    #[test]
    fn a_long_answer_shows_the_rate_and_a_short_one_only_the_round_trip() {
        let long = path(21);
        assert_eq!(long.bytes, 21_000);
        assert!((long.bits_per_second.expect("a rate") - 8e6).abs() < 1e4, "{long:?}");
        assert!(long.round_trip_ns > 0);
        assert_eq!(path(10).bits_per_second, None);
    }
}
