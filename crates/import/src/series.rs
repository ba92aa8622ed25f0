//! Counts over time, in buckets of one length, which grows where a log spans long.

use crate::tally::Tally;
use rustc_hash::FxHashMap;

/// Lengths of buckets, in seconds, each a multiple of the one before.
pub const LENGTHS: [i64; 4] = [60, 600, 3_600, 86_400];

/// Tallies by the bucket's number, counted from 1970.
#[derive(Clone, Debug, Default)]
pub struct Series {
    buckets: FxHashMap<i64, Tally>,
    /// The bucket that the last request fell into: the next one mostly does, too.
    current: (i64, Tally),
}

impl Series {
    /// Adds a request to a bucket; whether the bucket is another than the last one's.
    pub fn add(&mut self, bucket: i64, tally: &Tally) -> bool {
        if self.current.0 == bucket {
            self.current.1.add(tally);
            return false;
        }
        self.settle();
        self.current = (bucket, *tally);
        true
    }

    /// Takes in another's, whose buckets have the same length.
    pub fn merge(&mut self, mut other: Series) {
        other.settle();
        for (bucket, tally) in other.buckets {
            self.buckets.entry(bucket).or_default().add(&tally);
        }
    }

    /// Makes buckets `times` as long.
    pub fn coarsen(&mut self, times: i64) {
        self.settle();
        for (bucket, tally) in std::mem::take(&mut self.buckets) {
            self.buckets.entry(bucket.div_euclid(times)).or_default().add(&tally);
        }
    }

    /// The tallies in the order of time.
    pub fn sorted(&self) -> Vec<(i64, Tally)> {
        let mut whole = self.clone();
        whole.settle();
        let mut buckets = whole.buckets.into_iter().collect::<Vec<_>>();
        buckets.sort_unstable_by_key(|(bucket, _)| *bucket);
        buckets
    }

    fn settle(&mut self) {
        let (bucket, tally) = std::mem::take(&mut self.current);
        if tally.requests > 0 {
            self.buckets.entry(bucket).or_default().add(&tally);
        }
    }
}
