//! What lies between two commits that were measured and differ: which of it to try next.

use std::collections::BTreeSet;

/// The commits that can have brought a step, by their places in the line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap<'a> {
    /// The earliest.
    pub from: usize,
    /// The latest: it was measured.
    pub to: usize,
    /// Places, of the whole line, that do not tell.
    pub silent: &'a BTreeSet<usize>,
}

impl Gap<'_> {
    /// The place that halves it.
    pub fn middle(&self) -> usize {
        middle(self.from, self.to)
    }

    /// Whether trying a place leaves at most three quarters.
    pub fn is_about_the_middle(&self, place: usize) -> bool {
        let quarter = (self.to - self.from) / 4;
        (self.from + quarter..self.to - quarter).contains(&place) && place < self.to
    }

    /// The place to try next: the one in the middle. Where that is among those that do not tell: a neighbour of a lone one;
    /// of several, the middle of what is left on their larger side, since they may be ends of one run of commits that do
    /// not build; and those between them last. None where there is nothing left to try.
    pub fn next(&self) -> Option<usize> {
        let nearest = |wanted: usize| {
            (self.from..self.to).filter(|one| !self.silent.contains(one)).min_by_key(|one| one.abs_diff(wanted))
        };
        let mut silent = self.silent.range(self.from..self.to).copied();
        let wanted = self.middle();
        let Some(first) = silent.next() else { return nearest(wanted) };
        let last = silent.next_back().unwrap_or(first);
        let (before, after) = (first - self.from, self.to - (last + 1));
        if !self.silent.contains(&wanted) || first == last || before + after == 0 {
            nearest(wanted)
        } else if after >= before {
            nearest(middle(last + 1, self.to))
        } else {
            nearest(middle(self.from, first))
        }
    }
}

fn middle(from: usize, to: usize) -> usize {
    from + (to - from).saturating_sub(1) / 2
}
