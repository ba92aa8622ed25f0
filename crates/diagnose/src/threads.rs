//! Threads over time: on a processor, runnable, or blocked, and in which call. The one place that turns calls and
//! switches into states.
//!
//! Between its switches a thread is on a processor. Where a call says that it blocked and no switch tells when (switches
//! lost, or not recorded), the blocked part is taken to be the call's beginning.

use crate::search::not_after_near;
use crate::windows::Windows;
use case::Recording;
use case::tables::{Call, Switch, reason};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// What a thread was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// On a processor.
    OnProcessor,
    /// Runnable, waiting for a processor.
    Runnable,
    /// Blocked; uninterruptibly, as a rule for a disk.
    BlockedOnDisk,
    /// Blocked in any other way.
    Blocked,
    /// Not there: not started yet, or ended; or nobody looked, since rows were thinned out.
    Absent,
}

/// A stretch of time in which a thread did one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Its start, nanoseconds since boot.
    pub start: u64,
    /// Its end.
    pub end: u64,
    /// When that ended which the thread did: later than `end` where the rest of it is in doubt.
    pub until: u64,
    /// What the thread did.
    pub state: State,
    /// The call it was in: a row of the table of calls.
    pub call: Option<usize>,
    /// Whether the scheduler counted less time in that state than the rows tell: see [`Doubt`].
    pub is_doubtful: bool,
}

/// How much of a thread's time in each state its rows do not prove, as shares. The share of each moment that is in doubt is
/// its end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Doubt {
    /// On a processor.
    pub on_processor: f64,
    /// Runnable.
    pub runnable: f64,
    /// Blocked, in whatever way.
    pub blocked: f64,
    /// Whether the hypervisor had what is in doubt on a processor: the thread waited for one.
    pub is_stolen: bool,
}

impl Doubt {
    /// Whether there is any.
    pub fn any(self) -> bool {
        self != Doubt::default()
    }

    fn of(self, state: State) -> f64 {
        match state {
            State::OnProcessor => self.on_processor,
            State::Runnable => self.runnable,
            State::Blocked | State::BlockedOnDisk => self.blocked,
            State::Absent => 0.0,
        }
    }
}

/// One thread and its rows.
#[derive(Clone, Debug, Default)]
pub struct ThreadRows {
    /// Thread id.
    pub tid: u32,
    /// Process id.
    pub pid: u32,
    /// When it was first there.
    pub start: u64,
    /// When it was last there.
    pub end: u64,
    /// Its time on a processor, where there are rows.
    pub on_processor: u64,
    /// The same over all of its life.
    pub on_processor_in_all: u64,
    /// Its rows in the table of calls.
    pub calls: Range<usize>,
    /// Its rows in the table of switches.
    pub switches: Range<usize>,
    /// Its rows in the table of samples.
    pub samples: Range<usize>,
}

/// Where a walk over a thread's time left off, so that the next one nearby begins there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    calls: usize,
    switches: usize,
}

/// All threads, in order of their ids.
pub struct Threads<'r> {
    recording: &'r Recording,
    rows: Vec<ThreadRows>,
    slots: FxHashMap<u32, usize>,
    /// One a thread, or none at all.
    doubts: Vec<Doubt>,
    windows: Windows,
}

