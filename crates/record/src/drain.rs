//! The drain: empties the ring every 20 ms into the intake, hands rows to the case, counts losses, and writes at the
//! end what only then is known.

use crate::clock::now;
use crate::counters::{self, Counters};
use crate::events::{self, Sums, ThreadState, kind};
use crate::governed::Governed;
use crate::intake::Intake;
use crate::kernel::Counts;
use crate::limit::Limit;
use crate::programs::{InterpreterMaps, Programs};
use crate::row_switch::RowSwitch;
use crate::running::Found;
use crate::source::{Progress, Role};
use crate::watched::Watched;
use aya::maps::{MapData, RingBuf};
use case::tables::{CallSum, Loss, SchedulerSum, Switch, Thinned};
use case::{CaseError, CaseWriter, Counted, GivenUp, Nanos};
use std::collections::BTreeMap;

/// Files without readable code that are named in the answer.
const UNREADABLE_SHOWN: usize = 5;

/// An event is at most so long on its way from the kernel to the case: the ring is emptied five times as often.
const LONGEST_ON_THE_WAY: Nanos = Nanos(100_000_000);

/// After so many events it is asked how late it is, and not after each.
const TAKEN_AT_A_TIME: u64 = 256;

/// Empties the ring.
pub struct Drain {
    intake: Intake,
    writer: CaseWriter,
    counters: Counters,
    followed: Vec<u32>,
    lost: Counts,
    limit: Limit,
    switch: RowSwitch,
    governed: Option<Governed>,
    given_up: GivenUp,
    lost_before: [u64; kind::COUNT as usize],
    lost_since: Nanos,
    lost_in_all: u64,
    has_failed: bool,
}

impl Drain {
    /// Nothing taken yet. At most so many events are kept, unless they are governed.
    pub fn new(
        maps: InterpreterMaps,
        lost: Counts,
        (switch, governed, most_events): (RowSwitch, Option<Governed>, u64),
        writer: CaseWriter,
    ) -> Drain {
        let limit = Limit::new(if governed.is_some() { u64::MAX } else { most_events });
        Drain {
            intake: Intake::new(Programs::new(Some(maps)), limit.events),
            writer,
            counters: Counters::default(),
            followed: Vec::new(),
            lost,
            limit,
            switch,
            governed,
            given_up: GivenUp::default(),
            lost_before: [0; kind::COUNT as usize],
            lost_since: now(),
            lost_in_all: 0,
            has_failed: false,
        }
    }

    /// A process is followed from now on.
    pub fn follow(&mut self, pid: u32, role: Role) {
        self.intake.programs.lifetimes.followed(pid, role, now());
        // It stands in its surroundings by now.
        self.intake.places.native.hold_root(pid);
        self.followed.push(pid);
        // Counting begins anew with each, so that all namespaces are counted from one moment.
        self.counters = Counters::read(&self.followed);
    }

    /// A process that runs already is followed from now on.
    pub fn found(&mut self, process: Found, role: Role, now: Nanos) {
        let Found { pid, files, namespace, ports } = process;
        let intake = &mut self.intake;
        intake.programs.lifetimes.found(pid, role, now);
        intake.programs.found(pid, now, &mut intake.places);
        intake.rows.held_open(pid, files);
        intake.connections.were_there(namespace, ports, now);
        self.followed.push(pid);
    }

    /// Threads of processes that were found, each with its process.
    pub fn found_threads(&mut self, threads: &[(u32, u32)], now: Nanos) {
        for (tid, pid) in threads {
            self.intake.programs.lifetimes.found_thread(*tid, *pid, now);
        }
    }

    /// Threads that were `found` then, and turned out to have ended before they were followed.
    pub fn were_gone(&mut self, threads: &[u32], found: Nanos) {
        for tid in threads {
            self.intake.programs.lifetimes.was_gone(*tid, found);
        }
    }

    /// All threads of what was found are followed from now on.
    pub fn attached(&mut self, role: Role) {
        self.counters = Counters::read(&self.followed);
        self.intake.programs.lifetimes.attached(role, now());
    }

    /// How far it has got.
    pub fn progress(&self) -> Progress {
        Progress { events: self.intake.events, lost: self.lost_in_all, requests: self.intake.requests }
    }

    /// Whether all is to have rows, whatever that costs.
    pub fn keeps_everything(&self) -> bool {
        self.governed.is_none()
    }

    /// Whether rows are made.
    pub fn makes_rows(&self) -> bool {
        self.switch.makes_rows()
    }

