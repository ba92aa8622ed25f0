//! The call tree: what was on a processor under which callers.

use std::collections::BTreeMap;
use std::ops::AddAssign;

/// A function in a module, wherever in it a sample was taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame {
    /// The function; `MODULE+0xOFFSET` where it has no name.
    pub function: String,
    /// The library or program, without its folder.
    pub module: String,
}

/// CPU time, and the samples it rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Time {
    /// In nanoseconds.
    pub ns: u64,
    /// How many samples.
    pub samples: u64,
}

impl AddAssign for Time {
    fn add_assign(&mut self, more: Time) {
        self.ns += more.ns;
        self.samples += more.samples;
    }
}

/// One function under one chain of callers.
#[derive(Clone, Debug, Default)]
struct Node {
    time: Time,
    /// The node of each function that it called, by the function's number.
    children: BTreeMap<u32, usize>,
}

/// The tree; node 0 is above every thread's first function.
#[derive(Clone, Debug)]
pub struct Tree {
    /// What the functions' numbers mean.
    pub frames: Vec<Frame>,
    nodes: Vec<Node>,
}

/// The node above every thread's first function.
pub const ROOT: usize = 0;

impl Default for Tree {
    fn default() -> Tree {
        Tree { frames: Vec::new(), nodes: vec![Node::default()] }
    }
}

impl Tree {
    /// Adds time to the innermost function of a path and to all above it. Outermost first.
    pub fn add(&mut self, path: &[u32], time: Time) {
        let mut at = ROOT;
        self.nodes[at].time += time;
        for &frame in path {
            let known = self.nodes[at].children.get(&frame).copied();
            at = known.unwrap_or_else(|| self.new_child(at, frame));
            self.nodes[at].time += time;
        }
    }

    fn new_child(&mut self, node: usize, frame: u32) -> usize {
        self.nodes.push(Node::default());
        let child = self.nodes.len() - 1;
        self.nodes[node].children.insert(frame, child);
        child
    }

    /// The time of a node, callees included.
    pub fn time(&self, node: usize) -> Time {
        self.nodes[node].time
    }

    /// The time of a function itself, without its callees, under each node: for every node how much of its time that is.
    pub fn own_under(&self, function: &Frame) -> Vec<Time> {
        let mut under = vec![Time::default(); self.nodes.len()];
        // A node comes after its caller: backwards, what is called is summed up before its caller is.
        for node in (0..self.nodes.len()).rev() {
            for (frame, child) in self.children(node) {
                let own = if frame == function { self.own(child) } else { Time::default() };
                under[child] += own;
                let of_child = under[child];
                under[node] += of_child;
            }
        }
        under
    }

    /// The time of a node, without its callees.
    fn own(&self, node: usize) -> Time {
        let of_callees = self.nodes[node].children.values().map(|&child| self.time(child));
        of_callees.fold(self.time(node), |own, callee| Time {
            ns: own.ns.saturating_sub(callee.ns),
            samples: own.samples.saturating_sub(callee.samples),
        })
    }

    /// The functions that a node called, with their nodes.
    pub fn children(&self, node: usize) -> impl Iterator<Item = (&Frame, usize)> {
        self.nodes[node].children.iter().map(|(&frame, &child)| (&self.frames[frame as usize], child))
    }
}

/// One step down two trees at once: each function that either node called, with both nodes.
pub fn children_of_both<'t>(
    (a, node_a): (&'t Tree, Option<usize>),
    (b, node_b): (&'t Tree, Option<usize>),
) -> BTreeMap<&'t Frame, (Option<usize>, Option<usize>)> {
    let mut both: BTreeMap<&Frame, (Option<usize>, Option<usize>)> = BTreeMap::new();
    for (frame, child) in node_a.into_iter().flat_map(|node| a.children(node)) {
        both.entry(frame).or_default().0 = Some(child);
    }
    for (frame, child) in node_b.into_iter().flat_map(|node| b.children(node)) {
        both.entry(frame).or_default().1 = Some(child);
    }
    both
}
