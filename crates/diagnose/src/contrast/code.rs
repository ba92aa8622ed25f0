//! The difference of two profiles: by library, by function, and along the call chain.

use crate::profile::{CUT_SHORT, Frame, Profile, ROOT, Time, children_of_both};
use crate::units::Units;
use case::CodeContrast;
use std::collections::BTreeMap;

/// Fewer samples than this, both sides together, say nothing.
const SAMPLES: u64 = 5;

/// Rows shown.
const SHOWN: usize = 20;

/// A difference counts from this many standard deviations of counting samples.
const DEVIATIONS: f64 = 3.0;

/// A difference in processor time under this share may be the machine's: its clock and caches vary from run to run.
const DRIFT: f64 = 0.02;

/// The chain goes on while a function carries this part of the whole difference.
const MOST: f64 = 0.5;

/// Libraries whose processor time differs, largest difference first.
pub fn libraries(a: &Profile, b: &Profile, units: Units) -> Vec<CodeContrast> {
    let frames = |libraries: &BTreeMap<String, Time>| -> BTreeMap<Frame, Time> {
        let frame = |module: &String| Frame { function: String::new(), module: module.clone() };
        libraries.iter().map(|(module, time)| (frame(module), *time)).collect()
    };
    rows(&frames(&a.libraries), &frames(&b.libraries), units)
}

/// Functions whose processor time differs, callees included, largest difference first.
pub fn functions(a: &Profile, b: &Profile, units: Units) -> Vec<CodeContrast> {
    rows(&a.inclusive, &b.inclusive, units)
}

fn rows(a: &BTreeMap<Frame, Time>, b: &BTreeMap<Frame, Time>, units: Units) -> Vec<CodeContrast> {
    let mut both: BTreeMap<&Frame, (Time, Time)> = BTreeMap::new();
    for (frame, time) in a {
        both.entry(frame).or_default().0 = *time;
    }
    for (frame, time) in b {
        both.entry(frame).or_default().1 = *time;
    }
    both.retain(|_, (a, b)| a.samples + b.samples >= SAMPLES && is_real(*a, *b, units));
    let mut rows: Vec<CodeContrast> = both.into_iter().map(|(frame, (a, b))| row(frame, a, b, units)).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.a_ns.abs_diff(row.b_ns)));
    rows.truncate(SHOWN);
    rows
}

fn row(frame: &Frame, a: Time, b: Time, units: Units) -> CodeContrast {
    CodeContrast {
        function: frame.function.clone(),
        module: frame.module.clone(),
        a_ns: (a.ns as f64 / units.a).round() as u64,
        b_ns: (b.ns as f64 / units.b).round() as u64,
        samples: a.samples + b.samples,
    }
}

/// The call chain that carries most of the difference, from the outermost function to where it spreads out.
pub fn chain(a: &Profile, b: &Profile, units: Units) -> Vec<CodeContrast> {
    let whole = b.total_ns as f64 / units.b - a.total_ns as f64 / units.a;
    let (all_a, all_b) = (a.tree.time(ROOT), b.tree.time(ROOT));
    let drift = DRIFT * (all_a.ns as f64 / units.a).max(all_b.ns as f64 / units.b);
    if !is_real(all_a, all_b, units) || whole.abs() < drift {
        return Vec::new();
    }
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

/// Whether two times differ by more than chance.
fn is_real(a: Time, b: Time, units: Units) -> bool {
    let deviation = |time: Time, units: f64| time.ns as f64 / (time.samples as f64).max(1.0).sqrt() / units;
    let chance = deviation(a, units.a).hypot(deviation(b, units.b));
    (b.ns as f64 / units.b - a.ns as f64 / units.a).abs() > DEVIATIONS * chance
}
