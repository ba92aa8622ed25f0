//! When there are rows. Where they were thinned out on purpose, so that recording costs or keeps no more than it may,
//! nothing is known of the time between two windows but sums: no exchange reaches across it, and no ledger has it.

use crate::spans;
use case::Recording;

/// The stretches without rows, merged, in order of time; none as a rule.
#[derive(Clone, Debug, Default)]
pub struct Windows {
    thinned: Vec<(u64, u64)>,
}

impl Windows {
    /// Of a recording.
    pub fn new(recording: &Recording) -> Windows {
        let rows = recording.thinned.iter().map(|row| (row.start.0, row.end.0));
        Windows { thinned: spans::merge(rows.filter(|(start, end)| start < end).collect()) }
    }

    /// Whether rows were thinned out at all.
    pub fn is_thinned(&self) -> bool {
        !self.thinned.is_empty()
    }

    /// Which window a time lies in, counted from 0; of a time between two, the later one.
    pub fn number(&self, time: u64) -> usize {
        self.thinned.partition_point(|span| span.0 <= time)
    }

    /// Whether there are rows at a time.
    pub fn has_rows_at(&self, time: u64) -> bool {
        self.number(time).checked_sub(1).is_none_or(|before| self.thinned[before].1 <= time)
    }

    /// Whether there are rows all the time from one moment to another.
    pub fn is_whole(&self, from: u64, to: u64) -> bool {
        self.thinned.is_empty() || spans::within(&self.thinned, from, to.max(from.saturating_add(1))).next().is_none()
    }

    /// How much of the time between two moments has rows.
    pub fn length(&self, from: u64, to: u64) -> u64 {
        let length = to.saturating_sub(from);
        if self.thinned.is_empty() { length } else { length - spans::length(spans::within(&self.thinned, from, to)) }
    }

    /// The parts of the time between two moments that have rows.
    pub fn parts(&self, from: u64, to: u64) -> impl Iterator<Item = (u64, u64)> {
        let gaps = spans::within(&self.thinned, from, to).chain([(to, to)]);
        let mut at = from;
        let parts = gaps.map(move |(start, end)| (std::mem::replace(&mut at, end), start));
        parts.filter(|(start, end)| start < end)
    }

    /// The first change from or to a time without rows after a moment.
    pub fn next_change(&self, time: u64) -> u64 {
        let before = self.number(time).checked_sub(1).map(|before| self.thinned[before].1).filter(|&end| end > time);
        before.or_else(|| self.thinned.get(self.number(time)).map(|span| span.0)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests;
