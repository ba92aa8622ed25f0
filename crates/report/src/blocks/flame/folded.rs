//! Recursion folded for the picture: where a chain of calls repeats itself at once, it is drawn once.
//!
//! An interpreter that runs in itself, or a parser that goes down a deep document, would else fill the screen with the
//! same few names. Every function stays on every path that it was on, and every time of its own stays its own.

use super::functions::own_times;
use case::views::{Flame, FlameNode};

/// The longest chain whose repetition is looked for.
const LONGEST: usize = 24;

/// The flame with such repetitions drawn once; none where there are none.
pub fn folded(flame: &Flame) -> Option<Flame> {
    let mut nodes: Vec<FlameNode> = Vec::new();
    let mut places = Vec::with_capacity(flame.nodes.len());
    let mut has_folded = false;
    for (node, own) in flame.nodes.iter().zip(own_times(&flame.nodes)) {
        let parent = node.parent.and_then(|parent| places.get(parent as usize).copied());
        let repeated = parent.and_then(|parent| repeated(&nodes, parent, node));
        has_folded |= repeated.is_some();
        let place = repeated.or_else(|| beside(&nodes, parent, node)).unwrap_or_else(|| {
            let parent = parent.and_then(|parent| u32::try_from(parent).ok());
            nodes.push(FlameNode { parent, ns: 0, before_ns: node.before_ns.map(|_| 0), ..node.clone() });
            nodes.len() - 1
        });
        add(&mut nodes[place], own.ns, own.before);
        places.push(place);
    }
    add_callees(&mut nodes);
    has_folded.then(|| Flame { nodes, ..flame.clone() })
}

/// The node that this one is a repetition of: the chain that it ends stands directly above once more.
fn repeated(nodes: &[FlameNode], parent: usize, node: &FlameNode) -> Option<usize> {
    let callers: Vec<usize> = above(nodes, parent).take(2 * LONGEST).collect();
    // The path from its end upwards. Programs, the roots, are no calls.
    let calls = callers.iter().map(|&at| &nodes[at]).filter(|one| one.parent.is_some());
    let path: Vec<&FlameNode> = std::iter::once(node).chain(calls).collect();
    let repeats =
        |length: usize| path.len() >= 2 * length && (0..length).all(|step| is_same(path[step], path[step + length]));
    (1..=LONGEST).find(|&length| repeats(length)).map(|length| callers[length - 1])
}

/// A node and those above it.
fn above(nodes: &[FlameNode], from: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(from), |&at| nodes[at].parent.map(|parent| parent as usize))
}

/// The node of the same function under the same callers; what was folded brings some together.
fn beside(nodes: &[FlameNode], parent: Option<usize>, node: &FlameNode) -> Option<usize> {
    let parent = u32::try_from(parent?).ok();
    nodes.iter().position(|one| one.parent == parent && is_same(one, node))
}

fn is_same(one: &FlameNode, other: &FlameNode) -> bool {
    one.function == other.function && one.module == other.module
}

fn add(node: &mut FlameNode, ns: u64, before: u64) {
    node.ns += ns;
    node.before_ns = node.before_ns.map(|had| had + before);
}

/// From times of their own to times with callees; callers come before their callees.
fn add_callees(nodes: &mut [FlameNode]) {
    for index in (0..nodes.len()).rev() {
        let (ns, before) = (nodes[index].ns, nodes[index].before_ns.unwrap_or_default());
        if let Some(parent) = nodes[index].parent {
            add(&mut nodes[parent as usize], ns, before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(names: &[&str]) -> Flame {
        let node = |(index, name): (usize, &&str)| FlameNode {
            parent: index.checked_sub(1).and_then(|parent| u32::try_from(parent).ok()),
            function: (*name).to_string(),
            module: "m".into(),
            ns: 100 - index as u64,
            ..FlameNode::default()
        };
        Flame { total_ns: 100, nodes: names.iter().enumerate().map(node).collect(), ..Flame::default() }
    }

    fn names(flame: &Flame) -> Vec<(&str, u64)> {
        flame.nodes.iter().map(|node| (node.function.as_str(), node.ns)).collect()
    }

    #[test]
    fn a_chain_that_repeats_itself_is_drawn_once_and_its_times_add_up() {
        let deep = chain(&["program", "main", "eval", "call", "eval", "call", "eval", "call", "leaf"]);
        let folded = folded(&deep).expect("recursion");
        // Each call has 1 ns of its own. Where the chain ended in its middle, `eval` under `call`, that has its time.
        let expected = [("program", 100), ("main", 99), ("eval", 98), ("call", 97), ("eval", 2), ("leaf", 92)];
        assert_eq!(names(&folded), expected);
    }

    #[test]
    fn a_program_of_the_same_name_as_what_it_calls_is_no_recursion() {
        assert_eq!(folded(&chain(&["main", "main", "leaf"])), None);
    }
}
