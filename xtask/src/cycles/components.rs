//! Strongly connected components: which modules reach each other.

use std::collections::{BTreeMap, BTreeSet};

/// Groups of two and more names of which each reaches each along `edges`. Levels have some dozen modules, so that asking
/// for each what it reaches is quick enough.
pub fn strongly_connected<'a>(edges: impl Iterator<Item = &'a (String, String)>) -> Vec<Vec<String>> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in edges {
        next.entry(from).or_default().push(to);
    }
    let reached: BTreeMap<&str, BTreeSet<&str>> = next.keys().map(|&name| (name, from(name, &next))).collect();
    let mut groups = BTreeSet::new();
    for (name, below) in &reached {
        let back = |other: &&str| reached.get(other).is_some_and(|reached| reached.contains(name));
        let group = below.iter().copied().filter(back).map(str::to_owned).collect::<Vec<_>>();
        if group.len() > 1 {
            groups.insert(group);
        }
    }
    groups.into_iter().collect()
}

/// What can be reached from `start` by one edge or more.
fn from<'a>(start: &str, next: &BTreeMap<&str, Vec<&'a str>>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = next.get(start).cloned().unwrap_or_default();
    while let Some(name) = open.pop() {
        if reached.insert(name) {
            open.extend(next.get(name).into_iter().flatten());
        }
    }
    reached
}
