//! How the search split what differs: each set beneath the smallest one tried before it that holds it.

use super::{kind, result};
use crate::label::names;
use crate::text::clean;
use askama::Template;
use case::{Bisection, Factor, Probe, ProbeKind, ProbeResult};

#[derive(Template)]
#[template(path = "blocks/probes/tree.html")]
struct Tree {
    nodes: Vec<Node>,
    untestable: Vec<(String, String)>,
}

/// One set that was tried.
struct Node {
    depth: usize,
    number: usize,
    of: String,
    names: String,
    kind: &'static str,
    badge: &'static str,
    word: &'static str,
    /// Whether it is what was found.
    is_found: bool,
}

/// The tree as HTML; empty where nothing was searched.
pub(super) fn tree(bisection: &Bisection) -> String {
    let searched = bisection.probes.iter().enumerate().filter(|(_, probe)| is_of_search(probe));
    let searched = searched.collect::<Vec<_>>();
    if searched.len() < 2 {
        return String::new();
    }
    let parents = (0..searched.len()).map(|child| parent(&searched, child)).collect::<Vec<_>>();
    let mut nodes = Vec::new();
    for root in (0..searched.len()).filter(|place| parents[*place].is_none()) {
        grow(bisection, &searched, &parents, (root, 0), &mut nodes);
    }
    let untestable = bisection.factors.iter().filter(|factor| !factor.untestable.is_empty());
    let named = |factor: &Factor| (clean(&factor.name), clean(&factor.untestable));
    Tree { nodes, untestable: untestable.map(named).collect() }.render().unwrap_or_default()
}

fn is_of_search(probe: &Probe) -> bool {
    use ProbeKind::{All, Part, Shrink, Suspect};
    matches!(probe.kind, All | Suspect | Part | Shrink) && !probe.taken.is_empty()
}

/// The smallest set tried before a probe that holds all that it took, and more.
fn parent(searched: &[(usize, &Probe)], child: usize) -> Option<usize> {
    let taken = &searched[child].1.taken;
    let holds = |place: &usize| {
        let other = &searched[*place].1.taken;
        other.len() > taken.len() && taken.iter().all(|name| other.contains(name))
    };
    (0..child).filter(holds).min_by_key(|place| searched[*place].1.taken.len())
}

/// A set with all beneath it. A parent was tried before its children, so this ends.
fn grow(
    bisection: &Bisection,
    searched: &[(usize, &Probe)],
    parents: &[Option<usize>],
    (place, depth): (usize, usize),
    nodes: &mut Vec<Node>,
) {
    let (index, probe) = searched[place];
    nodes.push(node(bisection, index, probe, depth));
    for child in (0..searched.len()).filter(|child| parents[*child] == Some(place)) {
        grow(bisection, searched, parents, (child, depth + 1), nodes);
    }
}

fn node(bisection: &Bisection, index: usize, probe: &Probe, depth: usize) -> Node {
    let cure = bisection.culprit.iter().flat_map(|culprit| &culprit.cure).collect::<Vec<_>>();
    let is_cure = cure.len() == probe.taken.len() && cure.iter().all(|name| probe.taken.contains(name));
    Node {
        depth,
        number: index + 1,
        of: crate::text::counted(probe.taken.len() as u64, "thing"),
        names: names(&probe.taken),
        kind: kind(probe.kind),
        badge: match probe.result {
            ProbeResult::Good => "good",
            ProbeResult::Bad => "bad",
            ProbeResult::Unclear => "warn",
            ProbeResult::Untestable => "none",
        },
        word: result(probe),
        is_found: is_cure && probe.result == ProbeResult::Good,
    }
}
