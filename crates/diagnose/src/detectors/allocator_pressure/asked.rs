//! Collections that the program itself asks for.

use super::is_function;
use crate::analysis::Analysis;
use crate::place::{self, Located};
use rustc_hash::FxHashMap;

/// What programs call for that: Java, Go, CPython, V8 (`--expose-gc`), Ruby, PHP.
const ASKING: [&str; 10] = [
    "JVM_GC",
    "java.lang.Runtime.gc",
    "java.lang.System.gc",
    "runtime.GC",
    "runtime/debug.FreeOSMemory",
    "gc_collect",
    "v8::internal::GCExtension::GC",
    "gc_start_internal",
    "gc_start_m",
    "zif_gc_collect_cycles",
];

/// Seen less often in the middle of it, a program that asks once in a while is not told from one that always does.
const SEEN: usize = 10;

/// Where a program asks for collections.
pub(super) struct Asked {
    /// CPU samples in it and calls that waited for it: how many, and when the first and the last of them were.
    pub seen: usize,
    pub from: u64,
    pub to: u64,
    pub place: Located,
}

/// Where a process asks for collections again and again; none where it does not.
pub(super) fn find(analysis: &Analysis, pid: u32) -> Option<Asked> {
    let mut asks: FxHashMap<u32, bool> = FxHashMap::default();
    let mut is_asked =
        |stack: u32| *asks.entry(stack).or_insert_with(|| analysis.code.passes_through(stack, is_asking));
    let samples = analysis.recording.samples.iter().filter(|row| row.pid == pid);
    let calls = analysis.recording.calls.iter().filter(|row| row.pid == pid && row.blocked.0 > 0);
    let sampled = samples.map(|row| (row.time.0, (row.script_stack, row.stack)));
    let waited = calls.map(|row| (row.start.0, (row.script_stack, row.stack)));
    let seen: Vec<_> = sampled.chain(waited).filter(|(_, (_, stack))| is_asked(*stack)).collect();
    let (from, to) = (seen.iter().map(|(time, _)| *time).min()?, seen.iter().map(|(time, _)| *time).max()?);
    let stacks = seen.iter().map(|(_, stacks)| (*stacks, 1));
    let place =
        place::of_most_by(stacks, |script, native| place::of_callers(&analysis.code, script, native, is_asking));
    (seen.len() >= SEEN).then_some(Asked { seen: seen.len(), from, to, place })
}

fn is_asking(function: &str) -> bool {
    is_function(function, &ASKING)
}
