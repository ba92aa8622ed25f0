//! How the lengths of exchanges are spread, read straight from the kernel's memory.

use super::mapped::Mapped;
use crate::error::RecordError;
use aya::maps::Map;
use case::Nanos;
use std::sync::atomic::{AtomicU32, Ordering};

/// Mirrors `bpf/meter_lengths.bpf.h`: an octave is cut into 2^5, and 2^44 ns and more share the last bucket.
const FINE_BITS: u32 = 5;
const LONGEST_BITS: u32 = 44;
const FINE: usize = 1 << FINE_BITS;
const BUCKETS: usize = (LONGEST_BITS - FINE_BITS + 1) as usize * FINE;
/// Made by a client's processes, made by a server's, accepted.
pub(super) const SIDES: usize = 3;

/// Counts of one processor.
type Histogram = [[AtomicU32; BUCKETS]; SIDES];

/// The kernel's counts, one histogram a processor.
pub(super) struct Histograms(Mapped<Histogram>);

/// A histogram of the exchanges' lengths since the meter was loaded or cleared, or between two such snapshots.
///
/// An exchange is in it from the moment it is counted as one, with its length so far: its final one once it is over. A
/// length is known to 3 %: of those from 32 ns to 4.9 hours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Whose exchanges they are, as in a [`super::Reading`].
    pub(super) side: usize,
    counts: Vec<[u32; SIDES]>,
}

impl Histograms {
    pub fn map(map: Map, processors: usize) -> Result<Histograms, RecordError> {
        Ok(Histograms(Mapped::new(map, "lengths", processors)?))
    }

    /// The sum over all processors. A count that fell on one and rose on another wraps on both and is right in the sum.
    pub fn sum(&self, side: usize) -> Lengths {
        let mut counts = vec![[0_u32; SIDES]; BUCKETS];
        for histogram in self.0.each() {
            for (place, side) in histogram.iter().enumerate() {
                for (sum, count) in counts.iter_mut().zip(side) {
                    sum[place] = sum[place].wrapping_add(count.load(Ordering::Relaxed));
                }
            }
        }
        Lengths { side, counts }
    }
}

impl Lengths {
    /// What came since an earlier snapshot. An exchange that was under way then and has grown is not new: it leaves one
    /// bucket and is found in another, which cancel out above both.
    #[must_use]
    pub fn since(&self, before: &Lengths) -> Lengths {
        let less = |(after, before): (&[u32; SIDES], &[u32; SIDES])| {
            std::array::from_fn(|side| after[side].wrapping_sub(before[side]))
        };
        Lengths { side: self.side, counts: self.counts.iter().zip(&before.counts).map(less).collect() }
    }

    /// How many exchanges.
    pub fn exchanges(&self) -> u64 {
        self.of_side().sum::<i64>().max(0) as u64
    }

    /// The length that a share (0 to 1) of them stay below, placed within its bucket in proportion; none without any.
    pub fn quantile(&self, share: f64) -> Option<Nanos> {
        let all = self.exchanges();
        let wanted = share.clamp(0.0, 1.0) * all as f64;
        let mut below = 0_i64;
        for (bucket, count) in self.of_side().enumerate() {
            let with = below + count;
            if count > 0 && with as f64 >= wanted {
                let part = ((wanted - below as f64) / count as f64).clamp(0.0, 1.0);
                let (start, width) = bounds(bucket);
                return Some(Nanos(start + (width as f64 * part) as u64));
            }
            below = with;
        }
        None
    }

    fn of_side(&self) -> impl Iterator<Item = i64> + '_ {
        self.counts.iter().map(|sides| i64::from(sides[self.side] as i32))
    }
}

/// Where a bucket begins, and how wide it is, in nanoseconds.
fn bounds(bucket: usize) -> (u64, u64) {
    match bucket / FINE {
        0 => (bucket as u64, 1),
        octave => {
            let shift = octave as u32 - 1;
            (((bucket - octave * FINE + FINE) as u64) << shift, 1 << shift)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel's side of it.
    fn bucket_of(length: u64) -> usize {
        if length < FINE as u64 {
            return length as usize;
        }
        let octave = length.ilog2();
        if octave >= LONGEST_BITS {
            return BUCKETS - 1;
        }
        (octave - FINE_BITS) as usize * FINE + (length >> (octave - FINE_BITS)) as usize
    }

    fn lengths(all: &[(u64, u32)]) -> Lengths {
        let mut counts = vec![[0; SIDES]; BUCKETS];
        for (length, count) in all {
            counts[bucket_of(*length)][0] += count;
        }
        Lengths { side: 0, counts }
    }

    #[test]
    fn every_length_lies_in_its_bucket_which_is_at_most_a_32nd_wide() {
        for length in (0..10_000).chain((1..1_000).map(|step| step * 17_592_186_044)) {
            let (start, width) = bounds(bucket_of(length));
            assert!((start..start + width).contains(&length), "{length}: {start} + {width}");
            assert!(width == 1 || width * 32 <= start, "{length}: {start} + {width}");
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn quantiles_are_the_lengths_within_a_bucket() {
        let of = lengths(&[(2_000_000, 95), (50_000_000, 5)]);
        let near = |share, expected: f64| {
            let found = of.quantile(share).expect("a length").0 as f64;
            assert!((found / expected - 1.0).abs() < 0.032, "{share}: {found}");
        };
        near(0.5, 2e6);
        near(0.94, 2e6);
        near(0.96, 5e7);
        near(0.99, 5e7);
        assert_eq!(lengths(&[]).quantile(0.5), None);
    }

    #[test]
    fn an_exchange_that_grew_since_is_not_new() {
        let before = lengths(&[(1_000, 3)]);
        let after = lengths(&[(1_000, 2), (9_000, 1), (5_000, 4)]);
        let between = after.since(&before);
        assert_eq!(between.exchanges(), 4);
        let middle = between.quantile(0.5).expect("a length").0;
        assert!((4_900..5_200).contains(&middle), "{middle}");
    }
}
