//! The most frequent of any number of keys, in bounded memory (after Manku and Motwani, "Approximate frequency counts over
//! data streams", 2002, with the keys counted least dropped as soon as there are too many).
//!
//! A count is never too high. How much too low it may be is known for each key: all that was dropped at most before it came.

use crate::tally::Tally;
use rustc_hash::FxSeededState;
use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// So many keys stay when the others are dropped; twice as many are held at most. At 64,000 requests that are all unlike,
/// nothing is lost yet.
const KEPT: usize = 32_768;

/// A key's count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// What was counted: at least this.
    pub tally: Tally,
    /// Requests that may be missing from it.
    pub missed: u64,
}

/// Counts by key.
#[derive(Clone, Debug)]
pub struct Heavy<K> {
    counts: HashMap<K, Counted, FxSeededState>,
    /// What a key that is not held may have had: the sum of the largest counts that were dropped at a time.
    dropped: u64,
}

impl<K: Eq + Hash> Heavy<K> {
    /// None yet. The seed keeps those who choose keys from choosing which of them collide.
    pub fn new(seed: usize) -> Heavy<K> {
        Heavy { counts: HashMap::with_hasher(FxSeededState::with_seed(seed)), dropped: 0 }
    }

    /// Adds to a key's count; an owned key is made only where it is new.
    pub fn add<Q: Hash + Eq + ?Sized>(&mut self, key: &Q, tally: &Tally)
    where
        K: Borrow<Q>,
        for<'q> K: From<&'q Q>,
    {
        if let Some(counted) = self.counts.get_mut(key) {
            counted.tally.add(tally);
            return;
        }
        self.put(K::from(key), tally);
    }

    /// Adds to the count of a key that is at hand.
    pub fn put(&mut self, key: K, tally: &Tally) {
        let missed = self.dropped;
        self.counts.entry(key).or_insert(Counted { tally: Tally::default(), missed }).tally.add(tally);
        self.drop_least();
    }

    /// Adds a count that somebody else has made, with what may be missing from it.
    pub fn hold(&mut self, key: K, counted: &Counted) {
        let held = self.counts.entry(key).or_default();
        held.tally.add(&counted.tally);
        held.missed = held.missed.saturating_add(counted.missed);
        self.drop_least();
    }

    /// Notes that a key which is not held may have had so many more.
    pub fn drop_more(&mut self, requests: u64) {
        self.dropped = self.dropped.saturating_add(requests);
    }

    /// Adds another's counts, whose keys are changed on the way.
    pub fn merge(&mut self, other: Heavy<K>, change: impl Fn(K) -> K) {
        let (mine, theirs) = (self.dropped, other.dropped);
        // Whatever the other does not hold it may have dropped.
        self.counts.values_mut().for_each(|counted| counted.missed = counted.missed.saturating_add(theirs));
        for (key, counted) in other.counts {
            let missed = mine.saturating_add(theirs);
            let held = self.counts.entry(change(key)).or_insert(Counted { tally: Tally::default(), missed });
            held.tally.add(&counted.tally);
            held.missed = held.missed.saturating_sub(theirs).saturating_add(counted.missed);
        }
        self.drop_more(theirs);
        self.drop_least();
    }

    /// All that are held.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &Counted)> {
        self.counts.iter()
    }

    /// Requests that a key may have had that is not held.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    fn drop_least(&mut self) {
        if self.counts.len() < 2 * KEPT {
            return;
        }
        let mut requests = self.counts.values().map(|counted| counted.tally.requests).collect::<Vec<_>>();
        let rank = requests.len() - KEPT;
        let (_, &mut cut, _) = requests.select_nth_unstable(rank);
        let mut largest = 0;
        self.counts.retain(|_, counted| {
            let stays = counted.tally.requests > cut;
            if !stays {
                largest = largest.max(counted.tally.requests);
            }
            stays
        });
        self.drop_more(largest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_never_too_high_and_too_low_by_what_is_said_at_most() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut halves = [Heavy::<u64>::new(1), Heavy::new(2)];
        let mut true_counts = HashMap::<u64, u64>::new();
        for turn in 0..400_000u64 {
            // Ten are frequent among very many that come once or twice.
            let key = if random.u8(..4) == 0 { random.u64(..10) } else { 10 + random.u64(..200_000) };
            *true_counts.entry(key).or_default() += 1;
            halves[(turn % 2) as usize].put(key, &Tally { requests: 1, ..Tally::default() });
        }
        let [mut all, other] = halves;
        all.merge(other, |key| key);
        assert!(all.counts.len() < 2 * KEPT && all.dropped() > 0);
        for (key, counted) in all.iter() {
            let truth = true_counts[key];
            assert!(counted.tally.requests <= truth, "{key}");
            assert!(counted.tally.requests + counted.missed >= truth, "{key}: {counted:?} of {truth}");
        }
        assert!((0..10).all(|key| all.counts.contains_key(&key)));
    }
}
