//! Doors for fuzzers: each takes any bytes, gives no answer, and must come back.

use crate::counters::fuzz as counters;
use crate::intake::Intake;
use crate::programs::Programs;
use crate::resolver::fuzz::{debug_info, elf, lines, perf_map, unwinding};
use crate::stack::{fuzz_kernel_symbols as kernel_symbols, fuzz_maps as maps};
use case::Nanos;
use case::fuzz::Target;

/// What the bytes are given to, by name.
pub const TARGETS: [(&str, Target); 10] = [
    ("elf", elf),
    ("unwinding", unwinding),
    ("debug-info", debug_info),
    ("lines", lines),
    ("scripts", crate::scripts::fuzz),
    ("java", crate::java::fuzz),
    ("perf-map", perf_map),
    ("maps", maps),
    ("proc", proc_files),
    ("events", events),
];

/// Files of /proc, which name what programs called themselves.
fn proc_files(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    counters(&text);
    kernel_symbols(&text);
    crate::listening::fuzz(&text);
    crate::live_sockets::tables::fuzz(&text);
    crate::processes::fuzz(bytes, &text);
}

/// What the kernel side sends: events, each behind its length.
fn events(bytes: &[u8]) {
    let mut intake = Intake::new(Programs::new(None), u64::MAX);
    let mut rest = bytes;
    while let Some((length, after)) = rest.split_first_chunk::<2>() {
        let length = usize::from(u16::from_le_bytes(*length)).min(after.len());
        let (event, after) = after.split_at(length);
        intake.take(event);
        rest = after;
    }
    intake.end(Nanos(u64::MAX));
}
