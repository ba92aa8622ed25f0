//! The difference of two profiles: by library, by function, and along the call chain.

use super::chance::{Seen, differ};
use crate::profile::{CUT_SHORT, Frame, Profile, ROOT, Time, children_of_both};
use crate::units::Units;
use case::CodeContrast;
use std::collections::{BTreeMap, BTreeSet};

/// Fewer samples than this, both sides together, say nothing.
const SAMPLES: u64 = 5;

/// Rows shown.
const SHOWN: usize = 20;

/// A difference in CPU time under this share may be the machine's: its clock and caches vary from run to run.
const DRIFT: f64 = 0.02;

/// The chain goes on while a function carries this part of the whole difference.
const MOST: f64 = 0.5;

/// Libraries whose CPU time differs, largest difference first.
pub fn libraries(a: &Profile, b: &Profile, units: Units) -> Vec<CodeContrast> {
    let frame = |module: &String| Frame { function: String::new(), module: module.clone() };
    let seen = |profile: &'_ Profile| -> BTreeMap<Frame, (Time, Vec<u64>)> {
        let each = profile.libraries.iter();
        each.map(|(module, time)| (frame(module), (*time, of_runs(profile.runs.libraries.get(module))))).collect()
    };
    rows(&seen(a), &seen(b), (a, b), units)
}

/// Functions whose CPU time differs, callees included, largest difference first.
pub fn functions(a: &Profile, b: &Profile, units: Units) -> Vec<CodeContrast> {
    let seen = |profile: &Profile| of_functions(&profile.inclusive, &profile.runs.inclusive);
    rows(&seen(a), &seen(b), (a, b), units)
}

/// Functions whose own CPU time differs, callees left out, largest difference first.
pub fn own(a: &Profile, b: &Profile, units: Units) -> Vec<CodeContrast> {
    let seen = |profile: &Profile| of_functions(&profile.own, &profile.runs.own);
    rows(&seen(a), &seen(b), (a, b), units)
}

fn of_functions(times: &BTreeMap<Frame, Time>, runs: &BTreeMap<Frame, Vec<u64>>) -> Frames {
    times.iter().map(|(frame, time)| (frame.clone(), (*time, of_runs(runs.get(frame))))).collect()
}

fn of_runs(runs: Option<&Vec<u64>>) -> Vec<u64> {
    runs.cloned().unwrap_or_default()
}

type Frames = BTreeMap<Frame, (Time, Vec<u64>)>;

fn rows(a: &Frames, b: &Frames, (all_a, all_b): (&Profile, &Profile), units: Units) -> Vec<CodeContrast> {
    let nothing = |all: &Profile| (Time::default(), vec![0; all.runs.total.len()]);
    let (nothing_a, nothing_b) = (nothing(all_a), nothing(all_b));
    let mut rows = Vec::new();
    for frame in a.keys().chain(b.keys()).collect::<BTreeSet<_>>() {
        let (time_a, runs_a) = a.get(frame).unwrap_or(&nothing_a);
        let (time_b, runs_b) = b.get(frame).unwrap_or(&nothing_b);
        let (seen_a, seen_b) = (Seen { time: *time_a, runs: runs_a }, Seen { time: *time_b, runs: runs_b });
        if time_a.samples + time_b.samples >= SAMPLES && differ(seen_a, seen_b, units) {
            rows.push(row(frame, *time_a, *time_b, units));
        }
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.a_ns.abs_diff(row.b_ns)));
    rows.truncate(SHOWN);
    rows
}

pub fn row(frame: &Frame, a: Time, b: Time, units: Units) -> CodeContrast {
    CodeContrast {
        function: frame.function.clone(),
        module: frame.module.clone(),
        a_ns: (a.ns as f64 / units.a).round() as u64,
        b_ns: (b.ns as f64 / units.b).round() as u64,
        samples: a.samples + b.samples,
    }
}

/// The whole difference in CPU time, in nanoseconds; `None` where it may be chance or the machine's.
pub fn whole(a: &Profile, b: &Profile, units: Units) -> Option<f64> {
    let (all_a, all_b) = (a.tree.time(ROOT), b.tree.time(ROOT));
    let (seen_a, seen_b) = (Seen { time: all_a, runs: &a.runs.total }, Seen { time: all_b, runs: &b.runs.total });
    let (all_a, all_b) = (all_a.ns as f64 / units.a, all_b.ns as f64 / units.b);
    let whole = all_b - all_a;
    (differ(seen_a, seen_b, units) && whole.abs() >= DRIFT * all_a.max(all_b)).then_some(whole)
}

/// The call chain that carries most of the difference, from the outermost function to where it spreads out.
pub fn chain(a: &Profile, b: &Profile, units: Units) -> Vec<CodeContrast> {
    let Some(whole) = whole(a, b, units) else { return Vec::new() };
    let mut at = (Some(ROOT), Some(ROOT));
    let mut chain = Vec::new();
    loop {
        let of = |profile: &Profile, node: Option<usize>| node.map_or(Time::default(), |node| profile.tree.time(node));
        let children = children_of_both((&a.tree, at.0), (&b.tree, at.1)).into_iter();
        let timed = children.map(|(frame, nodes)| (frame, nodes, of(a, nodes.0), of(b, nodes.1)));
        let carried = |a: Time, b: Time| (b.ns as f64 / units.b - a.ns as f64 / units.a) * whole.signum();
        let most = timed.max_by(|one, other| carried(one.2, one.3).total_cmp(&carried(other.2, other.3)));
        let Some((frame, nodes, a_time, b_time)) = most else { break };
        if carried(a_time, b_time) < MOST * whole.abs() {
            break;
        }
        if frame.function != CUT_SHORT {
            chain.push(row(frame, a_time, b_time, units));
        }
        at = nodes;
    }
    chain
}
