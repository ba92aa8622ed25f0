//! The governor: how much of the time has rows, so that recording costs no more than it may.
//!
//! Sums are made all the time; rows in *windows*, whose share of the time follows from what recording is measured to
//! cost with and without them. It decides and does nothing: time, costs and events come in, and what is to be done
//! comes out.
//!
//! The budget is a credit. It grows with time by what rows may cost; a window spends it. As long as there is some, the
//! window goes on: what is quiet has rows of everything. Events are a second credit, so that they spread over the time.

use case::{Nanos, Share};
use std::time::Duration;

/// The shortest window: it holds several exchanges that wait for a delayed acknowledgement (40 ms each), and one
/// that waits for a retransmission (200 ms and more).
pub const WINDOW: Nanos = Nanos(250_000_000);

/// So long a window goes on beyond its end for a request that began in it and has no answer yet: requests of which only the
/// quick ones were seen whole would be no sample.
const MOST_HELD: Nanos = Nanos(2 * Nanos::SECOND.0);

/// The longest time without rows, whatever they cost, where there is room for their events: two windows a minute.
pub const LONGEST_WITHOUT: Nanos = Nanos(30 * Nanos::SECOND.0);

/// The shortest: windows that follow one another at once would only cut exchanges.
const LEAST_WITHOUT: Nanos = Nanos(100_000_000);

/// Of the budget, rows get this part even where sums alone cost as much: without any rows nothing would be found.
const LEAST_FOR_ROWS: f64 = 0.25;

/// What sums are taken to cost of what all costs, until they have been measured alone: 0.3 to 0.4 on a ping-pong.
const SUMS_AT_FIRST: f64 = 0.35;

/// The credit that can be saved up, for each CPU that the subject keeps busy: a window that costs half of one. And the
/// debt.
const MOST_SAVED: f64 = 0.5 * WINDOW.0 as f64;
const MOST_OWED: f64 = (WINDOW.0 + MOST_HELD.0) as f64;

/// What sums cost is smoothed over this time.
const SMOOTHED: f64 = 1e9;

/// The credit at first: reading what the subject's images say for the first time costs some 100 ms of CPU time, which
/// is no sign of what its rows will cost.
const AT_FIRST: f64 = 125e6;

/// Where the end is not known, or hours away, two thirds of the events are spread over the first hour, evenly on a
/// logarithmic scale of time: what a day would have all of. From then on as many come each hour as a quarter of them:
/// as many older ones are given up.
const HORIZON: f64 = 24.0 * 3600e9;
const FIRST: f64 = 3600e9;
const AN_HOUR_LATER: f64 = 0.25;

/// So long events may come as they come, and from then on evenly on a logarithmic scale of time.
const AT_ONCE: f64 = 10e9;

/// How much the last window counts in what a window is expected to cost and hold.
const NEWEST: f64 = 0.5;

/// What recording may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Of the CPU time that the subject takes, and at least of one CPU.
    pub overhead: Share,
    /// Events in all.
    pub events: u64,
    /// How long recording is going to last, where that is known.
    pub duration: Option<Duration>,
}

/// What there has been since recording began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// The time since.
    pub elapsed: Nanos,
    /// CPU time that recording itself has taken: programs in the kernel and the thread that takes their events.
    pub cost: Nanos,
    /// CPU time that the subject has taken.
    pub subject: Nanos,
    /// Events taken.
    pub events: u64,
    /// Whether a request that began in this window has no answer yet, and has waited for one a while.
    pub unanswered: bool,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Rows are made from now on.
    Open,
    /// Only sums from now on.
    Close,
}

/// A rate that is learned window by window.
#[derive(Clone, Copy, Debug, Default)]
struct Rate(Option<f64>);

impl Rate {
    fn learn(&mut self, rate: f64) {
        self.0 = Some(self.0.map_or(rate, |known| known + NEWEST * (rate - known)));
    }
}

/// Decides.
#[derive(Clone, Debug)]
pub struct Governor {
    budget: Budget,
    is_open: bool,
    /// When this window, or the time without rows, began; and what there was by then.
    since: Measured,
    last: Measured,
    /// CPU time that rows may still take, in nanoseconds; what they have taken too much below zero.
    credit: f64,
    /// Of a CPU, lately.
    lately: f64,
    /// Of a CPU: with rows, and with sums alone.
    with_rows: Rate,
    with_sums: Rate,
    /// Events a nanosecond, within windows.
    events: Rate,
    /// CPUs that the subject keeps busy.
    busy: Rate,
}

impl Governor {
    /// With a window open.
    pub fn new(budget: Budget) -> Governor {
        Governor {
            budget,
            is_open: true,
            since: Measured::default(),
            last: Measured::default(),
            credit: AT_FIRST,
            lately: 0.0,
            with_rows: Rate::default(),
            with_sums: Rate::default(),
            events: Rate::default(),
            busy: Rate::default(),
        }
    }

