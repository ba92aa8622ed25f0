//! How far a trial goes: what is dropped at its beginning, and where it is cut.

use crate::metric::elapsed_per_exchange;
use case::Answer;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A run that is no longer than this is tried whole: cutting it would save nothing worth the difference.
const SHORT_RUN: Duration = Duration::from_secs(1);
/// Exchanges that a window should hold, so that one odd one among them does not decide.
const WANTED_EXCHANGES: u64 = 20;
/// A window is no longer than this unless a few exchanges need it, so that many trials find room in a budget.
const LONG_WINDOW: Duration = Duration::from_millis(600);
/// Nor shorter: below, the start of processes and the ticks of the kernel would be seen in it.
const SHORT_WINDOW: Duration = Duration::from_millis(250);
/// What a window of very short exchanges is made to last: a few ticks of the kernel's clock.
const LEAST_WINDOW: Duration = Duration::from_millis(40);
/// What shows in some of many exchanges only, or not in the first ones: a window at the beginning would miss it. What gets lost on
/// the way, what follows a pause, what is slower once a queue is full, a bucket empty, no port left, or all connections open.
const SHOWS_LATE: [&str; 6] = ["P24", "P25", "P26", "P27", "P41", "P48"];
/// A run that is no longer than this is then tried whole.
const LONG_RUN: Duration = Duration::from_secs(20);
/// A trial that makes its exchanges so many times slower than the recorded run is cut before it has made them all.
const SLOWER: u32 = 3;
/// The share of a run's exchanges that is dropped at its beginning, as one over this, and the most of them: caches
/// fill and TCP leaves its quick beginnings within the first few.
const WARM_UP_SHARE: u64 = 20;
const MOST_WARM_UP: u64 = 5;
/// A trial that takes so many times as long as the recorded run is stuck.
const PATIENCE: u32 = 5;
/// What any trial gets before it is called stuck.
const LEAST_PATIENCE: Duration = Duration::from_secs(10);

/// How far a trial goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Exchanges that are made before measuring begins.
    pub warm_up: u64,
    /// Exchanges, after the warm-up, after which it is cut; none for as many as there are.
    pub exchanges: Option<u64>,
    /// Time, after the warm-up, before which it is not cut, however many exchanges there were.
    pub least: Duration,
    /// Time, after the warm-up, after which it is cut; none runs to the client's end.
    pub window: Option<Duration>,
    /// When it is given up, all in all.
    pub longest: Duration,
}

impl Extent {
    /// The client's whole run, nothing dropped.
    pub fn whole(recorded: Duration) -> Extent {
        Extent {
            warm_up: 0,
            exchanges: None,
            least: Duration::ZERO,
            window: None,
            longest: (recorded * PATIENCE).max(LEAST_PATIENCE),
        }
    }

    /// As far as it takes to measure an exchange of the recorded run. `takes_whole` where a metric needs whole runs.
    pub fn of_run(answer: &Answer, takes_whole: bool) -> Extent {
        let recorded = Duration::from_nanos(answer.wall_ns);
        let whole = Extent::whole(recorded);
        let Some(elapsed) = elapsed_per_exchange(answer).filter(|_| !takes_whole) else { return whole };
        let warm_up = (answer.exchanges / WARM_UP_SHARE).min(MOST_WARM_UP);
        // A program that had not ended when recording did would run on for nobody knows how long.
        let has_ended = answer.subject_exit.is_some();
        let shows_late = answer.findings.iter().any(|finding| SHOWS_LATE.contains(&finding.id.as_str()));
        if shows_late && recorded <= LONG_RUN && has_ended {
            return whole;
        }
        if recorded <= SHORT_RUN && has_ended {
            return Extent { warm_up, ..whole };
        }
        let elapsed = elapsed.0.max(1);
        let window = (elapsed * WANTED_EXCHANGES).clamp(nanos(SHORT_WINDOW), nanos(LONG_WINDOW));
        let exchanges = (window / elapsed).max(1);
        // All arms make the same exchanges, since a program's first ones can be of another kind than its later ones. Only
        // where that takes next to no time a few more are made.
        Extent {
            warm_up,
            exchanges: Some(exchanges),
            least: LEAST_WINDOW,
            window: Some(Duration::from_nanos(exchanges * elapsed) * SLOWER),
            ..whole
        }
    }

    /// About how long a trial of the recorded kind takes.
    pub fn expected(&self, answer: &Answer) -> Duration {
        let warm_up = elapsed_per_exchange(answer).map_or(0, |elapsed| elapsed.0 * self.warm_up);
        let recorded = Duration::from_nanos(answer.wall_ns);
        let window = self.window.map(|longest| longest / SLOWER);
        window.map_or(recorded, |window| (Duration::from_nanos(warm_up) + window).min(recorded))
    }
}

fn nanos(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}
