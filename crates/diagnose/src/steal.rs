//! Time in which the hypervisor ran others, by the kernel's own count (`steal` in `/proc/stat`, proc(5)).

use case::{Nanos, Recording};

/// The name of its column.
pub const STEAL: &str = "steal";

/// A tick of `/proc/stat` (USER_HZ is 100 on x86).
const TICK: u64 = 10_000_000;

/// Fewer ticks are chance.
const LEAST_TICKS: u64 = 5;

/// What the counters of all CPUs together have moved by, in ticks.
pub fn ticks(recording: &Recording, columns: &[&str]) -> u64 {
    let rows = recording.counters.iter().filter(|row| row.scope == "cpu" && columns.contains(&row.name.as_str()));
    rows.map(|row| row.after.saturating_sub(row.before)).fold(0, u64::saturating_add)
}

/// How much the hypervisor took of all CPUs together; none where that is chance.
pub fn stolen(recording: &Recording) -> Option<Nanos> {
    let ticks = ticks(recording, &[STEAL]);
    (ticks >= LEAST_TICKS).then(|| Nanos(ticks.saturating_mul(TICK)))
}
