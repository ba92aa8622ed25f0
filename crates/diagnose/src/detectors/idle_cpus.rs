//! CPUs that had nothing to do while requests waited for one.

use crate::analysis::Analysis;

/// So much of a CPU must be idle on average, for there to be room.
const ROOM: f64 = 0.5;
/// Ticks of `/proc/stat` in a second (USER_HZ).
pub(super) const TICKS: f64 = 100.0;

/// How many CPUs had nothing to do on average; none where that is too few to make room, or was not counted.
pub(super) fn with_room(analysis: &Analysis) -> Option<f64> {
    let idle = analysis.recording.counters.iter().find(|row| row.scope == "cpu" && row.name == "idle")?;
    let seconds = analysis.wall() as f64 / 1e9;
    let idle = idle.after.saturating_sub(idle.before) as f64 / TICKS / seconds;
    (seconds > 0.0 && idle >= ROOM).then_some(idle)
}
