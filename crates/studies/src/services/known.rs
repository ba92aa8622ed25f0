//! Which deviations are known already. One is told once, when two looks in a row have found it; it is forgotten when it has not been
//! found for a while, and told again if it comes back.

use case::{Deviation, OutOfLineWith};

/// Found in so many looks in a row before it is told: what one more interval takes away was chance.
const LOOKS: u32 = 2;
/// Forgotten when so many looks in a row have not found it.
const MISSED: u32 = 12;

/// Those that are known.
#[derive(Default)]
pub struct Known(Vec<Entry>);

struct Entry {
    deviation: Deviation,
    seen: u32,
    missed: u32,
    is_told: bool,
}

impl Known {
    /// Takes what a look has found: those that are to be told now.
    pub fn take(&mut self, found: Vec<Deviation>) -> Vec<Deviation> {
        let mut is_found = vec![false; self.0.len()];
        let mut fresh = Vec::new();
        for deviation in found {
            match self.0.iter().position(|entry| is_same(&entry.deviation, &deviation)) {
                Some(index) => {
                    let entry = &mut self.0[index];
                    entry.seen += 1;
                    entry.missed = 0;
                    if let Some(found) = is_found.get_mut(index) {
                        *found = true;
                    }
                    if !entry.is_told {
                        entry.deviation = deviation;
                    }
                    if !entry.is_told && entry.seen >= LOOKS {
                        entry.is_told = true;
                        fresh.push(entry.deviation.clone());
                    }
                }
                None => self.0.push(Entry { deviation, seen: 1, missed: 0, is_told: false }),
            }
        }
        for (entry, found) in self.0.iter_mut().zip(is_found) {
            entry.missed += u32::from(!found);
        }
        self.0.retain(|entry| if entry.is_told { entry.missed < MISSED } else { entry.missed == 0 });
        fresh
    }

    /// Those that hold now.
    pub fn current(&self) -> Vec<Deviation> {
        self.0.iter().filter(|entry| entry.is_told && entry.missed == 0).map(|entry| entry.deviation.clone()).collect()
    }

    /// All that were told and are not forgotten, latest first.
    pub fn all(&self) -> Vec<Deviation> {
        let mut all =
            self.0.iter().filter(|entry| entry.is_told).map(|entry| entry.deviation.clone()).collect::<Vec<_>>();
        all.sort_by_key(|deviation| std::cmp::Reverse(deviation.at_ms));
        all
    }
}

/// Whether two looks have found the same.
fn is_same(one: &Deviation, other: &Deviation) -> bool {
    let is_alike = one.service == other.service && one.metric == other.metric && one.with == other.with;
    let overlaps = one.low_ms <= other.high_ms && other.low_ms <= one.high_ms;
    is_alike && (one.with == OutOfLineWith::Others || overlaps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(service: &str) -> Vec<Deviation> {
        vec![Deviation { service: service.into(), low_ms: 5, high_ms: 9, at_ms: 7, ..Deviation::default() }]
    }

    #[test]
    fn one_is_told_once_when_two_looks_have_found_it() {
        let mut known = Known::default();
        assert_eq!(known.take(found("a")), []);
        assert_eq!(known.take(found("a")).len(), 1);
        assert_eq!(known.take(found("a")), []);
        assert_eq!((known.all().len(), known.current().len()), (1, 1));
    }

    #[test]
    fn what_a_look_takes_away_is_not_told_and_what_comes_back_later_is_told_again() {
        let mut known = Known::default();
        known.take(found("a"));
        known.take(Vec::new());
        assert_eq!(known.take(found("a")), [], "it begins anew");
        assert_eq!(known.take(found("a")).len(), 1);
        (0..MISSED).for_each(|_| drop(known.take(Vec::new())));
        assert_eq!(known.all(), []);
        known.take(found("a"));
        assert_eq!(known.take(found("a")).len(), 1);
    }
}
