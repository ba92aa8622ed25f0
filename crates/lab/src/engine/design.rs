//! What an experiment is, before anything is run.

use super::budget::Budget;
use super::schedule::Order;
use super::stop::Stop;

/// Which arms have a turn in a round.
pub type Open<'d, S> = Box<dyn Fn(&mut S) -> Vec<usize> + 'd>;

/// An experiment as a value. `S` is what the study keeps of its trials; the rules read it there.
pub struct Design<'d, S> {
    /// What is being done, in a word, for whoever watches: `proving`.
    pub doing: &'d str,
    /// The arms, which are numbered as they stand here.
    pub arms: Vec<Entry>,
    /// In which order they take their turns.
    pub order: Order,
    /// Rounds after which whatever is open stays open.
    pub most_rounds: u32,
    /// Time.
    pub budget: Budget,
    /// Which arms have a turn in the next round: those with a question open, and what they are compared with.
    pub open: Open<'d, S>,
    /// When it is over, besides.
    pub stop: Stop<'d, S>,
    /// Shown what is being done.
    pub say: &'d dyn Fn(&str),
}

/// An arm of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name, by which its trials are counted and timed.
    pub name: String,
    /// What it is there for.
    pub role: Role,
}

/// What an arm is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is what is asked about.
    Tried,
    /// Others are compared with it: the sham, the plain program, the bad world. It alone is no reason to go on.
    Reference,
}

impl Entry {
    /// An arm that is asked about.
    pub fn tried(name: impl Into<String>) -> Entry {
        Entry { name: name.into(), role: Role::Tried }
    }

    /// An arm that others are compared with.
    pub fn reference(name: impl Into<String>) -> Entry {
        Entry { name: name.into(), role: Role::Reference }
    }
}

impl<'d, S> Design<'d, S> {
    /// Whether there is anything left to ask, with these arms open.
    pub(super) fn has_question(&self, open: &[usize]) -> bool {
        open.iter().any(|arm| self.arms[*arm].role == Role::Tried)
    }

    /// Every arm, for designs in which none drops out.
    pub fn all(arms: usize) -> Open<'d, S>
    where
        S: 'd,
    {
        Box::new(move |_| (0..arms).collect())
    }
}
