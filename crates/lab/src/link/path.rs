//! What a way between two ends does to packets that go along it: when each arrives, if it does. No clock and no I/O.

use crate::rate::Rate;
use std::time::Duration;

/// What a way is like, in each direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Path {
    /// From one end to the other.
    pub delay: Duration,
    /// Packets lost, in a million.
    pub loss: u32,
    /// What the narrowest place carries; none is as fast as we are.
    pub rate: Option<Rate>,
    /// Bytes that pass the narrowest place at once after a rest.
    pub burst: u64,
    /// How long packets may wait before the narrowest place; those that would wait longer are dropped.
    pub buffer: Duration,
    /// Larger packets vanish.
    pub largest: Option<u32>,
}

/// One direction of a way, and what is under way. Times are nanoseconds of any clock.
pub(super) struct Direction {
    path: Path,
    random: u64,
    /// When all that was taken will have passed the narrowest place.
    free: u64,
}

impl Direction {
    /// An empty one. The same seed loses the same packets.
    pub fn new(path: Path, seed: u64) -> Direction {
        Direction { path, random: seed, free: 0 }
    }

    /// When a packet of so many bytes that leaves now arrives; none where it does not.
    pub fn arrival(&mut self, now: u64, bytes: u32) -> Option<u64> {
        if self.path.largest.is_some_and(|largest| bytes > largest) {
            return None;
        }
        // Each packet draws, so that what is lost does not depend on what else is dropped.
        let is_lost = self.draw() < self.path.loss;
        let passed = self.pass(now, bytes)?;
        (!is_lost).then(|| passed + self.path.delay.as_nanos() as u64)
    }

    /// When a packet has passed the narrowest place; none where too much waits before it.
    fn pass(&mut self, now: u64, bytes: u32) -> Option<u64> {
        let Some(rate) = self.path.rate else { return Some(now) };
        let time_of = |bytes: u64| (u128::from(bytes) * 8_000_000_000 / u128::from(rate.bits_per_second)) as u64;
        let rested = now.saturating_sub(time_of(self.path.burst));
        let free = self.free.max(rested);
        if free.saturating_sub(now) > self.path.buffer.as_nanos() as u64 {
            return None;
        }
        self.free = free + time_of(u64::from(bytes));
        Some(self.free.max(now))
    }

    /// A number below a million (SplitMix64, Steele et al. 2014).
    fn draw(&mut self) -> u32 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % 1_000_000) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const PLAIN: Path = Path {
        delay: Duration::from_millis(20),
        loss: 0,
        rate: None,
        burst: 0,
        buffer: Duration::from_millis(200),
        largest: None,
    };

    #[test]
    fn a_packet_arrives_after_the_delay_and_one_that_is_too_large_never() {
        let mut direction = Direction::new(Path { largest: Some(1280), ..PLAIN }, 1);
        assert_eq!([1280, 1281].map(|bytes| direction.arrival(5 * MS, bytes)), [Some(25 * MS), None]);
    }

    #[test]
    fn packets_pass_the_narrowest_place_one_after_another_and_what_would_wait_too_long_is_dropped() {
        // A byte takes a microsecond.
        let rate = Rate { bits_per_second: 8_000_000 };
        let mut direction = Direction::new(Path { rate: Some(rate), buffer: Duration::from_millis(3), ..PLAIN }, 1);
        let arrivals = [0; 6].map(|now| direction.arrival(now, 1000));
        assert_eq!(arrivals, [Some(21 * MS), Some(22 * MS), Some(23 * MS), Some(24 * MS), None, None]);
        assert_eq!(direction.arrival(10 * MS, 1000), Some(31 * MS), "it has emptied meanwhile");
    }

    #[test]
    fn after_a_rest_a_burst_passes_at_once() {
        let rate = Rate { bits_per_second: 8_000_000 };
        let mut direction = Direction::new(Path { rate: Some(rate), burst: 2000, ..PLAIN }, 1);
        let arrivals = [100 * MS; 3].map(|now| direction.arrival(now, 1000));
        assert_eq!(arrivals, [Some(120 * MS), Some(120 * MS), Some(121 * MS)]);
    }

    #[test]
    fn as_many_packets_are_lost_as_was_asked_for_and_the_same_ones_again() {
        let lost = |seed: u64| {
            let mut direction = Direction::new(Path { loss: 20_000, ..PLAIN }, seed);
            (0..50_000).filter(|_| direction.arrival(0, 100).is_none()).collect::<Vec<_>>()
        };
        assert!((900..1100).contains(&lost(1).len()), "{}", lost(1).len());
        assert!(lost(1) == lost(1) && lost(1) != lost(2));
    }
}
