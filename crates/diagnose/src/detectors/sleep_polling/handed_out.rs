//! What a thread hands out between two sleeps. Whoever looks before it sleeps finds what somebody has been waiting for already: a
//! sleep after which it wakes who has waited since before it is a pause in what it does for that one, and the next sleep is for
//! another.

use crate::analysis::Analysis;
use crate::pauses;
use crate::threads::call_end;
use case::tables::{Call, Switch};
use rustc_hash::FxHashMap;

/// Who began to wait less than this before a sleep may have come just after the look, in nanoseconds.
const SINCE_A_LOOK: u64 = 20_000;

/// The waits that threads which sleep have ended, each as when it ended and when it began, in order of its end.
pub(super) struct HandedOut {
    ended: FxHashMap<u32, Vec<(u64, u64)>>,
    /// Whether there are requests.
    is_asked: bool,
}

impl HandedOut {
    /// Of all threads that sleep.
    pub fn new(analysis: &Analysis) -> HandedOut {
        let sleeps = |call: &&Call| call.blocked.0 > 0 && pauses::sleeps(analysis, call);
        let mut ended: FxHashMap<u32, Vec<(u64, u64)>> =
            analysis.recording.calls.iter().filter(sleeps).map(|call| (call.tid, Vec::new())).collect();
        let by_another = |row: &&Switch| row.waker != 0 && row.waker != row.tid;
        for row in analysis.recording.switches.iter().filter(by_another) {
            if let Some(waits) = ended.get_mut(&row.waker) {
                waits.push((row.runnable.0, row.start.0));
            }
        }
        for waits in ended.values_mut() {
            waits.sort_unstable();
        }
        HandedOut { ended, is_asked: !analysis.exchanges.is_empty() }
    }

    /// Whether a thread woke somebody between two of its sleeps who had waited since before the first; where nobody asks for anything,
    /// whoever it was: each time there was something.
    pub fn between(&self, sleep: &Call, next: &Call) -> bool {
        let waits = self.ended.get(&sleep.tid).map_or(&[][..], Vec::as_slice);
        let first = waits.partition_point(|&(end, _)| end < call_end(sleep));
        let mut ended = waits[first..].iter().take_while(|&&(end, _)| end <= next.start.0);
        ended.any(|&(_, start)| !self.is_asked || start.saturating_add(SINCE_A_LOOK) < sleep.start.0)
    }
}
