use super::studied::shortest_round_trip;
use super::*;
use case::Nanos;

/// A segment of 100 bytes from here, or what acknowledges everything before such a one.
fn segment(time: u64, way: u8, sequence: u32) -> Segment {
    let payload = if way == direction::OUT { 100 } else { 0 };
    let (direction, acknowledged, flags) = (way, sequence, flags::ACK);
    Segment { time: Nanos(time), direction, sequence, acknowledged, payload, flags, ..Segment::default() }
}

#[test]
fn a_round_trip_is_not_taken_from_what_was_sent_twice() {
    let first = [segment(10, direction::OUT, 0), segment(50, direction::IN, 100)];
    let again = [(60, 100), (95, 100)].map(|(time, sequence)| segment(time, direction::OUT, sequence));
    assert_eq!(shortest_round_trip(&[&first[..], &again, &[segment(100, direction::IN, 200)]].concat()), Some(40));
    let next = [segment(110, direction::OUT, 200), segment(130, direction::IN, 300)];
    assert_eq!(shortest_round_trip(&[&first[..], &again, &next].concat()), Some(20));
}
