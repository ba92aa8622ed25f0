//! What it is that threads wait for, where their language tells: Java's locks, semaphores and queues all end in the same call.

use crate::analysis::Analysis;
use crate::java::{self, Awaited};
use std::collections::BTreeMap;

/// What requests hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Held {
    /// A lock, or something of which no more is known.
    #[default]
    Lock,
    /// One of a semaphore's permits.
    Permit,
    /// Something that is put into a queue again.
    Pooled,
}

impl Held {
    /// What most of the time is waited for, by rows of calls.
    pub(super) fn of_most(analysis: &Analysis, calls: &BTreeMap<usize, u64>) -> Held {
        let mut lengths: BTreeMap<Held, u64> = BTreeMap::new();
        for (&row, &length) in calls {
            let held = match java::awaited(analysis.code.frames(analysis.call(row).stack)) {
                Some(Awaited::Permit) => Held::Permit,
                Some(Awaited::Element) => Held::Pooled,
                Some(Awaited::Lock | Awaited::Result) | None => Held::Lock,
            };
            let sum = lengths.entry(held).or_default();
            *sum = sum.saturating_add(length);
        }
        lengths.into_iter().max_by_key(|(_, length)| *length).map(|(held, _)| held).unwrap_or_default()
    }

    /// As it stands in a sentence.
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Held::Lock => "a lock",
            Held::Permit => "a permit of a semaphore",
            Held::Pooled => "a pooled resource",
        }
    }

    /// What is to be done; `of_lock` where it is a lock.
    pub(super) fn remedy(self, of_lock: &'static str) -> &'static str {
        match self {
            Held::Lock => of_lock,
            Held::Permit => {
                "Give the semaphore more permits, if what it guards can take it, or hold one for less time: do what is slow before \
                 or after."
            }
            Held::Pooled => "Enlarge the pool, or hand resources back earlier: do what is slow before or after.",
        }
    }
}

/// Whether a wait is for what another thread works out: nobody holds that.
pub(super) fn is_for_a_result(analysis: &Analysis, row: usize) -> bool {
    java::awaited(analysis.code.frames(analysis.call(row).stack)) == Some(Awaited::Result)
}
