//! The functions with most time of their own, as rows of a table. Programs, the roots of a flame, are no functions.

use crate::figure::single;
use crate::text::clean;
use case::Metric;
use case::views::{Flame, FlameNode};
use std::collections::BTreeMap;

/// Rows shown.
const MOST: usize = 15;

/// A function's times; of a comparison in A and in B, else in B alone.
pub struct FunctionRow {
    pub function: String,
    pub module: String,
    /// The function that called it most of the time.
    pub caller: String,
    pub own: String,
    pub own_share: String,
    pub with_callees: String,
    pub share: String,
    /// The time of its own in A.
    pub before: String,
    /// How much B has more of it than A, and whether chance makes as much.
    pub difference: String,
    /// The same, callees included.
    pub difference_with_callees: String,
}

/// In nanoseconds: in A and in B.
#[derive(Clone, Copy, Default)]
pub struct Pair {
    pub before: u64,
    pub ns: u64,
}

#[derive(Default)]
struct Function<'f> {
    own: Pair,
    with_callees: Pair,
    callers: BTreeMap<&'f str, u64>,
}

/// The functions with most time of their own; of a comparison, with the largest difference.
pub fn most(flame: &Flame) -> Vec<FunctionRow> {
    let mut functions: Vec<_> = functions(flame).into_iter().collect();
    let weight = |own: &Pair| if flame.before_ns.is_some() { own.ns.abs_diff(own.before) } else { own.ns };
    functions.retain(|(_, function)| weight(&function.own) > 0);
    functions.sort_by_key(|(name, function)| (std::cmp::Reverse(weight(&function.own)), *name));
    functions.iter().take(MOST).map(|(name, function)| row(flame, *name, function)).collect()
}

fn functions(flame: &Flame) -> BTreeMap<(&str, &str), Function<'_>> {
    let nodes = &flame.nodes;
    let own = own_times(nodes);
    let mut functions: BTreeMap<(&str, &str), Function> = BTreeMap::new();
    for (index, node) in nodes.iter().enumerate() {
        let Some(parent) = node.parent else { continue };
        let same = |caller: &FlameNode| caller.function == node.function && caller.module == node.module;
        let function = functions.entry((&node.function, &node.module)).or_default();
        function.own.add(own[index]);
        if !callers(nodes, index).any(same) {
            function.with_callees.add(Pair { before: node.before_ns.unwrap_or_default(), ns: node.ns });
        }
        *function.callers.entry(&nodes[parent as usize].function).or_default() += node.ns;
    }
    functions
}

impl Pair {
    fn add(&mut self, more: Pair) {
        self.before += more.before;
        self.ns += more.ns;
    }
}

/// What of each node's time is not its callees'.
pub fn own_times(nodes: &[FlameNode]) -> Vec<Pair> {
    let whole = |node: &FlameNode| Pair { before: node.before_ns.unwrap_or_default(), ns: node.ns };
    let mut own: Vec<Pair> = nodes.iter().map(whole).collect();
    for node in nodes {
        if let Some(caller) = node.parent.and_then(|parent| own.get_mut(parent as usize)) {
            let callee = whole(node);
            caller.before = caller.before.saturating_sub(callee.before);
            caller.ns = caller.ns.saturating_sub(callee.ns);
        }
    }
    own
}

/// The nodes above one.
fn callers(nodes: &[FlameNode], index: usize) -> impl Iterator<Item = &FlameNode> {
    let above = |node: &FlameNode| node.parent.and_then(|parent| nodes.get(parent as usize));
    std::iter::successors(above(&nodes[index]), move |node| above(node))
}

fn row(flame: &Flame, (function, module): (&str, &str), times: &Function) -> FunctionRow {
    let caller = times.callers.iter().max_by_key(|(name, ns)| (**ns, std::cmp::Reverse(**name)));
    FunctionRow {
        function: clean(function),
        module: clean(module),
        caller: clean(caller.map_or("", |(name, _)| name)),
        own: time(times.own.ns),
        own_share: share(times.own.ns, flame.total_ns),
        with_callees: time(times.with_callees.ns),
        share: share(times.with_callees.ns, flame.total_ns),
        before: time(times.own.before),
        difference: difference(flame, times.own.before, times.own.ns),
        difference_with_callees: difference(flame, times.with_callees.before, times.with_callees.ns),
    }
}

/// A time with its unit.
pub fn time(ns: u64) -> String {
    if ns == 0 { "0".to_string() } else { single(&Metric::Wall, ns as f64) }
}

/// A part of a whole, in per cent.
pub fn share(ns: u64, whole: u64) -> String {
    format!("{:.1} %", 100.0 * ns as f64 / whole.max(1) as f64)
}

/// How much more B has than A, with its sign.
pub fn difference(flame: &Flame, before: u64, ns: u64) -> String {
    let sign = if ns >= before { "+" } else { "-" };
    let amount = format!("{sign}{}", time(ns.abs_diff(before)));
    if is_chance(flame, before, ns) { format!("{amount} (may be chance)") } else { amount }
}

/// Whether counting samples alone makes such a difference: within two standard deviations. The number of samples in a
/// function varies like a Poisson count, by the root of itself.
pub fn is_chance(flame: &Flame, before: u64, ns: u64) -> bool {
    let variance = |ns: u64, sample: u64| ns as f64 * sample as f64;
    let variance = variance(ns, flame.sample_ns) + variance(before, flame.before_sample_ns.unwrap_or_default());
    ns.abs_diff(before) as f64 <= 2.0 * variance.sqrt()
}
