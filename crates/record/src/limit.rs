//! The limit of events: once as many were taken as are kept, only sums are made.

use crate::row_switch::RowSwitch;
use case::Nanos;

/// How often it is written down what was beyond the limit: a stretch that is lost whole need not be told in pieces.
const PERIOD: Nanos = Nanos::SECOND;

/// The most events that are kept.
pub struct Limit {
    pub events: u64,
    written: Option<Nanos>,
}

impl Limit {
    /// Not reached yet.
    pub fn new(events: u64) -> Limit {
        Limit { events, written: None }
    }

    /// Has no more rows made where it was reached. Where the kernel refuses, they are dropped as they are taken.
    pub fn heed(reached: Option<Nanos>, switch: &mut RowSwitch) {
        if reached.is_some() {
            switch.turn(false);
        }
    }

    /// Whether what was beyond it is due to be written down.
    pub fn is_due(&self, now: Nanos) -> bool {
        self.written.is_none_or(|written| now - written >= PERIOD)
    }

    /// It is written down now: since when it was not.
    pub fn write(&mut self, reached: Nanos, now: Nanos) -> Nanos {
        self.written.replace(now).unwrap_or(reached)
    }
}
