//! The functions that burn most of a difference by themselves, and the calls that lead to each.
//!
//! A call chain ends where a difference spreads over several callees. What those come to in the end, by many ways, may be
//! a few small functions: they show only in the time that functions take themselves.

use super::code::{own, row, whole};
use crate::profile::{CUT_SHORT, Frame, Profile, ROOT, Time, children_of_both};
use crate::units::Units;
use case::{CodeContrast, HotSpot};

/// A function that burns less of the whole difference is one of many.
const LEAST_PART: f64 = 0.05;

/// The most that are reported.
const MOST_REPORTED: usize = 5;

/// The hot spots of a difference in CPU time, largest part first; none where there is no difference, or it spreads
/// evenly.
pub fn hot_spots(a: &Profile, b: &Profile, units: Units) -> Vec<HotSpot> {
    let Some(whole) = whole(a, b, units) else { return Vec::new() };
    let part = |row: &CodeContrast| (row.b_ns as f64 - row.a_ns as f64) / whole;
    let rows = own(a, b, units).into_iter();
    let mut rows = rows.filter(|row| row.function != CUT_SHORT && part(row) >= LEAST_PART).collect::<Vec<_>>();
    rows.sort_by(|one, other| part(other).total_cmp(&part(one)));
    let spot = |own: CodeContrast| {
        let function = Frame { function: own.function.clone(), module: own.module.clone() };
        HotSpot { share: part(&own).min(1.0), chain: way(a, b, &function, units, whole.signum()), own }
    };
    rows.into_iter().take(MOST_REPORTED).map(spot).collect()
}

/// The way by which most of the function's own time is called, outermost first; each step with that time alone.
fn way(a: &Profile, b: &Profile, function: &Frame, units: Units, sign: f64) -> Vec<CodeContrast> {
    let (own_a, own_b) = (a.tree.own_under(function), b.tree.own_under(function));
    let of = |own: &[Time], node: Option<usize>| node.map_or(Time::default(), |node| own[node]);
    let carried = |(a, b): (Time, Time)| (b.ns as f64 / units.b - a.ns as f64 / units.a) * sign;
    let mut at = (Some(ROOT), Some(ROOT));
    let mut chain = Vec::new();
    let mut left = f64::INFINITY;
    loop {
        let children = children_of_both((&a.tree, at.0), (&b.tree, at.1)).into_iter();
        let timed = children.map(|(frame, nodes)| (frame, nodes, (of(&own_a, nodes.0), of(&own_b, nodes.1))));
        let Some((frame, nodes, times)) = timed.max_by(|one, other| carried(one.2).total_cmp(&carried(other.2))) else {
            break;
        };
        let is_there = chain
            .last()
            .is_some_and(|last: &CodeContrast| last.function == function.function && last.module == function.module);
        // A function that calls itself is reached where most of its time is its own, not of calls further in.
        if carried(times) <= 0.0 || is_there && 2.0 * carried(times) < left {
            break;
        }
        if frame.function != CUT_SHORT {
            chain.push(row(frame, times.0, times.1, units));
        }
        (at, left) = (nodes, carried(times));
    }
    chain
}
