//! Breakdown the time between exchanges: on a processor if any of the subject's threads was, else waiting for one, else
//! what the innermost of its processes was blocked in.

use super::account::{Account, Object};
use super::walk::object;
use crate::analysis::Analysis;
use crate::syscall;
use crate::threads::{Cursor, Moment, State, ThreadRows};
use std::collections::BTreeSet;

/// Takes an account and how long it gets.
type Book<'b> = dyn FnMut(Account, f64) + 'b;

/// Breakdown the gaps, which are in order of time.
pub fn book(analysis: &Analysis, gaps: &[(u64, u64)], book: &mut Book) {
    let subject = subject(analysis);
    let threads: Vec<&ThreadRows> = analysis
        .threads
        .all()
        .iter()
        .filter(|thread| subject.contains(&thread.pid) && thread.start < thread.end)
        .collect();
    let Some(first) = threads.iter().map(|thread| thread.start).min() else {
        return gaps.iter().for_each(|(start, end)| book(Account::Unexplained, (end - start) as f64));
    };
    let last = threads.iter().map(|thread| thread.end).max().unwrap_or(first);
    let changes = changes(analysis, &threads);
    let mut innermost = Innermost::new(analysis, &threads);
    let mut on_processor = 0;
    sweep(&changes, gaps, &mut |from, to, running, runnable| {
        let (life_start, life_end) = (from.max(first).min(to), to.min(last).max(from));
        let edges = (life_start - from) + to.saturating_sub(life_end.max(life_start));
        if edges > 0 {
            book(Account::StartAndEnd, edges as f64);
        }
        if life_start >= life_end {
            return;
        }
        if running > 0 {
            on_processor += life_end - life_start;
        } else if runnable > 0 {
            book(Account::OutsideProcessor, (life_end - life_start) as f64);
        } else {
            innermost.book(life_start, life_end, book);
        }
    });
    if on_processor > 0 {
        analysis.pools.split_outside(|pid| subject.contains(&pid), on_processor as f64, book);
    }
}

/// The processes of the command that was watched; where there is none (attached to something), all.
fn subject(analysis: &Analysis) -> BTreeSet<u32> {
    let clients = analysis.recording.processes.iter().filter(|row| row.role == "client").map(|row| row.pid);
    let clients: BTreeSet<u32> = clients.collect();
    if clients.is_empty() { analysis.threads.all().iter().map(|thread| thread.pid).collect() } else { clients }
}

/// When the number of running or of runnable threads changes, in order of time.
fn changes(analysis: &Analysis, threads: &[&ThreadRows]) -> Vec<(u64, i8, i8)> {
    let mut changes = Vec::new();
    for thread in threads {
        changes.push((thread.start, 1, 0));
        changes.push((thread.end, -1, 0));
        if thread.switches.is_empty() {
            blocked_by_calls(analysis, thread, &mut changes);
        }
        let mut before = thread.start;
        for row in &analysis.recording.switches[thread.switches.clone()] {
            let start = row.start.0.clamp(before, thread.end);
            let end = row.end.0.clamp(start, thread.end);
            let runnable = row.runnable.0.clamp(start, end);
            changes.extend([(start, -1, 0), (runnable, 0, 1), (end, 1, -1)]);
            before = end;
        }
    }
    changes.sort_unstable();
    changes
}

/// The same for a thread without switches, from what its calls say.
fn blocked_by_calls(analysis: &Analysis, thread: &ThreadRows, changes: &mut Vec<(u64, i8, i8)>) {
    let Some(slot) = analysis.threads.slot(thread.tid) else { return };
    analysis.threads.walk(slot, thread.start, thread.end, &mut Cursor::default(), &mut |moment| {
        if moment.state != State::OnProcessor {
            changes.extend([(moment.start, -1, 0), (moment.end, 1, 0)]);
        }
    });
}

/// Walks changes and gaps side by side: each piece of a gap with the number of threads running and runnable.
fn sweep(changes: &[(u64, i8, i8)], gaps: &[(u64, u64)], emit: &mut dyn FnMut(u64, u64, i64, i64)) {
    let (mut running, mut runnable) = (0i64, 0i64);
    let mut next = 0;
    for &(start, end) in gaps {
        let mut at = start;
        while at < end {
            while let Some(change) = changes.get(next).filter(|change| change.0 <= at) {
                running += i64::from(change.1);
                runnable += i64::from(change.2);
                next += 1;
            }
            let to = changes.get(next).map_or(end, |change| change.0.min(end));
            emit(at, to, running, runnable);
            at = to;
        }
    }
}

/// Finds which process the others wait for: the one started last that does not itself wait for a child.
struct Innermost<'e> {
    analysis: &'e Analysis<'e>,
    /// Main threads by start; those before `next` are in `alive` until they end.
    mains: Vec<usize>,
    next: usize,
    alive: Vec<usize>,
    cursors: Vec<Cursor>,
}

impl<'e> Innermost<'e> {
    fn new(analysis: &'e Analysis<'e>, threads: &[&ThreadRows]) -> Innermost<'e> {
        let mains = threads.iter().filter(|thread| thread.tid == thread.pid);
        let mut mains: Vec<usize> = mains.filter_map(|thread| analysis.threads.slot(thread.tid)).collect();
        mains.sort_by_key(|&slot| (analysis.threads.all()[slot].start, slot));
        let cursors = vec![Cursor::default(); analysis.threads.all().len()];
        Innermost { analysis, mains, next: 0, alive: Vec::new(), cursors }
    }

    fn book(&mut self, from: u64, to: u64, book: &mut Book) {
        let threads = self.analysis.threads.all();
        while let Some(&slot) = self.mains.get(self.next).filter(|&&slot| threads[slot].start <= from) {
            self.alive.push(slot);
            self.next += 1;
        }
        self.alive.retain(|&slot| threads[slot].end > from);
        let mut chosen = self.alive.last().copied();
        for index in (0..self.alive.len()).rev() {
            let slot = self.alive[index];
            if !self.waits_for_child(slot, from) {
                chosen = Some(slot);
                break;
            }
        }
        let Some(slot) = chosen else { return book(Account::Unexplained, (to - from) as f64) };
        let analysis = self.analysis;
        analysis.threads.walk(slot, from, to, &mut self.cursors[slot], &mut |moment| {
            book(account(analysis, moment), (moment.end - moment.start) as f64);
        });
    }

    fn waits_for_child(&mut self, slot: usize, at: u64) -> bool {
        let mut waits = false;
        self.analysis.threads.walk(slot, at, at + 1, &mut self.cursors[slot], &mut |moment| {
            waits = moment.call.is_some_and(|row| syscall::is_wait_for_child(self.analysis.call(row).number));
        });
        waits
    }
}

fn account(analysis: &Analysis, moment: Moment) -> Account {
    match (moment.state, moment.call.map(|row| analysis.call(row))) {
        (State::Blocked | State::BlockedOnDisk, Some(call)) if syscall::is_poll(call.number) => {
            Account::OutsideBlocked(call.number, Object::Unnamed)
        }
        (State::Blocked | State::BlockedOnDisk, Some(call)) => {
            Account::OutsideBlocked(call.number, object(analysis, call))
        }
        (State::Blocked | State::BlockedOnDisk, None) => Account::OutsideBlockedElsewhere,
        _ => Account::Unexplained,
    }
}