    /// Whether rows can no longer be written.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Takes the events that the ring holds, for so long at most; whether it is empty then.
    pub fn take(&mut self, ring: &mut RingBuf<MapData>, longest: Nanos) -> bool {
        let begun = now();
        for taken in 1_u64.. {
            let Some(item) = ring.next() else { break };
            self.intake.take(&item);
            if taken.is_multiple_of(TAKEN_AT_A_TIME) && now() - begun > longest {
                return false;
            }
        }
        true
    }

    /// What is done between takings: rows are handed on, losses counted, new programs looked at.
    pub fn turn(&mut self) {
        let now = now();
        self.govern();
        self.heed_limit();
        self.count_losses(now);
        if self.limit.is_due(now) {
            self.write_over_limit(now);
        }
        self.intake.programs.look_at_due(now, &mut self.intake.places);
        self.hand_on();
    }

    fn count_losses(&mut self, now: Nanos) {
        let counts = self.lost.counts();
        let mut losses = Vec::new();
        for (kind, (before, count)) in self.lost_before.iter().zip(counts).enumerate() {
            if count > *before {
                losses.push((events::table_of(kind as u32), "ring full", count - before));
            }
        }
        let left_out = std::mem::take(&mut self.intake.connections.left_out);
        if left_out > 0 {
            losses.push(("connections", "limit", left_out));
        }
        self.lost_before = counts;
        self.lost_in_all += losses.iter().map(|(_, _, count)| count).sum::<u64>();
        let start = std::mem::replace(&mut self.lost_since, now);
        let rows = losses.into_iter().map(|(table, reason, count)| loss(table, reason, count, (start, now)));
        let result = self.writer.append(rows);
        self.keep_failure(&result);
    }

    /// Notices that the limit is reached, and counts what is beyond it.
    fn heed_limit(&mut self) {
        Limit::heed(self.intake.limit_reached, &mut self.switch);
        let withheld = self.switch.withheld();
        self.intake.requests += withheld.requests;
        // What is thinned out was not lost.
        if self.governed.is_none() {
            for (table, count) in withheld.events {
                self.intake.events += count;
                *self.intake.over_limit.entry(table).or_default() += count;
            }
        }
    }

    /// Lets the governor decide, once something is watched.
    fn govern(&mut self) {
        let Some(governed) = self.governed.as_mut().filter(|_| !self.followed.is_empty()) else { return };
        let events = self.intake.events;
        let thinned = governed.turn(&mut self.switch, events, |now| self.intake.turns.is_unanswered(now));
        if thinned.is_some() {
            self.intake.turns.forget();
        }
        let given_up = governed.thin(&self.switch, events, || self.intake.turns.slowest());
        let result = self.writer.append(thinned);
        self.keep_failure(&result);
        if !given_up.is_empty() {
            self.give_up(&given_up);
        }
    }

    /// Gives rows up of a recording that has become long.
    fn give_up(&mut self, stretches: &[(Nanos, Nanos)]) {
        self.hand_on();
        let given_up = self.writer.give_up(stretches);
        let stretches = stretches.iter().map(|&(start, end)| Thinned { start, end });
        let result = self.writer.append(stretches).and(given_up.map(|given_up| self.given_up.add(given_up)));
        self.keep_failure(&result);
    }

    /// Writes down what was beyond the limit since that was done last.
    fn write_over_limit(&mut self, now: Nanos) {
        let Some(reached) = self.intake.limit_reached else { return };
        let over_limit = std::mem::take(&mut self.intake.over_limit);
        self.lost_in_all += over_limit.values().sum::<u64>();
        let start = self.limit.write(reached, now);
        let rows = over_limit.into_iter().map(|(table, count)| loss(table, "event limit", count, (start, now)));
        let result = self.writer.append(rows);
        self.keep_failure(&result);
    }

    /// Hands the rows gathered so far to the case. After a failure the case counts and drops them: the subject goes on
    /// undisturbed.
    fn hand_on(&mut self) {
        let result = self.intake.write(&mut self.writer);
        self.keep_failure(&result);
    }

    fn keep_failure(&mut self, result: &Result<(), CaseError>) {
        self.has_failed |= result.is_err();
    }

