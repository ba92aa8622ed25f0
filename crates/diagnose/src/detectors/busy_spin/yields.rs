//! Yields until another thread has done something, which has no CPU to do it on.

use super::{Stretch, span};
use crate::analysis::Analysis;
use crate::syscall;
use crate::threads::{Cursor, State};

/// So often it comes back where it is the program's way; a runtime's lock that spins longer than it should is no more than an episode.
const HABIT: usize = 3;

/// A thread that waits for a CPU during so much of a stretch is the one that is waited for.
const MOSTLY: f64 = 0.5;

/// The stretches without episodes in which another thread of the process was waiting for a CPU: other programs keep that, and the
/// loop ends with them.
pub(super) fn without_episodes(analysis: &Analysis, tid: u32, mut stretches: Vec<Stretch>) -> Vec<Stretch> {
    let yields = |stretch: &Stretch| stretch.calls.clone().all(|row| analysis.call(row).number == syscall::SCHED_YIELD);
    if stretches.len() < HABIT {
        stretches.retain(|stretch| !(yields(stretch) && is_for_a_processor(analysis, tid, stretch)));
    }
    stretches
}

fn is_for_a_processor(analysis: &Analysis, tid: u32, stretch: &Stretch) -> bool {
    let (_, from, to) = span(analysis, tid, &stretch.calls);
    let Some(pid) = analysis.threads.get(tid).map(|thread| thread.pid) else { return false };
    let threads = analysis.threads.all().iter().enumerate();
    threads.filter(|(_, other)| other.pid == pid && other.tid != tid).any(|(slot, _)| {
        let mut waited = 0;
        analysis.threads.walk(slot, from, to, &mut Cursor::default(), &mut |moment| {
            waited += if moment.state == State::Runnable { moment.end - moment.start } else { 0 };
        });
        waited as f64 >= MOSTLY * (to - from) as f64
    })
}
