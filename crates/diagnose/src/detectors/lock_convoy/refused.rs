//! Locks on files that are asked for again and again, with sleeps in between: whoever has one is in no call that would wake
//! the others.

use super::Service;
use crate::analysis::Analysis;
use crate::syscall;
use crate::threads::call_end;
use case::tables::Call;
use rustc_hash::FxHashMap;

/// So many calls lie between a refusal and the sleep after it, or that sleep and the next attempt, at most: a database gives
/// up what else it has of the file before it sleeps.
const NEAR: usize = 8;

/// The path whose lock was refused before a sleep and is asked for again after it; none where that is not why it sleeps.
pub(super) fn path_asked_for(analysis: &Analysis, row: usize) -> Option<u32> {
    let calls = &analysis.recording.calls;
    let sleep = &calls[row];
    if !syscall::is_sleep(sleep.number) {
        return None;
    }
    let own = |call: &&Call| call.tid == sleep.tid;
    let before = calls[..row].iter().rev().take(NEAR).take_while(own);
    let refused = before.into_iter().take_while(|call| !syscall::is_sleep(call.number));
    let refused = refused.into_iter().find(|call| is_of_file(call) && syscall::is_taken(call.result))?;
    let mut after = calls[row + 1..].iter().take(NEAR).take_while(own);
    after.find(|call| is_of_file(call) && call.path == refused.path).map(|_| refused.path)
}

fn is_of_file(call: &Call) -> bool {
    call.path != 0 && call.finished && syscall::is_file_lock(call.number, call.argument_1)
}

/// A stretch in which a request had a file's lock: from the first attempt at it that was not refused any more to the last
/// call about it, which gives it up.
#[derive(Clone, Copy)]
pub(super) struct Hold {
    pub thread: usize,
    pub exchange: usize,
    pub from: u64,
    pub to: u64,
}

/// Who had locks on files: of each path in order of their ends.
#[derive(Default)]
pub(super) struct Locked {
    by_path: FxHashMap<u32, Vec<Hold>>,
}

/// So many had a file's lock one after the other at most while one slept.
const MOST_HOLDS: usize = 64;

impl Locked {
    /// Every lock on a file that a request had.
    pub(super) fn of(analysis: &Analysis, services: &FxHashMap<usize, Vec<Service>>) -> Locked {
        let mut by_path: FxHashMap<u32, Vec<Hold>> = FxHashMap::default();
        for (&thread, all) in services {
            let calls = &analysis.recording.calls[analysis.threads.all()[thread].calls.clone()];
            for service in all {
                let first = calls.partition_point(|call| call.start.0 < service.from);
                let mut holds: FxHashMap<u32, Hold> = FxHashMap::default();
                let within = calls[first..].iter().take_while(|call| call.start.0 < service.to);
                for call in within.into_iter().filter(|call| is_of_file(call)) {
                    if syscall::is_taken(call.result) {
                        holds.remove(&call.path);
                    } else {
                        let from = call_end(call);
                        let begun = Hold { thread, exchange: service.exchange, from, to: from };
                        holds.entry(call.path).or_insert(begun).to = from;
                    }
                }
                for (path, hold) in holds {
                    by_path.entry(path).or_default().push(hold);
                }
            }
        }
        for all in by_path.values_mut() {
            all.sort_by_key(|hold| (hold.to, hold.thread));
        }
        Locked { by_path }
    }

    /// Who had a path's lock during some time, one after the other.
    pub(super) fn during(&self, path: u32, (from, to): (u64, u64)) -> impl Iterator<Item = Hold> + '_ {
        let all = self.by_path.get(&path).map_or(&[][..], Vec::as_slice);
        let first = all.partition_point(|hold| hold.to <= from);
        all[first..].iter().take(MOST_HOLDS).copied().filter(move |hold| hold.from < to)
    }
}
