//! How the place of a cliff follows from the size of a connection's segments.
//!
//! Bytes that do not fill a segment are held back where larger writes are not. Where the held bytes are a swept size and
//! something constant (a head, a TLS record's frame), the largest size that is held follows: a segment less that.

use crate::Analysis;
use crate::detectors::ALL;
use case::{Finding, Recording, SegmentTie};

/// A program and its TLS add a header or two to a value; more is something else.
const LARGEST_OVERHEAD: i64 = 512;

/// The share of all send stalls that must be of one length: handshakes have a stall or two as well.
const MOST: f64 = 0.5;

/// The tie of a swept value, a size in bytes, to the size of segments, where a finding in a recording at that value is
/// about bytes held back for want of a full segment. None where it is not, or where the length of what was held does not
/// follow the value, or cannot be shown to: a value must be larger than what comes on top of it.
pub fn segment_tie(recording: &Recording, finding: &Finding, value: f64) -> Option<SegmentTie> {
    let detector = ALL.iter().find(|detector| detector.page.id == finding.id)?;
    let held = detector.held.filter(|_| value.is_finite())?;
    let held = held(&Analysis::new(recording));
    let total: usize = held.values().sum();
    let (&(length, mss), &count) = held.iter().max_by_key(|(_, count)| **count)?;
    let overhead = i64::from(length) - value.round() as i64;
    let follows = overhead.abs() <= LARGEST_OVERHEAD && value > overhead.abs() as f64 && length <= mss;
    let tie = SegmentTie { mss, overhead, predicted: (i64::from(mss) - overhead) as f64 };
    (follows && count as f64 >= MOST * total as f64).then_some(tie)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{CLIENT, Fixture, MS, US, WRITE};
    use crate::tests::answer;

    /// Heads of 112 bytes, and bodies that wait for the head's acknowledgement.
    fn posts(lengths: impl Iterator<Item = u32>) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        for length in lengths {
            let start = fixture.now;
            fixture.moves(CLIENT, 1, WRITE, 112);
            fixture.travels(start + 3 * US, 1, 1001, 112);
            fixture.moves(CLIENT, 1, WRITE, i64::from(length));
            let (waiting, acknowledged) = (fixture.now, start + 41 * MS);
            fixture.timer_fires(acknowledged - 6 * US, 1001);
            fixture.acknowledges(acknowledged, 1001, 1);
            fixture.travels(acknowledged + 25 * US, 1, 1001, length);
            fixture.travels(acknowledged + 100 * US, 1001, 1, 300);
            fixture.waits_for(CLIENT, 1, acknowledged + 110 * US - waiting, 300);
            fixture.now += MS;
        }
        fixture.end()
    }

    fn tie(recording: &Recording, value: f64) -> Option<SegmentTie> {
        let finding = answer(recording).findings.into_iter().find(|finding| finding.id == "P01").expect("P01");
        segment_tie(recording, &finding, value)
    }

    #[test]
    fn a_held_body_in_a_record_ties_the_cliff_to_the_segment() {
        // TLS 1.2 with AES-GCM: 5 bytes of head, 8 of nonce, 16 of tag.
        let found = tie(&posts(std::iter::repeat_n(1029, 20)), 1000.0);
        assert_eq!(found, Some(SegmentTie { mss: 1448, overhead: 29, predicted: 1419.0 }));
    }

    #[test]
    fn held_bytes_that_do_not_follow_the_value_tie_nothing() {
        let recording = posts(std::iter::repeat_n(109, 20));
        assert_eq!(tie(&recording, 1000.0), None);
        // Of one byte and 108 others nobody can say that they are that byte's.
        assert_eq!(tie(&recording, 1.0), None);
        assert_eq!(tie(&posts((0..20).map(|turn| 900 + 10 * turn)), 1000.0), None);
    }

    #[test]
    fn another_finding_ties_nothing() {
        let recording = posts(std::iter::repeat_n(1029, 20));
        let other = Finding { id: "P03".to_string(), ..answer(&recording).findings.remove(0) };
        assert_eq!(segment_tie(&recording, &other, 1000.0), None);
    }
}