impl<'r> Threads<'r> {
    /// Gathers every thread that any table names; none of a capture, whose rows of calls are payload on the wire.
    pub fn new(recording: &'r Recording, windows: &Windows) -> Threads<'r> {
        if !recording.manifest.source.is_recording() {
            let (rows, slots, doubts) = (Vec::new(), FxHashMap::default(), Vec::new());
            return Threads { recording, rows, slots, doubts, windows: windows.clone() };
        }
        let mut gathered: std::collections::BTreeMap<u32, ThreadRows> = std::collections::BTreeMap::new();
        for row in &recording.threads {
            let thread =
                gathered.entry(row.tid).or_insert_with(|| ThreadRows { start: u64::MAX, ..Default::default() });
            thread.pid = row.pid;
            thread.on_processor += row.on_cpu.0;
            include(thread, row.start.0, row.end.0);
        }
        for (tid, range) in groups(&recording.calls, |row| row.tid) {
            let rows = &recording.calls[range.clone()];
            let thread = gathered.entry(tid).or_insert_with(|| ThreadRows { start: u64::MAX, ..Default::default() });
            thread.pid = rows[0].pid;
            include(thread, rows[0].start.0, rows.last().map_or(0, call_end));
            thread.calls = range;
        }
        for (tid, range) in groups(&recording.switches, |row| row.tid) {
            let rows = &recording.switches[range.clone()];
            let thread = gathered.entry(tid).or_insert_with(|| ThreadRows { start: u64::MAX, ..Default::default() });
            include(thread, rows[0].start.0, rows.last().map_or(0, |row| row.runnable.0));
            thread.switches = range;
        }
        for (tid, range) in groups(&recording.samples, |row| row.tid) {
            let rows = &recording.samples[range.clone()];
            let thread = gathered.entry(tid).or_insert_with(|| ThreadRows { start: u64::MAX, ..Default::default() });
            thread.pid = rows[0].pid;
            include(thread, rows[0].time.0, rows.last().map_or(0, |row| row.time.0));
            thread.samples = range;
        }
        let rows: Vec<ThreadRows> = gathered.into_iter().map(|(tid, rows)| ThreadRows { tid, ..rows }).collect();
        let slots = rows.iter().enumerate().map(|(slot, thread)| (thread.tid, slot)).collect();
        let mut threads = Threads { recording, rows, slots, doubts: Vec::new(), windows: windows.clone() };
        for slot in 0..threads.rows.len() {
            let ThreadRows { tid, start, end, on_processor, .. } = threads.rows[slot];
            threads.rows[slot].on_processor_in_all = on_processor;
            if windows.is_thinned() && on_processor > 0 {
                let (outside, within) = threads.on_processor(tid, start, end);
                threads.rows[slot].on_processor = outside.saturating_add(within).min(on_processor);
            }
        }
        threads
    }

    /// From now on moments are told apart by whether they are in doubt; one doubt a thread, in the threads' order.
    pub fn set_doubts(&mut self, doubts: Vec<Doubt>) {
        self.doubts = if doubts.iter().any(|doubt| doubt.any()) { doubts } else { Vec::new() };
    }

    /// How much of a thread's time is in doubt.
    pub fn doubt(&self, slot: usize) -> Doubt {
        self.doubts.get(slot).copied().unwrap_or_default()
    }

    /// Every thread, in order of ids.
    pub fn all(&self) -> &[ThreadRows] {
        &self.rows
    }

    /// Where a thread stands in [`Threads::all`].
    pub fn slot(&self, tid: u32) -> Option<usize> {
        self.slots.get(&tid).copied()
    }

    /// A thread by its id.
    pub fn get(&self, tid: u32) -> Option<&ThreadRows> {
        self.slot(tid).map(|slot| &self.rows[slot])
    }

    /// Hands over, in order and without gaps, what a thread did between two times.
    pub fn walk(&self, slot: usize, from: u64, to: u64, cursor: &mut Cursor, emit: &mut dyn FnMut(Moment)) {
        let thread = &self.rows[slot];
        let calls = &self.recording.calls[thread.calls.clone()];
        let switches = &self.recording.switches[thread.switches.clone()];
        cursor.calls = not_after_near(calls, cursor.calls, |row| row.start.0, from);
        cursor.switches = not_after_near(switches, cursor.switches, |row| row.start.0, from);
        let mut at = from;
        while at < to {
            while cursor.calls < calls.len() && calls[cursor.calls].start.0 <= at {
                cursor.calls += 1;
            }
            while cursor.switches < switches.len() && switches[cursor.switches].start.0 <= at {
                cursor.switches += 1;
            }
            let state = State::OnProcessor;
            let mut moment = Moment { start: at, end: to, until: to, state, call: None, is_doubtful: false };
            limit_to_life(thread, &mut moment);
            self.limit_to_rows(&mut moment);
            if moment.state != State::Absent {
                place_in_call(calls, cursor.calls, &mut moment);
                place_in_switch(switches, cursor.switches, &mut moment);
                if let Some(index) = moment.call {
                    block_by_the_call(&calls[index], switches, cursor.switches, &mut moment);
                }
                moment.call = moment.call.map(|index| thread.calls.start + index);
            }
            moment.until = moment.end;
            at = moment.end;
            emit(moment);
        }
    }

    /// The same, where each moment is told apart into what is sure of it and what is in doubt: for accounts, in which the latter is
    /// unexplained, unless the hypervisor took it.
    pub fn walk_by_doubt(&self, slot: usize, from: u64, to: u64, cursor: &mut Cursor, emit: &mut dyn FnMut(Moment)) {
        let doubt = self.doubt(slot);
        self.walk(slot, from, to, cursor, &mut |moment| {
            let share = doubt.of(moment.state);
            match moment.state {
                _ if share <= 0.0 => emit(moment),
                State::OnProcessor if doubt.is_stolen => split(moment, share, &mut |part| {
                    let state = if part.is_doubtful { State::Runnable } else { part.state };
                    emit(Moment { state, is_doubtful: false, ..part });
                }),
                _ => split(moment, share, emit),
            }
        });
    }

    fn limit_to_rows(&self, moment: &mut Moment) {
        if self.windows.is_thinned() {
            moment.end = moment.end.min(self.windows.next_change(moment.start));
            if !self.windows.has_rows_at(moment.start) {
                moment.state = State::Absent;
            }
        }
    }

    /// Time on a processor between two times: outside calls, and within them.
    pub fn on_processor(&self, tid: u32, from: u64, to: u64) -> (u64, u64) {
        let (mut outside, mut within) = (0, 0);
        if let Some(slot) = self.slot(tid) {
            self.walk(slot, from, to, &mut Cursor::default(), &mut |moment| {
                if moment.state == State::OnProcessor {
                    let length = moment.end - moment.start;
                    if moment.call.is_some() { within += length } else { outside += length }
                }
            });
        }
        (outside, within)
    }
}

/// When a call returned.
pub fn call_end(call: &Call) -> u64 {
    call.start.0.saturating_add(call.duration.0)
}

/// The call that a thread was in at a time; none where it was in its own code.
pub fn in_call(calls: &[Call], at: u64) -> Option<&Call> {
    let begun = calls.partition_point(|call| call.start.0 <= at);
    begun.checked_sub(1).map(|last| &calls[last]).filter(|call| call_end(call) >= at)
}

/// The part of a call that it was not blocked for. No call works for days: a row that says so is damaged, and counts for
/// no more than that, so that sums stay sums.
pub fn busy_part(call: &Call) -> u64 {
    const DAYS: u64 = 1 << 50;
    (call.duration - call.blocked).0.min(DAYS)
}

/// The ranges of consecutive rows with one key, first range of a key only (tables are sorted by it).
pub fn groups<T>(rows: &[T], key: impl Fn(&T) -> u32) -> Vec<(u32, Range<usize>)> {
    let mut found = Vec::new();
    let mut start = 0;
    while start < rows.len() {
        let this = key(&rows[start]);
        let length = rows[start..].iter().take_while(|row| key(row) == this).count();
        found.push((this, start..start + length));
        start += length;
    }
    found
}

fn include(thread: &mut ThreadRows, start: u64, end: u64) {
    thread.start = thread.start.min(start);
    thread.end = thread.end.max(end);
}

/// The part of a moment that is sure, and the part that is in doubt.
fn split(moment: Moment, share: f64, emit: &mut dyn FnMut(Moment)) {
    let doubtful = ((moment.end - moment.start) as f64 * share).round() as u64;
    let sure = moment.end.saturating_sub(doubtful).max(moment.start);
    if moment.start < sure {
        emit(Moment { end: sure, ..moment });
    }
    if sure < moment.end {
        emit(Moment { start: sure, is_doubtful: true, ..moment });
    }
}

fn limit_to_life(thread: &ThreadRows, moment: &mut Moment) {
    if moment.start < thread.start {
        moment.state = State::Absent;
        moment.end = moment.end.min(thread.start);
    } else if moment.start >= thread.end {
        moment.state = State::Absent;
    } else {
        moment.end = moment.end.min(thread.end);
    }
}

fn place_in_call(calls: &[Call], started: usize, moment: &mut Moment) {
    if let Some(next) = calls.get(started) {
        moment.end = moment.end.min(next.start.0);
    }
    if let Some(index) = started.checked_sub(1)
        && call_end(&calls[index]) > moment.start
    {
        moment.end = moment.end.min(call_end(&calls[index]));
        moment.call = Some(index);
    }
}

fn place_in_switch(switches: &[Switch], started: usize, moment: &mut Moment) {
    if let Some(next) = switches.get(started) {
        moment.end = moment.end.min(next.start.0);
    }
    let Some(switch) = started.checked_sub(1).map(|index| &switches[index]) else { return };
    if switch.end.0 <= moment.start {
        return;
    }
    moment.end = moment.end.min(switch.end.0);
    if moment.start < switch.runnable.0 {
        moment.end = moment.end.min(switch.runnable.0);
        let on_disk = switch.reason == reason::UNINTERRUPTIBLE;
        moment.state = if on_disk { State::BlockedOnDisk } else { State::Blocked };
    } else {
        moment.state = State::Runnable;
    }
}

/// Where no switch overlaps a call that says it blocked, its beginning is the blocked part.
fn block_by_the_call(call: &Call, switches: &[Switch], started: usize, moment: &mut Moment) {
    let blocked_until = call.start.0.saturating_add(call.blocked.0);
    if moment.state != State::OnProcessor || moment.start >= blocked_until {
        return;
    }
    let earlier = started.checked_sub(1).is_some_and(|index| switches[index].end.0 > call.start.0);
    let later = switches.get(started).is_some_and(|switch| switch.start.0 < call_end(call));
    if !earlier && !later {
        moment.state = State::Blocked;
        moment.end = moment.end.min(blocked_until);
    }
}

#[cfg(test)]
mod tests;
