//! What of a call tree, or of two side by side, is shown: functions with a small part are folded into their callers, to
//! whose time theirs belongs anyway.

use crate::profile::{Frame, ROOT, Tree, children_of_both};
use case::views::{Flame, FlameNode};

/// One part in so many of the whole is not a pixel wide.
const SMALLEST_PART: u64 = 1_000;

/// Functions shown at most, so that a page stays small.
const MOST_NODES: usize = 3_000;

/// Stands for the programs with a small part.
const OTHERS: &str = "(other programs)";

/// A function with its place in both trees.
struct Node<'t> {
    parent: Option<usize>,
    frame: &'t Frame,
    a: Option<usize>,
    b: Option<usize>,
    before: u64,
    ns: u64,
}

impl Node<'_> {
    /// The larger of both times: what decides whether a function is shown. No callee's is larger than its caller's.
    fn weight(&self) -> u64 {
        self.before.max(self.ns)
    }
}

/// One tree, its times divided.
pub fn tree(tree: &Tree, count: f64) -> Flame {
    let nothing = Tree::default();
    let flame = shown(&both((&nothing, 1.0), (tree, count)));
    let nodes = flame.nodes.into_iter().map(|node| FlameNode { before_ns: None, ..node }).collect();
    Flame { before_ns: None, nodes, ..flame }
}

/// Two trees as one, the times of each divided.
pub fn difference(a: (&Tree, f64), b: (&Tree, f64)) -> Flame {
    shown(&both(a, b))
}

/// Every function of two trees, callers before their callees, those with more time first.
fn both<'t>((a, count_a): (&'t Tree, f64), (b, count_b): (&'t Tree, f64)) -> Vec<Node<'t>> {
    let time = |tree: &Tree, node: Option<usize>, count: f64| {
        node.map_or(0, |node| (tree.time(node).ns as f64 / count.max(1.0)) as u64)
    };
    let children = |parent: Option<usize>, node_a: Option<usize>, node_b: Option<usize>| {
        let children = children_of_both((a, node_a), (b, node_b)).into_iter();
        let mut children: Vec<Node> = children
            .map(|(frame, (a_node, b_node))| {
                let (before, ns) = (time(a, a_node, count_a), time(b, b_node, count_b));
                Node { parent, frame, a: a_node, b: b_node, before, ns }
            })
            .collect();
        children.sort_by(|one, other| other.weight().cmp(&one.weight()).then(one.frame.cmp(other.frame)));
        children
    };
    let mut nodes: Vec<Node> = Vec::new();
    let mut next = children(None, Some(ROOT), Some(ROOT));
    next.reverse();
    while let Some(node) = next.pop() {
        let below = children(Some(nodes.len()), node.a, node.b);
        next.extend(below.into_iter().rev());
        nodes.push(node);
    }
    nodes
}

/// The nodes large enough. The whole is the sum of the programs.
fn shown(nodes: &[Node]) -> Flame {
    let roots = || nodes.iter().filter(|node| node.parent.is_none());
    let (total, before): (u64, u64) = (roots().map(|node| node.ns).sum(), roots().map(|node| node.before).sum());
    let smallest = smallest_shown(nodes, total.max(before));
    let mut places: Vec<Option<u32>> = Vec::with_capacity(nodes.len());
    let mut flame = Flame { total_ns: total, before_ns: Some(before), ..Flame::default() };
    let mut others = (0, 0);
    for node in nodes {
        if node.weight() < smallest {
            places.push(None);
            if node.parent.is_none() {
                others = (others.0 + node.before, others.1 + node.ns);
            }
            continue;
        }
        places.push(Some(flame.nodes.len() as u32));
        let parent = node.parent.and_then(|parent| places[parent]);
        let Frame { function, module } = node.frame.clone();
        flame.nodes.push(FlameNode { parent, function, module, ns: node.ns, before_ns: Some(node.before) });
    }
    if others != (0, 0) {
        let function = OTHERS.to_string();
        let (before_ns, ns) = (Some(others.0), others.1);
        flame.nodes.push(FlameNode { function, ns, before_ns, ..FlameNode::default() });
    }
    flame
}

/// The smallest weight that is shown. Of those that share the weight of the first too many, none is.
fn smallest_shown(nodes: &[Node], whole: u64) -> u64 {
    let mut weights: Vec<u64> = nodes.iter().map(Node::weight).collect();
    weights.sort_unstable_by(|one, other| other.cmp(one));
    let too_many = weights.get(MOST_NODES).map_or(0, |weight| weight + 1);
    too_many.max(whole.div_ceil(SMALLEST_PART)).max(1)
}
