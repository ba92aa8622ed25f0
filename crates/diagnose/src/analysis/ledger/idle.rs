//! Breakdown the time between exchanges: on a processor if any of the subject's threads was, else waiting for one, else
//! what the innermost of its processes was blocked in.

use super::account::Account;
use super::walk::{object, overlay};
use crate::analysis::Analysis;
use crate::syscall;
use crate::threads::{Cursor, Moment, State, ThreadRows};
use std::collections::BTreeSet;

/// Takes an account and how long it gets.
type Book<'b> = dyn FnMut(Account, f64) + 'b;

/// Breakdown the gaps, which are in order of time.
pub fn book(analysis: &Analysis, gaps: &[(u64, u64)], book: &mut Book) {
    if analysis.is_capture() {
        return gaps.iter().for_each(|(start, end)| book(Account::NoRequest, (end - start) as f64));
    }
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
    let changes = changes(analysis, &threads, first);
    let mut innermost = Innermost::new(analysis, &threads);
    let mut on_processor = 0;
    let known = without(gaps, &analysis.reconciliation.lost, book);
    sweep(&changes, &known, &mut |from, to, now| {
        let (life_start, life_end) = (from.max(first).min(to), to.min(last).max(from));
        let edges = (life_start - from) + to.saturating_sub(life_end.max(life_start));
        if edges > 0 {
            book(Account::StartAndEnd, edges as f64);
        }
        if life_start >= life_end {
            return;
        }
        if now.running > 0 {
            on_processor += life_end - life_start;
        } else if now.doubtful > 0 {
            book(Account::Unexplained, (life_end - life_start) as f64);
        } else if now.runnable > 0 {
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

/// The gaps without the stretches in which events were lost, which are unexplained.
fn without(gaps: &[(u64, u64)], lost: &[(u64, u64)], book: &mut Book) -> Vec<(u64, u64)> {
    let mut known = Vec::with_capacity(gaps.len());
    for &(start, end) in gaps {
        overlay(lost, |&span| span, start, end, &mut |from, to, span| match span {
            Some(_) => book(Account::Unexplained, (to - from) as f64),
            None => known.push((from, to)),
        });
    }
    known
}

/// How many threads are in which state; as a change, how many more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts<N> {
    running: N,
    runnable: N,
    /// Running or runnable, as the rows say and the scheduler does not confirm.
    doubtful: N,
}

/// When the number of threads in a state changes. Each is a word, there being some for each switch and each call: above six bits
/// for what changes stands the time since the first.
struct Changes {
    first: u64,
    all: Vec<u64>,
}

/// What a change of one thread can be: one less, the same, or one more of each, in two bits.
const BITS: u32 = 6;

impl Changes {
    fn new(first: u64) -> Changes {
        Changes { first, all: Vec::new() }
    }

    /// One more or less of each; times are not before the first.
    fn push(&mut self, time: u64, [running, runnable, doubtful]: [i8; 3]) {
        if [running, runnable, doubtful] == [0; 3] {
            return;
        }
        let code = [running, runnable, doubtful].iter().fold(0, |code, more| code << 2 | u64::from((more + 1) as u8));
        self.all.push((time - self.first) << BITS | code);
    }

    /// The one of that number, in order of time once they are sorted.
    fn get(&self, number: usize) -> Option<(u64, Counts<i64>)> {
        let word = *self.all.get(number)?;
        let more = |place: u32| (word >> (2 * place) & 3) as i64 - 1;
        let counts = Counts { running: more(2), runnable: more(1), doubtful: more(0) };
        Some((self.first + (word >> BITS), counts))
    }
}

/// When the number of running or of runnable threads changes, in order of time.
fn changes(analysis: &Analysis, threads: &[&ThreadRows], first: u64) -> Changes {
    let mut changes = Changes::new(first);
    for thread in threads {
        changes.push(thread.start, [1, 0, 0]);
        changes.push(thread.end, [-1, 0, 0]);
        let Some(slot) = analysis.threads.slot(thread.tid) else { continue };
        if thread.switches.is_empty() || analysis.threads.doubt(slot).any() {
            moment_by_moment(analysis, slot, &mut changes);
            continue;
        }
        let mut before = thread.start;
        for row in &analysis.recording.switches[thread.switches.clone()] {
            let start = row.start.0.clamp(before, thread.end);
            let end = row.end.0.clamp(start, thread.end);
            let runnable = row.runnable.0.clamp(start, end);
            changes.push(start, [-1, 0, 0]);
            let waits = i8::from(runnable < end);
            changes.push(runnable, [0, waits, 0]);
            changes.push(end, [1, -waits, 0]);
            before = end;
        }
    }
    changes.all.sort_unstable();
    changes
}

/// The same for a thread without switches, from what its calls say, and for one whose rows are in doubt. Moments that follow each
/// other are one where nothing changes between them.
fn moment_by_moment(analysis: &Analysis, slot: usize, changes: &mut Changes) {
    let thread = &analysis.threads.all()[slot];
    let (mut until, mut now) = (thread.start, [0; 3]);
    analysis.threads.walk_by_doubt(slot, thread.start, thread.end, &mut Cursor::default(), &mut |moment| {
        let busy = matches!(moment.state, State::OnProcessor | State::Runnable);
        let (runnable, doubtful) =
            (i8::from(moment.state == State::Runnable && !moment.is_doubtful), i8::from(busy && moment.is_doubtful));
        let is_plain = moment.state == State::OnProcessor && !moment.is_doubtful;
        let next = if is_plain { [0; 3] } else { [-1, runnable, doubtful] };
        changes.push(moment.start, difference(now, next));
        (until, now) = (moment.end, next);
    });
    changes.push(until, difference(now, [0; 3]));
}

/// What changes between two states of one thread.
fn difference(before: [i8; 3], after: [i8; 3]) -> [i8; 3] {
    std::array::from_fn(|place| after[place] - before[place])
}

/// Walks changes and gaps side by side: each piece of a gap with the number of threads in each state.
fn sweep(changes: &Changes, gaps: &[(u64, u64)], emit: &mut dyn FnMut(u64, u64, Counts<i64>)) {
    let mut now = Counts::<i64>::default();
    let mut next = 0;
    for &(start, end) in gaps {
        let mut at = start;
        while at < end {
            while let Some((_, change)) = changes.get(next).filter(|change| change.0 <= at) {
                now.running += change.running;
                now.runnable += change.runnable;
                now.doubtful += change.doubtful;
                next += 1;
            }
            let to = changes.get(next).map_or(end, |change| change.0.min(end));
            emit(at, to, now);
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
        analysis.threads.walk_by_doubt(slot, from, to, &mut self.cursors[slot], &mut |moment| {
            book(account(analysis, slot, moment), (moment.end - moment.start) as f64);
        });
    }

    fn waits_for_child(&mut self, slot: usize, at: u64) -> bool {
        let mut waits = false;
        self.analysis.threads.walk_by_doubt(slot, at, at + 1, &mut self.cursors[slot], &mut |moment| {
            waits = moment.call.is_some_and(|row| syscall::is_wait_for_child(self.analysis.call(row).number));
        });
        waits
    }
}

fn account(analysis: &Analysis, thread: usize, moment: Moment) -> Account {
    if moment.is_doubtful {
        return Account::Unexplained;
    }
    match (moment.state, moment.call) {
        (State::Blocked | State::BlockedOnDisk, Some(row)) => {
            let on = analysis.awaited.of(analysis, thread, &moment, object(analysis, row));
            Account::OutsideBlocked(analysis.call(row).number, on)
        }
        (State::BlockedOnDisk, None) => Account::OutsidePageFault,
        (State::Blocked, None) => Account::OutsideBlockedElsewhere,
        _ => Account::Unexplained,
    }
}
