//! What is counted in a round: by one worker for itself, then all together. What load counts as well is in its tally.

use case::{FeedError, FeedFault, FeedOutcomes, FeedPhase, SlowOrigin};
use std::collections::HashMap;
use std::time::Duration;

/// So many of the slowest origins are named.
const MOST_SLOW: usize = 10;

/// What came of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Unchanged,
    WithoutNews,
    /// So many entries are new.
    WithNews(u64),
    Gone,
    PutOff,
    Disallowed,
    Failed(FeedFault),
}

/// Time spent on something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub phase: FeedPhase,
    pub time: Duration,
}

/// How long something took, and how much of that its thread was on a CPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub wall: Duration,
    pub cpu: Duration,
}

/// Everything that is counted.
#[derive(Default)]
pub(crate) struct Counts {
    pub outcomes: FeedOutcomes,
    pub new_entries: u64,
    pub inflated: u64,
    /// CPU time.
    costs: Vec<(FeedPhase, Duration)>,
    /// Wall time in the turn of the loop that goes on.
    turn: Vec<(FeedPhase, Duration)>,
    errors: HashMap<FeedFault, (u64, String)>,
    slow: Vec<SlowOrigin>,
}

impl Counts {
    /// A feed is seen to.
    pub(crate) fn settle(&mut self, outcome: Outcome, address: &str) {
        let outcomes = &mut self.outcomes;
        let counter = match outcome {
            Outcome::Unchanged => &mut outcomes.unchanged,
            Outcome::WithoutNews => &mut outcomes.without_news,
            Outcome::WithNews(new) => {
                self.new_entries += new;
                &mut outcomes.with_news
            }
            Outcome::Gone => &mut outcomes.gone,
            Outcome::PutOff => &mut outcomes.put_off,
            Outcome::Disallowed => &mut outcomes.disallowed,
            Outcome::Failed(fault) => {
                self.errors.entry(fault).or_insert_with(|| (0, case::redact_target(address))).0 += 1;
                &mut outcomes.failed
            }
        };
        *counter += 1;
    }

    /// Wall time was spent in this turn.
    pub(crate) fn spend(&mut self, cost: Cost) {
        add(&mut self.turn, cost);
    }

    /// A turn has ended: what each phase had of its wall time it has of its CPU time as well. The clock of a thread's CPU time is a
    /// call to the system and was a twentieth of a round; that of wall time costs a tenth of it.
    pub(crate) fn end_turn(&mut self, turn: Turn) {
        let share = if turn.wall.is_zero() { 0.0 } else { (turn.cpu.as_secs_f64() / turn.wall.as_secs_f64()).min(1.0) };
        for (phase, time) in self.turn.drain(..) {
            add(&mut self.costs, Cost { phase, time: time.mul_f64(share) });
        }
    }

    pub(crate) fn spent(&self, phase: FeedPhase) -> Duration {
        self.costs.iter().filter(|(one, _)| *one == phase).map(|(_, time)| *time).sum()
    }

    /// An origin that was worked through, where it is among the slowest.
    pub(crate) fn add_slow(&mut self, origin: SlowOrigin) {
        self.slow.push(origin);
        if self.slow.len() > MOST_SLOW * 8 {
            self.slow = slowest(std::mem::take(&mut self.slow));
        }
    }

    /// Adds what another worker has counted.
    pub(crate) fn merge(&mut self, other: Counts) {
        let FeedOutcomes { unchanged, without_news, with_news, gone, put_off, disallowed, failed } = other.outcomes;
        self.outcomes.unchanged += unchanged;
        self.outcomes.without_news += without_news;
        self.outcomes.with_news += with_news;
        self.outcomes.gone += gone;
        self.outcomes.put_off += put_off;
        self.outcomes.disallowed += disallowed;
        self.outcomes.failed += failed;
        self.new_entries += other.new_entries;
        self.inflated += other.inflated;
        other.costs.into_iter().for_each(|(phase, time)| add(&mut self.costs, Cost { phase, time }));
        for (fault, (count, example)) in other.errors {
            self.errors.entry(fault).or_insert((0, example)).0 += count;
        }
        self.slow.extend(other.slow);
    }

    /// What went wrong, most frequent first.
    pub(crate) fn errors(&self) -> Vec<FeedError> {
        let one = |(fault, (count, example)): (&FeedFault, &(u64, String))| FeedError {
            fault: *fault,
            count: *count,
            example: example.clone(),
        };
        let mut all = self.errors.iter().map(one).collect::<Vec<_>>();
        all.sort_by_key(|one| (std::cmp::Reverse(one.count), one.fault));
        all
    }

    /// The slowest origins.
    pub(crate) fn slowest(self) -> Vec<SlowOrigin> {
        slowest(self.slow)
    }
}

fn slowest(mut slow: Vec<SlowOrigin>) -> Vec<SlowOrigin> {
    slow.sort_by(|one, other| other.longest_ns.cmp(&one.longest_ns).then_with(|| one.origin.cmp(&other.origin)));
    slow.truncate(MOST_SLOW);
    slow
}

fn add(costs: &mut Vec<(FeedPhase, Duration)>, cost: Cost) {
    match costs.iter_mut().find(|(phase, _)| *phase == cost.phase) {
        Some((_, time)) => *time += cost.time,
        None => costs.push((cost.phase, cost.time)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::ContentFault;

    #[test]
    fn counts_of_workers_add_up() {
        let (mut one, mut other) = (Counts::default(), Counts::default());
        let html = Outcome::Failed(FeedFault::Content(ContentFault::Html));
        one.settle(Outcome::WithNews(3), "http://a/");
        one.settle(html, "http://a/?token=secret");
        other.settle(html, "http://b/");
        other.settle(Outcome::Gone, "http://c/");
        one.merge(other);
        assert_eq!((one.outcomes.all(), one.outcomes.failed, one.new_entries), (4, 2, 3));
        assert_eq!(one.errors().first().map(|one| (one.count, one.example.as_str())), Some((2, "http://a/?token=*")));
    }

    #[test]
    fn only_the_slowest_origins_are_named() {
        let mut counts = Counts::default();
        for number in 0..500u64 {
            counts.settle(Outcome::Unchanged, "");
            counts.add_slow(SlowOrigin { origin: number.to_string(), feeds: 1, longest_ns: number, all_ns: number });
        }
        assert_eq!(counts.outcomes.unchanged, 500);
        let slowest = counts.slowest();
        assert_eq!((slowest.len(), slowest[0].longest_ns, slowest[9].longest_ns), (MOST_SLOW, 499, 490));
    }
}
