//! The difference in system calls: how many, and how long, of each name and about what.

use super::about::{Folders, about};
use super::aliases::{Aliases, without_figures};
use crate::syscall;
use crate::units::Units;
use case::{CallContrast, Recording};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Rows shown.
const SHOWN: usize = 12;

/// A count differs when it does so by this share of the larger, ...
const OF_COUNT: f64 = 0.1;

/// ... and by this many calls an exchange or a run.
const CALLS: f64 = 0.5;

/// A time differs from this share of the whole wall time on.
const OF_WALL: f64 = 0.02;

/// Calls of one name about one thing: how many, and their time in nanoseconds.
pub type Kinds = BTreeMap<(u16, String), (u64, u64)>;

/// The calls of a recording, by name and by what they are about.
pub fn kinds(recording: &Recording) -> Kinds {
    let transports: FxHashMap<u32, u8> = recording.connections.iter().map(|row| (row.id, row.transport)).collect();
    let paths: FxHashMap<u32, &str> = recording.paths.iter().map(|row| (row.id, row.path.as_str())).collect();
    let mut sums: FxHashMap<(u16, Option<u8>, u32), (u64, u64)> = FxHashMap::default();
    for call in &recording.calls {
        let transport = transports.get(&call.connection).copied();
        let path = if transport.is_some() { 0 } else { call.path };
        let sum = sums.entry((call.number, transport, path)).or_default();
        sum.0 += 1;
        sum.1 = sum.1.saturating_add(call.duration.0);
    }
    let mut kinds = Kinds::new();
    for ((number, transport, path), (count, length)) in sums {
        let sum = kinds.entry((number, about(transport, paths.get(&path).copied()))).or_default();
        sum.0 += count;
        sum.1 = sum.1.saturating_add(length);
    }
    by_folder(kinds)
}

/// Calls about many files of one folder become calls about the folder.
fn by_folder(kinds: Kinds) -> Kinds {
    let folders = Folders::new(kinds.keys().map(|(number, about)| (*number, about.as_str())));
    let mut grouped = Kinds::new();
    for ((number, about), (count, length)) in kinds {
        let sum = grouped.entry((number, folders.name(number, about))).or_default();
        sum.0 += count;
        sum.1 = sum.1.saturating_add(length);
    }
    grouped
}

/// The calls that differ, largest difference in time first.
pub fn contrast<'k>(
    a: impl Iterator<Item = &'k Kinds>,
    b: impl Iterator<Item = &'k Kinds>,
    units: Units,
    wall: f64,
) -> Vec<CallContrast> {
    let (a, b) = (sum(a), sum(b));
    let subjects = |side: &Kinds| -> BTreeSet<String> { side.keys().map(|(_, about)| about.clone()).collect() };
    let aliases = Aliases::pair(&subjects(&a), &subjects(&b), without_figures);
    let mut both: BTreeMap<(u16, String), CallContrast> = BTreeMap::new();
    for ((number, about), &(count, length)) in &a {
        let row = both.entry((*number, aliases.in_a(about))).or_default();
        row.a_count = count as f64 / units.a;
        row.a_ns = (length as f64 / units.a).round() as u64;
    }
    for ((number, about), &(count, length)) in &b {
        let row = both.entry((*number, aliases.in_b(about))).or_default();
        row.b_count = count as f64 / units.b;
        row.b_ns = (length as f64 / units.b).round() as u64;
    }
    let named =
        both.into_iter().map(|((number, about), row)| CallContrast { call: syscall::name(number), about, ..row });
    let mut rows: Vec<CallContrast> = named.filter(|row| differs(row, wall)).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.a_ns.abs_diff(row.b_ns)));
    rows.truncate(SHOWN);
    rows
}

fn differs(row: &CallContrast, wall: f64) -> bool {
    let calls = (row.a_count - row.b_count).abs();
    let in_count = calls >= CALLS && calls > OF_COUNT * row.a_count.max(row.b_count);
    in_count || row.a_ns.abs_diff(row.b_ns) as f64 >= (OF_WALL * wall).max(1.0)
}

fn sum<'k>(recordings: impl Iterator<Item = &'k Kinds>) -> Kinds {
    let mut sum = Kinds::new();
    for ((number, about), (count, length)) in recordings.flatten() {
        let row = sum.entry((*number, about.clone())).or_default();
        row.0 += count;
        row.1 = row.1.saturating_add(*length);
    }
    sum
}
