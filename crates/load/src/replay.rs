//! Requests that were recorded elsewhere, to be made again.

use fastrand::Rng;
use std::collections::HashMap;
use std::time::Duration;

/// More requests would take more memory than a driver may: 16 bytes each.
const MOST: usize = 20_000_000;

/// Requests that were recorded elsewhere: what was asked for, and when.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replay {
    /// What was asked for, each once.
    pub targets: Vec<Recorded>,
    /// When, from the first on and in order, and which of the targets.
    pub arrivals: Vec<(Duration, u32)>,
    /// Requests that are not made again: they could change something, or nobody knows what they were.
    pub left_out: u64,
    /// How many times faster than they came.
    pub speed: f64,
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Recorded {
    /// The method.
    pub method: String,
    /// Path and query.
    pub path: String,
}

/// Collects requests in any order.
#[derive(Debug)]
pub struct Collector {
    known: HashMap<Recorded, u32>,
    seen: Vec<(i64, u32)>,
    left_out: u64,
}

impl Collector {
    /// An empty one.
    pub fn new() -> Collector {
        Collector { known: HashMap::new(), seen: Vec::new(), left_out: 0 }
    }

    /// Adds a request that came in this second.
    pub fn add(&mut self, second: i64, request: Recorded) {
        if self.seen.len() >= MOST {
            return self.leave_out();
        }
        let next = self.known.len() as u32;
        let target = *self.known.entry(request).or_insert(next);
        self.seen.push((second, target));
    }

    /// Counts a request that is not to be made again.
    pub fn leave_out(&mut self) {
        self.left_out += 1;
    }

    /// All of them in order, so many times faster than they came. Logs tell seconds: within one, requests are spread at random,
    /// since all at its beginning would be a burst that nobody saw.
    pub fn replay(self, speed: f64, seed: u64) -> Replay {
        let mut random = Rng::with_seed(seed);
        let first = self.seen.iter().map(|(second, _)| *second).min().unwrap_or_default();
        let at = |second: i64, within: f64| {
            Duration::from_secs_f64((second.saturating_sub(first) as f64 + within).max(0.0) / speed)
        };
        let mut arrivals =
            self.seen.iter().map(|(second, target)| (at(*second, random.f64()), *target)).collect::<Vec<_>>();
        arrivals.sort_unstable();
        let mut targets = self.known.into_iter().collect::<Vec<_>>();
        targets.sort_unstable_by_key(|(_, place)| *place);
        let targets = targets.into_iter().map(|(recorded, _)| recorded).collect();
        Replay { targets, arrivals, left_out: self.left_out, speed }
    }
}

impl Default for Collector {
    fn default() -> Collector {
        Collector::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(path: &str) -> Recorded {
        Recorded { method: "GET".into(), path: path.into() }
    }

    #[test]
    fn requests_keep_their_second_and_are_spread_within_it() {
        let mut collector = Collector::new();
        // Written down when they were answered, and so not in order.
        for (at, path) in [(101, "/b"), (100, "/a"), (103, "/a")] {
            collector.add(at, get(path));
        }
        collector.leave_out();
        let replay = collector.replay(2.0, 1);
        assert_eq!(replay.targets, [get("/b"), get("/a")]);
        assert_eq!(replay.arrivals.iter().map(|(_, target)| *target).collect::<Vec<_>>(), [1, 0, 1]);
        let halves = replay.arrivals.iter().map(|(at, _)| at.as_millis() / 500).collect::<Vec<_>>();
        assert_eq!((halves, replay.left_out), (vec![0, 1, 3], 1));
    }
}
