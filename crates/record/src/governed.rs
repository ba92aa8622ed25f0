//! A recording whose rows are governed: measures, asks the governor, turns the switch, and keeps when there were no
//! rows.

use crate::clock::now;
use crate::governor::{Budget, Governor, Measured, Order};
use crate::own_cost::OwnCost;
use crate::row_switch::RowSwitch;
use crate::thinning::{PIECE, Piece, Thinning};
use case::tables::Thinned;
use case::{Detail, Nanos};

/// How long a program in the kernel may still act on what it read before the switch was turned: it is not interrupted
/// for longer than an interrupt takes.
const SETTLES: Nanos = Nanos(50_000);

/// The governor with what it measures by.
pub struct Governed {
    governor: Governor,
    budget: Budget,
    own: OwnCost,
    /// What there was when watching began; none before.
    first: Option<Figures>,
    closed: Option<Nanos>,
    has_closed: bool,
    thinning: Thinning,
    /// Since when there have been rows of this piece, and the events taken before it.
    piece: Option<(Nanos, u64)>,
}

/// What was measured, as it stands.
#[derive(Clone, Copy)]
struct Figures {
    time: Nanos,
    kernel: Nanos,
    drain: Nanos,
    subject: Nanos,
    events: u64,
}

impl Governed {
    /// Nothing watched yet.
    pub fn new(budget: Budget, own: OwnCost) -> Governed {
        Governed {
            governor: Governor::new(budget),
            budget,
            own,
            first: None,
            closed: None,
            has_closed: false,
            thinning: Thinning::new(budget.events),
            piece: None,
        }
    }

    fn figures(&self, events: u64) -> Figures {
        Figures {
            time: now(),
            kernel: self.own.in_the_kernel(),
            drain: OwnCost::of_the_drain(),
            subject: self.own.subject(),
            events,
        }
    }

    /// Measures and acts: for the thread that takes events, which has taken so many; `is_unanswered` tells whether a request waits
    /// for its answer. The stretch without rows that is over now.
    pub fn turn(
        &mut self,
        switch: &mut RowSwitch,
        events: u64,
        is_unanswered: impl Fn(Nanos) -> bool,
    ) -> Option<Thinned> {
        let figures = self.figures(events);
        let first = *self.first.get_or_insert(figures);
        let order = self.governor.turn(Measured {
            elapsed: figures.time - first.time,
            cost: (figures.kernel - first.kernel) + (figures.drain - first.drain),
            subject: figures.subject - first.subject,
            events: figures.events - first.events,
            unanswered: switch.makes_rows() && is_unanswered(figures.time),
        })?;
        // Of what happens while the switch is turned some has rows: it counts as time without.
        let before = now();
        switch.turn(order == Order::Open);
        if order == Order::Close {
            self.closed.get_or_insert(before);
            self.has_closed = true;
            return None;
        }
        let thinned = self.closed.take().map(|start| Thinned { start, end: now() + SETTLES });
        self.piece = thinned.as_ref().map(|thinned| (thinned.end, figures.events));
        thinned
    }

    /// Cuts the time with rows into pieces; `slowest` tells how long the slowest exchange took that has ended since it
    /// was asked last. The stretches whose rows are given up now, where there are too many.
    pub fn thin(&mut self, switch: &RowSwitch, events: u64, slowest: impl FnOnce() -> Nanos) -> Vec<(Nanos, Nanos)> {
        let now = now();
        let is_over = |(since, _): (Nanos, u64)| !switch.makes_rows() || now.0.saturating_sub(since.0) >= PIECE.0;
        if let Some((start, before)) = self.piece.take_if(|piece| is_over(*piece)) {
            let end = self.closed.unwrap_or(now);
            self.thinning.add(Piece { start, end, events: events - before, slowest: slowest() });
        }
        if switch.makes_rows() {
            self.piece.get_or_insert((now, events));
        }
        // With rows being made, some may find no room while tables are written anew.
        if !self.thinning.is_due(switch.makes_rows()) {
            return Vec::new();
        }
        self.has_closed = true;
        self.thinning.thin()
    }

    /// The stretch without rows in which it ended, if in one, and what recording has cost; none where all has rows.
    pub fn end(&mut self, events: u64, end: Nanos) -> (Option<Thinned>, Detail) {
        let figures = self.figures(events);
        let first = self.first.unwrap_or(figures);
        let thinned = self.closed.take().map(|start| Thinned { start, end: end.max(start) });
        let detail = Detail {
            overhead: self.budget.overhead.0,
            kernel: figures.kernel - first.kernel,
            drain: figures.drain - first.drain,
            subject: figures.subject - first.subject,
        };
        (thinned, detail)
    }

    /// Whether there ever was time without rows.
    pub fn has_thinned(&self) -> bool {
        self.has_closed
    }
}
