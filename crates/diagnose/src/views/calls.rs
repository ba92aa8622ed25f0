//! System calls by kind.

use crate::analysis::Analysis;
use crate::contrast::about::{Folders, about};
use crate::images::Images;
use crate::syscall;
use case::tables::Call;
use case::views::{CallView, Caller};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Kinds shown; what is left is summed up in one more row.
const SHOWN: usize = 60;

/// The name of the row for the rest.
const REST: &str = "other calls";

/// What calls of one kind are in all.
#[derive(Clone, Copy, Default)]
struct Sum {
    count: u64,
    total_ns: u64,
    blocked_ns: u64,
    bytes: u64,
    failed: u64,
}

impl Sum {
    fn of(call: &Call) -> Sum {
        let moves = syscall::is_read(call.number) || syscall::is_write(call.number);
        let moved = moves && (1..=syscall::MOST_BYTES).contains(&call.result);
        Sum {
            count: 1,
            total_ns: call.duration.0,
            blocked_ns: call.blocked.0.min(call.duration.0),
            bytes: if moved { call.result as u64 } else { 0 },
            failed: u64::from(call.finished && call.result < 0),
        }
    }

    fn add(&mut self, other: Sum) {
        self.count += other.count;
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.blocked_ns = self.blocked_ns.saturating_add(other.blocked_ns);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.failed += other.failed;
    }
}

/// The call's number, what it is about, who makes it.
type Kind = (u16, String, Option<Caller>);

/// Calls by kind, those with most time first; at last those that found no place.
pub fn sheet(analysis: &Analysis) -> Vec<CallView> {
    let mut kinds: Vec<(Kind, Sum)> = kinds(analysis).into_iter().collect();
    // The sort is stable: equal ones stay in the order of their kinds.
    kinds.sort_by_key(|(_, sum)| Reverse(sum.total_ns));
    let left_out = kinds.split_off(kinds.len().min(SHOWN));
    let requests = analysis.exchanges.len();
    let row = |(number, about, who): Kind, sum: Sum| view((syscall::name(number), about, who), sum, requests);
    let mut rows: Vec<CallView> = kinds.into_iter().map(|(kind, sum)| row(kind, sum)).collect();
    if !left_out.is_empty() {
        let mut rest = Sum::default();
        for (_, sum) in left_out {
            rest.add(sum);
        }
        rows.push(view((REST.to_string(), String::new(), None), rest, requests));
    }
    rows
}

fn view((call, about, who): (String, String, Option<Caller>), sum: Sum, requests: usize) -> CallView {
    CallView {
        call,
        about,
        who,
        count: sum.count,
        per_exchange: if requests == 0 { f64::NAN } else { sum.count as f64 / requests as f64 },
        total_ns: sum.total_ns,
        blocked_ns: sum.blocked_ns,
        bytes: sum.bytes,
        failed: sum.failed,
    }
}

fn kinds(analysis: &Analysis) -> BTreeMap<Kind, Sum> {
    let by_number = by_number(analysis);
    let paths: FxHashMap<u32, &str> = analysis.recording.paths.iter().map(|row| (row.id, row.path.as_str())).collect();
    let programs = Images::new(analysis.recording);
    let mut named: BTreeMap<Kind, Sum> = BTreeMap::new();
    for ((number, transport, path, pid), sum) in by_number {
        let about = about(transport, paths.get(&path).copied());
        named.entry((number, about, programs.caller(pid))).or_default().add(sum);
    }
    let names: BTreeSet<(u16, &str)> = named.keys().map(|(number, about, _)| (*number, about.as_str())).collect();
    let folders = Folders::new(names.into_iter());
    let mut kinds: BTreeMap<Kind, Sum> = BTreeMap::new();
    for ((number, about, who), sum) in named {
        kinds.entry((number, folders.name(number, about), who)).or_default().add(sum);
    }
    kinds
}

/// Sums by numbers only, so that no name is made for each of a million calls: call, transport, path, process.
fn by_number(analysis: &Analysis) -> FxHashMap<(u16, Option<u8>, u32, u32), Sum> {
    let mut sums: FxHashMap<(u16, Option<u8>, u32, u32), Sum> = FxHashMap::default();
    for call in &analysis.recording.calls {
        let slot = analysis.connections.slot(call.connection).filter(|_| call.connection != 0);
        let transport = slot.map(|slot| analysis.connections.row(slot).transport);
        let path = if transport.is_some() { 0 } else { call.path };
        sums.entry((call.number, transport, path, call.pid)).or_default().add(Sum::of(call));
    }
    sums
}

#[cfg(test)]
mod tests;