    /// Writes everything that is known only at the end, and hands back the writer, which knows what could not be
    /// written. `sums` are the scheduler's of the threads that still run, each with the number of recorded calls;
    /// `call_sums` are all calls'.
    pub fn finish(
        mut self,
        threads: &Watched,
        sums: &BTreeMap<u32, (Sums, u64)>,
        call_sums: Vec<CallSum>,
        end: Nanos,
    ) -> CaseWriter {
        self.take_unfinished(threads, sums, end);
        self.heed_limit();
        self.count_losses(end);
        self.hand_on();
        self.write_over_limit(end);
        let events = self.intake.events;
        let governed = self.governed.as_mut().map(|governed| (governed.end(events, end), governed.has_thinned()));
        let (intake, mut writer, given_up) = (self.intake, self.writer, self.given_up);
        let started = writer.manifest().start;
        // What cannot be appended is counted by the writer.
        if intake.places.incomplete > 0 {
            let reason = "not walked to the thread's first function";
            let _ = writer.append([loss("stacks", reason, intake.places.incomplete, (started, end))]);
        }
        let manifest = writer.manifest();
        let unreadable = intake.places.native.unreadable_paths();
        let shown = unreadable.iter().take(UNREADABLE_SHOWN);
        manifest.missing.extend(shown.map(|path| format!("functions of {path}: it could not be read")));
        (manifest.start, manifest.end) = intake.programs.lifetimes.window(started, end);
        if let Some(((_, detail), has_thinned)) = governed {
            manifest.detail = Some(detail);
            manifest.counted = has_thinned.then_some(Counted { until: manifest.end, ..Counted::default() });
        }
        if let Some(reached) = intake.limit_reached.filter(|reached| *reached < manifest.end) {
            manifest.counted = Some(Counted { until: manifest.end, ..Counted::default() });
            manifest.end = reached.max(manifest.start);
            let kept = manifest.end - manifest.start;
            let events = intake.events;
            let what =
                format!("single events after {kept}, only sums: there were {events}, more than are kept (--events)");
            manifest.missing.push(what);
        }
        if intake.rows.paths_left_out > 0 {
            let left_out = intake.rows.paths_left_out;
            manifest.missing.push(format!("{left_out} names of files: there were more than are kept"));
        }
        let failed = writer.failed_since().map(|since| Nanos(end.0.saturating_sub(since.elapsed().as_nanos() as u64)));
        let manifest = writer.manifest();
        if let Some(failed) = failed.map(|failed| failed - LONGEST_ON_THE_WAY) {
            manifest.end = manifest.end.min(failed).max(manifest.start);
            let kept = manifest.end - manifest.start;
            manifest.missing.push(format!("anything after {kept}: from then on not all rows could be written"));
        }
        if intake.connections.found_open > 0 {
            let what = "how connections were set up (look-up, connect, TLS handshake)";
            let found = intake.connections.found_open;
            manifest.missing.push(format!("{what} that were open before recording began: {found}"));
        }
        let _ = writer.append(governed.and_then(|((thinned, _), _)| thinned));
        let _ = writer.append(sums_of(&given_up, end));
        let _ = writer.append(call_sums);
        let _ = writer.append(counters::moved(&self.counters, &self.counters.again()));
        let resolver = intake.places.resolver.clone();
        let _ = intake.finish(&mut writer, end);
        let (ended, unnamed) = resolver.lost();
        if ended > 0 {
            let times = if ended == 1 { "once".to_string() } else { format!("{ended} times") };
            let what = format!("{unnamed} names of code: the process that reads programs' files ended early, {times}");
            writer.manifest().missing.push(what);
        }
        writer
    }

    /// Threads that still run: the calls they are in, and whether they are off the processor.
    fn take_unfinished(&mut self, threads: &Watched, sums: &BTreeMap<u32, (Sums, u64)>, end: Nanos) {
        let mut running: Vec<(u32, ThreadState)> = threads.all().collect();
        running.sort_by_key(|(tid, _)| *tid);
        for (tid, state) in &running {
            if state.entered > 0 {
                self.intake.rows.unfinished(*tid, state, end);
            }
            self.intake.switches.extend(off_at_the_end(*tid, state, end));
            self.intake.programs.lifetimes.still_runs(*tid, state, sums.get(tid).copied(), end);
        }
    }
}

fn loss(table: &str, reason: &str, count: u64, (start, end): (Nanos, Nanos)) -> Loss {
    Loss { start, end, table: table.to_string(), reason: reason.to_string(), count }
}

/// What was given up of each thread: beside its sum, in a row of its own, which begins when nothing of it is left to be
/// counted.
fn sums_of(given_up: &GivenUp, end: Nanos) -> Vec<SchedulerSum> {
    let sum = |(&tid, of): (&u32, &case::OfThread)| SchedulerSum {
        tid,
        start: end,
        has_run_delay: true,
        thinned_calls: of.calls,
        thinned_waits: of.waits,
        thinned_preemptions: of.preemptions,
        ..SchedulerSum::default()
    };
    given_up.of_threads.iter().map(sum).collect()
}

/// The interval off the processor that a thread was in when recording ended.
fn off_at_the_end(tid: u32, state: &ThreadState, end: Nanos) -> Option<Switch> {
    let start = Nanos(state.off_since);
    let runnable = if state.runnable > 0 { Nanos(state.runnable) } else { end };
    let off = state.off_since > 0 && start < end;
    off.then_some(Switch { start, runnable, end, tid, waker: state.waker, reason: state.reason as u8 })
}
