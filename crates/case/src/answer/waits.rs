//! Who waits for whom.

use super::{Place, PlaceShare};
use crate::facts::{Activity, End, Ender};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the time of the exchanges, or of the run where there were none, went into; and for each wait what whoever ended it
/// did meanwhile, as deep as it goes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitTree {
    /// The mean length of the exchanges that were followed, or of the run, in nanoseconds.
    pub of_ns: u64,
    /// How many exchanges were followed, evenly spread over all; 0 if it is the run.
    pub followed: u64,
    /// What those did that somebody waits for, most time first.
    pub branches: Vec<WaitNode>,
}

/// Who waited for whom in one exchange.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RequestWaits {
    /// The exchange's number, counted from 1.
    pub number: u64,
    /// What its time went into; its lengths are those of this exchange alone.
    pub tree: WaitTree,
}

/// One thing that one program did while somebody waited for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitNode {
    /// The file name of its executable.
    pub program: String,
    /// The process; null if several processes of that program did it.
    pub pid: Option<u32>,
    /// Which end of the exchanges the program is; null if it is neither, or both.
    pub end: Option<End>,
    /// What it did.
    pub activity: Activity,
    /// For how long, in the mean exchange or in the run, in nanoseconds.
    pub ns: u64,
    /// How many waits these were; 0 if it was not blocked.
    pub count: u64,
    /// The median length of such a wait from its start to its end, in nanoseconds; 0 if it was not blocked.
    pub usual_ns: u64,
    /// Whether nearly all of them are about that long, as what a clock ends.
    pub regular: bool,
    /// Where in the code: the most specific place first.
    pub place: Vec<Place>,
    /// How much of it is at that place; null if no place is known.
    pub place_share: Option<PlaceShare>,
    /// Where the program went on after waits that ended by their time-outs: what they put off; empty where that is where they
    /// began, or not known.
    #[serde(default)]
    pub then: Vec<Place>,
    /// What most of it was waited for that another one was asked, in a protocol that could be read: `SELECT orders`; empty where
    /// that is not known.
    #[serde(default)]
    pub asked: String,
    /// What ended the waits where no recorded thread did, most time first.
    pub ended: Vec<Ended>,
    /// What those did meanwhile who ended the waits, most time first.
    pub waits_for: Vec<WaitNode>,
}

/// How much of some waits something ended that is no thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ended {
    /// What.
    pub by: Ender,
    /// For how long it was waited for, in the mean exchange or in the run, in nanoseconds.
    pub ns: u64,
}

impl WaitTree {
    /// The branch that most of the time is in, from the one that the user waits for to the last that is known: each is what
    /// the one before waits for. A step that explains less than half of what it is a part of ends it.
    pub fn main_branch(&self) -> Vec<&WaitNode> {
        let mut path = Vec::new();
        let (mut nodes, mut whole) = (&self.branches, self.of_ns);
        while let Some(node) = nodes.iter().max_by_key(|node| node.ns).filter(|node| node.ns * 2 >= whole) {
            path.push(node);
            (nodes, whole) = (&node.waits_for, node.ns);
        }
        path
    }

    /// All of its nodes, each before what it waits for.
    pub fn nodes(&self) -> impl Iterator<Item = &WaitNode> {
        let mut left: Vec<&WaitNode> = self.branches.iter().rev().collect();
        std::iter::from_fn(move || {
            let node = left.pop()?;
            left.extend(node.waits_for.iter().rev());
            Some(node)
        })
    }
}

impl WaitNode {
    /// What ended most of its waits, where that is no thread.
    pub fn mostly_ended_by(&self) -> Option<&Ender> {
        self.ended.iter().max_by_key(|ended| ended.ns).filter(|ended| ended.ns * 2 >= self.ns).map(|ended| &ended.by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_main_branch_ends_where_nothing_explains_half() {
        let leaf = |ns| WaitNode { ns, ..WaitNode::default() };
        let split = WaitNode { waits_for: vec![leaf(30), leaf(35)], ..leaf(80) };
        let tree = WaitTree { of_ns: 100, branches: vec![leaf(10), split], ..WaitTree::default() };
        assert_eq!(tree.main_branch().iter().map(|node| node.ns).collect::<Vec<_>>(), [80]);
        assert_eq!(tree.nodes().map(|node| node.ns).collect::<Vec<_>>(), [10, 80, 30, 35]);
    }
}
