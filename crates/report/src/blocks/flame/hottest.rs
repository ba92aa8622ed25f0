//! The hottest path: from the program with most time down, always to the callee with most.

use super::functions::{difference, is_chance, share, time};
use crate::text::clean;
use case::views::{Flame, FlameNode};

/// A step with less than this part of the whole ends the path.
const LEAST_PART: u64 = 20;

/// Steps shown.
const MOST: usize = 60;

/// One step down.
pub struct HotFrame {
    /// Steps above it.
    pub depth: usize,
    pub function: String,
    pub module: String,
    /// Its time and share; of a comparison, the difference.
    pub time: String,
}

/// The path; of a comparison, the one that carries most of the difference, as long as it is no chance.
pub fn path(flame: &Flame) -> Vec<HotFrame> {
    let before = |node: &FlameNode| node.before_ns.unwrap_or_default();
    let compared = flame.before_ns.is_some();
    let weight = |node: &FlameNode| if compared { node.ns.abs_diff(before(node)) } else { node.ns };
    let whole = flame.total_ns.max(flame.before_ns.unwrap_or_default());
    let mut steps = Vec::new();
    let mut above: Option<u32> = None;
    while steps.len() < MOST {
        let callees = (0u32..).zip(&flame.nodes).filter(|(_, node)| node.parent == above);
        let Some((index, node)) = callees.max_by_key(|(index, node)| (weight(node), std::cmp::Reverse(*index))) else {
            break;
        };
        if weight(node) * LEAST_PART < whole
            || weight(node) == 0
            || (compared && is_chance(flame, before(node), node.ns))
        {
            break;
        }
        let time = if compared {
            difference(flame, before(node), node.ns)
        } else {
            format!("{}, {}", time(node.ns), share(node.ns, flame.total_ns))
        };
        steps.push(HotFrame { depth: steps.len(), function: clean(&node.function), module: clean(&node.module), time });
        above = Some(index);
    }
    steps
}