    /// Decides by what there has been until now.
    pub fn turn(&mut self, now: Measured) -> Option<Order> {
        let passed = (now.elapsed - self.last.elapsed).0 as f64;
        if passed <= 0.0 {
            return None;
        }
        let cost = (now.cost - self.last.cost).0 as f64;
        self.last = now;
        let lasted = (now.elapsed - self.since.elapsed).0 as f64;
        let rate = (now.cost - self.since.cost).0 as f64 / lasted.max(1.0);
        self.lately += (passed / lasted.clamp(passed, SMOOTHED.max(passed))) * (cost / passed - self.lately);
        let sums = if self.is_open { self.with_sums.0.unwrap_or(SUMS_AT_FIRST * rate) } else { self.lately };
        let busy = self.busy(&now);
        let budget = self.budget.overhead.0 * busy;
        // The share of a CPU that rows may take on average.
        let allowed = (budget - sums).max(LEAST_FOR_ROWS * budget);
        let most = MOST_SAVED * busy;
        let of_rows = if self.is_open { (cost - passed * sums).max(0.0) } else { 0.0 };
        self.credit = (self.credit + passed * allowed - of_rows).clamp(-MOST_OWED * busy, most);
        let is_turned = if self.is_open {
            self.is_to_close(lasted, rate - sums > allowed, &now)
        } else {
            self.is_to_open(lasted, allowed, most, &now)
        };
        if !is_turned {
            return None;
        }
        self.learn(rate, lasted, &now);
        self.is_open = !self.is_open;
        (self.since, self.lately) = (now, 0.0);
        Some(if self.is_open { Order::Open } else { Order::Close })
    }

    /// CPUs that the subject keeps busy, and one at least.
    fn busy(&self, now: &Measured) -> f64 {
        let lasted = (now.elapsed - self.since.elapsed).0 as f64;
        let lately = (now.subject - self.since.subject).0 as f64 / lasted.max(1.0);
        self.busy.0.unwrap_or(lately).max(1.0)
    }

    fn is_to_close(&self, lasted: f64, is_dear: bool, now: &Measured) -> bool {
        let is_spent = self.credit < 0.0 && is_dear || now.events >= self.events_by(now.elapsed);
        let is_held = now.unanswered && lasted < (WINDOW + MOST_HELD).0 as f64;
        lasted >= WINDOW.0 as f64 && is_spent && !is_held
    }

    fn is_to_open(&self, lasted: f64, allowed: f64, most: f64, now: &Measured) -> bool {
        let window = WINDOW.0 as f64;
        // Where sums cost less than they did, rows will as well.
        let sums = self.with_sums.0.unwrap_or(SUMS_AT_FIRST * self.with_rows.0.unwrap_or_default());
        let lately = if sums > 0.0 { (self.lately / sums).min(1.0) } else { 1.0 };
        let cost = (self.with_rows.0.unwrap_or_default() - sums).max(0.0) * lately;
        let events = self.events.0.unwrap_or_default() * window * lately;
        let can_pay = cost <= allowed || self.credit >= (cost * window).min(most);
        let has_room = now.events as f64 + events <= self.events_by(now.elapsed) as f64;
        let is_due = lasted >= LONGEST_WITHOUT.0 as f64;
        has_room && (is_due || can_pay && lasted >= LEAST_WITHOUT.0 as f64)
    }

    fn learn(&mut self, rate: f64, lasted: f64, now: &Measured) {
        self.busy.learn((now.subject - self.since.subject).0 as f64 / lasted.max(1.0));
        if self.is_open {
            self.with_rows.learn(rate);
            self.events.learn((now.events - self.since.events) as f64 / lasted.max(1.0));
        } else {
            self.with_sums.learn(rate);
        }
    }

    /// Events that may have been taken by a time.
    fn events_by(&self, elapsed: Nanos) -> u64 {
        let elapsed = elapsed.0 as f64;
        let soon = |duration: &Duration| duration.as_nanos() as f64 <= FIRST / AN_HOUR_LATER;
        let share = if let Some(duration) = self.budget.duration.filter(soon) {
            // There is nothing left to come after its end.
            ((elapsed + AT_ONCE) / (duration.as_nanos() as f64).max(AT_ONCE)).min(1.0)
        } else {
            let first = (1.0 + elapsed.min(FIRST) / AT_ONCE).ln() / (1.0 + HORIZON / AT_ONCE).ln();
            first + AN_HOUR_LATER * (elapsed - FIRST).max(0.0) / FIRST
        };
        (self.budget.events as f64 * share) as u64
    }
}

#[cfg(test)]
mod tests;
