//! Compares what each thread's rows add up to with what the scheduler counted for it, and says how much of the thread's
//! time its rows do not prove.
//!
//! The scheduler's sums (`SchedulerSum`) do not come from the events that the rows are made of. Where more time is booked
//! to a state than the scheduler counted, that much of the state is doubtful, wherever it lies: each moment in that state
//! gets its share. The ledger books what is doubtful as unexplained. Where the hypervisor took as much and more of the CPUs (steal
//! time), the threads were waiting for one, and it is booked as that.

use crate::steal;
use crate::threads::{Cursor, Doubt, State, ThreadRows, Threads};
use crate::windows::Windows;
use case::Recording;
use case::facts::{Deviation, Reconciled, ReconciledSum, ThreadMeasure};
use case::tables::{Loss, SchedulerSum, reason};
use std::collections::{BTreeMap, BTreeSet};

/// Differences up to this share of what the scheduler counted are let pass. The two read their clocks at different steps of
/// the same switch (picking the next thread lies between them), so that they are never quite equal.
const TOLERATED: f64 = 0.01;

/// Differences up to this share of the thread's life are let pass, whatever it is of a small sum: ledgers show shares to a
/// tenth of a percent.
const TOLERATED_OF_LIFE: f64 = 0.001;

/// Rows that may be missing of a thread without any being lost: of the wait or the call that it was in when watching began,
/// of one that it never came back from, and the same where it executed another program.
const EDGES: u64 = 4;

/// The share of switches that may be missing besides: that the counts are read and that watching begins and ends are moments apart,
/// in which a busy thread switches. Of the waits of 12 real programs, nothing lost, up to 0.15 % were missing.
const EDGES_SHARE: u64 = 500;

/// How often a missing call misplaces as much as its own time: its own, and where it began or ended an exchange what lies on
/// either side.
const MISPLACED_BY_A_CALL: f64 = 3.0;

/// Steal time is counted in whole ticks, so that some of it is missing: threads may have lost a tenth more than was counted.
const COUNTED: f64 = 1.1;

/// Deviations that are named one by one.
const MOST_NAMED: usize = 20;

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Reconciliation {
    /// How much of each thread's time is in doubt, in order of their ids; empty where nothing is.
    pub doubts: Vec<Doubt>,
    /// When events were lost: merged, in order of time.
    pub lost: Vec<(u64, u64)>,
    /// What is said about it; none where no sums were recorded and nothing was lost.
    pub facts: Option<Reconciled>,
}

/// Compares all threads of a recording.
pub fn reconcile(recording: &Recording, threads: &Threads, windows: &Windows) -> Reconciliation {
    let lost = lost(recording, windows);
    let sums = sums_by_thread(&recording.scheduler_sums);
    let (first, last) = (recording.manifest.start.0, recording.manifest.end.0);
    let within = |(from, to): &(u64, u64)| (*to).min(last).saturating_sub((*from).max(first));
    let lost_ns = lost.iter().map(within).sum();
    if sums.is_empty() {
        let facts = (lost_ns > 0).then(|| Reconciled { lost_ns, ..Reconciled::default() });
        return Reconciliation { doubts: Vec::new(), lost, facts };
    }
    let names: BTreeMap<u32, &str> = recording.threads.iter().map(|row| (row.tid, row.name.as_str())).collect();
    let mut facts = Reconciled { lost_ns, ..Reconciled::default() };
    let mut doubts = vec![Doubt::default(); threads.all().len()];
    let mut totals: BTreeMap<ThreadMeasure, ReconciledSum> = BTreeMap::new();
    for (slot, thread) in threads.all().iter().enumerate() {
        let Some(sum) = sums.get(&thread.tid) else {
            facts.not_compared += u64::from(thread.start < thread.end);
            continue;
        };
        facts.threads += 1;
        let rows = Rows::of((recording, windows), threads, slot, sum.start.0, &lost);
        let compared = compare(&rows, thread, sum);
        for pair in &compared.pairs {
            let total = totals.entry(pair.measure).or_default();
            total.measure = pair.measure;
            total.ledger = total.ledger.saturating_add(pair.ledger);
            total.scheduler = total.scheduler.saturating_add(pair.scheduler);
            total.apart = total.apart.saturating_add(pair.apart());
        }
        let deviating = compared.pairs.iter().filter(|pair| pair.deviates);
        let named = deviating.map(|pair| Deviation {
            tid: thread.tid,
            pid: thread.pid,
            name: names.get(&thread.tid).copied().unwrap_or_default().to_string(),
            measure: pair.measure,
            ledger: pair.ledger,
            scheduler: pair.scheduler,
            unexplained_ns: pair.unexplained,
        });
        let before = facts.deviations.len();
        facts.deviations.extend(named);
        facts.deviating += u64::from(facts.deviations.len() > before);
        doubts[slot] = compared.doubt;
    }
    book_stolen(recording, threads, &mut facts, &mut doubts);
    let weight = |one: &Deviation| (one.unexplained_ns, one.ledger.abs_diff(one.scheduler));
    facts.deviations.sort_by(|one, other| weight(other).cmp(&weight(one)).then(one.tid.cmp(&other.tid)));
    facts.deviations.truncate(MOST_NAMED);
    facts.sums = totals.into_values().collect();
    Reconciliation { doubts, lost, facts: Some(facts) }
}

/// What threads have on CPUs by their rows and not by the scheduler they waited for, where the hypervisor took that much.
fn book_stolen(recording: &Recording, threads: &Threads, facts: &mut Reconciled, doubts: &mut [Doubt]) {
    let whole = threads.all().iter().zip(&*doubts).filter(|(_, doubt)| doubt.is_stolen).map(|(thread, _)| thread.tid);
    let whole: BTreeSet<u32> = whole.collect();
    let is_over = |one: &&mut Deviation| one.measure == ThreadMeasure::OnCpu && whole.contains(&one.tid);
    let over: Vec<&mut Deviation> = facts.deviations.iter_mut().filter(is_over).collect();
    let sum = over.iter().map(|one| one.unexplained_ns).fold(0, u64::saturating_add);
    let is_stolen = steal::stolen(recording).is_some_and(|stolen| sum as f64 <= COUNTED * stolen.0 as f64);
    for doubt in doubts {
        doubt.is_stolen &= is_stolen;
    }
    if is_stolen {
        for one in over {
            one.unexplained_ns = 0;
        }
        facts.stolen_ns = sum;
    }
}

/// The stretches in which events were lost that time is booked by. A lost sample or stack takes a place its name and moves
/// no time.
fn lost(recording: &Recording, windows: &Windows) -> Vec<(u64, u64)> {
    let books = |row: &&Loss| row.count > 0 && !matches!(row.table.as_str(), "stacks" | "samples");
    let spans = recording.losses.iter().filter(books).map(|row| (row.start.0, row.end.0));
    crate::spans::merge(spans.filter(|(from, to)| from < to).flat_map(|(from, to)| windows.parts(from, to)).collect())
}

/// An id can have been given to several threads, one after the other.
fn sums_by_thread(rows: &[SchedulerSum]) -> BTreeMap<u32, SchedulerSum> {
    let mut sums: BTreeMap<u32, SchedulerSum> = BTreeMap::new();
    for row in rows {
        let first = || SchedulerSum { start: row.start, has_run_delay: true, ..SchedulerSum::default() };
        let sum = sums.entry(row.tid).or_insert_with(first);
        sum.start = sum.start.min(row.start);
        sum.on_cpu.0 = sum.on_cpu.0.saturating_add(row.on_cpu.0);
        sum.inexact.0 = sum.inexact.0.saturating_add(row.inexact.0);
        sum.run_delay.0 = sum.run_delay.0.saturating_add(row.run_delay.0);
        // Recordings of before this was counted: nobody knows what the scheduler's run delay is to be compared with.
        sum.has_run_delay &= row.has_run_delay && row.waking != i64::MIN;
        sum.waking = sum.waking.saturating_add(row.waking);
        sum.voluntary = sum.voluntary.saturating_add(row.voluntary);
        sum.involuntary = sum.involuntary.saturating_add(row.involuntary);
        sum.calls = sum.calls.saturating_add(row.calls);
        sum.thinned_calls = sum.thinned_calls.saturating_add(row.thinned_calls);
        sum.thinned_waits = sum.thinned_waits.saturating_add(row.thinned_waits);
        sum.thinned_preemptions = sum.thinned_preemptions.saturating_add(row.thinned_preemptions);
    }
    sums
}

/// What a thread's rows add up to.
#[derive(Clone, Copy, Debug, Default)]
struct Rows {
    on_cpu: u64,
    runnable: u64,
    blocked: u64,
    /// In stretches with lost events: not in the three above.
    lost: u64,
    waits: u64,
    switches: u64,
    calls: u64,
    /// Whether rows of its life were thinned out.
    is_thinned: bool,
}

impl Rows {
    fn of(
        (recording, windows): (&Recording, &Windows),
        threads: &Threads,
        slot: usize,
        start: u64,
        lost: &[(u64, u64)],
    ) -> Rows {
        let thread = &threads.all()[slot];
        let switches = &recording.switches[thread.switches.clone()];
        let waits = switches.iter().filter(|row| row.reason != reason::PREEMPTED).count() as u64;
        let (switches, calls) = (switches.len() as u64, thread.calls.len() as u64);
        let is_thinned = !windows.is_whole(thread.start.max(start), thread.end);
        let mut rows = Rows { waits, switches, calls, is_thinned, ..Rows::default() };
        let mut cursor = Cursor::default();
        let mut at = thread.start.max(start);
        let rest = [(thread.end, thread.end)];
        for &(from, to) in lost.iter().chain(&rest) {
            let (from, to) = (from.clamp(at, thread.end.max(at)), to.clamp(at, thread.end.max(at)));
            threads.walk(slot, at, from, &mut cursor, &mut |moment| {
                let length = moment.end - moment.start;
                match moment.state {
                    State::OnProcessor => rows.on_cpu += length,
                    State::Runnable => rows.runnable += length,
                    State::Blocked | State::BlockedOnDisk => rows.blocked += length,
                    State::Absent => {}
                }
            });
            rows.lost += to - from;
            at = to;
        }
        rows
    }
}

/// One measure of one thread, by its rows and by the scheduler.
struct Pair {
    measure: ThreadMeasure,
    ledger: u64,
    scheduler: u64,
    deviates: bool,
    unexplained: u64,
}

impl Pair {
    /// A count; where it deviates, with how much time is unexplained for it.
    fn count(measure: ThreadMeasure, ledger: u64, scheduler: u64, unexplained: Option<u64>) -> Pair {
        let (deviates, unexplained) = (unexplained.is_some(), unexplained.unwrap_or_default());
        Pair { measure, ledger, scheduler, deviates, unexplained }
    }

    fn apart(&self) -> u64 {
        self.ledger.abs_diff(self.scheduler)
    }
}

struct Compared {
    pairs: Vec<Pair>,
    doubt: Doubt,
}

fn compare(rows: &Rows, thread: &ThreadRows, sum: &SchedulerSum) -> Compared {
    let life = thread.end.saturating_sub(thread.start.max(sum.start.0));
    // As the rows have it: from the wake-up, not only from when the thread stands in a queue.
    let off = if sum.has_run_delay { sum.run_delay.0.saturating_add_signed(sum.waking) } else { 0 };
    let blocked = life.saturating_sub(sum.on_cpu.0).saturating_sub(off);
    let counted = sum.voluntary.saturating_add(sum.involuntary);
    // What was thinned out on purpose was counted, and is not missing.
    let made_calls = rows.calls.saturating_add(sum.thinned_calls);
    let made_waits = rows.waits.saturating_add(sum.thinned_waits);
    let made_switches = rows.switches.saturating_add(sum.thinned_waits).saturating_add(sum.thinned_preemptions);
    let missing_switches = counted.saturating_sub(made_switches);
    let missing_calls = sum.calls.saturating_sub(made_calls);
    // Counts are exact: where they say that rows are missing, no difference is small enough to be let pass.
    let complete = missing_switches <= EDGES + counted / EDGES_SHARE && missing_calls <= EDGES;
    let tolerated = |of: u64| {
        let share = if complete { (TOLERATED * of as f64).max(TOLERATED_OF_LIFE * life as f64) } else { 0.0 };
        share as u64 + sum.inexact.0
    };
    let time = |measure, ledger: u64, scheduler: u64| {
        let over = ledger.saturating_sub(scheduler);
        // Blocked time is what the other two leave: where it falls short, one of them has too much, and deviates itself.
        let lacks = if measure == ThreadMeasure::Blocked { scheduler } else { ledger.saturating_add(rows.lost) };
        let short = scheduler.saturating_sub(lacks);
        // What a hypervisor, interrupts or switching itself took is unexplained as well, though every row is there.
        let deviates = over.max(short) > tolerated(scheduler);
        Pair { measure, ledger, scheduler, deviates, unexplained: if deviates { over } else { 0 } }
    };
    // Counts lack what fell into stretches with lost events, which are unexplained as it is.
    let short_of = |ledger: u64, counted: u64, most: u64| rows.lost == 0 && counted.saturating_sub(ledger) > most;
    // Of a life without rows of all of it only time on CPUs is known as a whole: the kernel side adds it up at each switch.
    let on_cpu = if rows.is_thinned { thread.on_processor_in_all } else { rows.on_cpu };
    let mut pairs = vec![time(ThreadMeasure::OnCpu, on_cpu, sum.on_cpu.0)];
    if sum.has_run_delay && !rows.is_thinned {
        pairs.push(time(ThreadMeasure::RunDelay, rows.runnable, off));
        pairs.push(time(ThreadMeasure::Blocked, rows.blocked, blocked));
    }
    // A thread with a signal to take does not go to sleep, nor does one that is woken on the way: the scheduler counts a wait, and
    // the event says that it could have run on. Nothing is missing where all switches are there.
    let most = EDGES + (TOLERATED * sum.voluntary as f64).ceil() as u64;
    let few_waits = missing_switches > most && short_of(made_waits, sum.voluntary, most);
    pairs.push(Pair::count(ThreadMeasure::Waits, made_waits, sum.voluntary, few_waits.then_some(0)));
    let few_calls = short_of(made_calls, sum.calls, EDGES);
    let misplaced =
        if few_calls { (MISPLACED_BY_A_CALL * missing_calls as f64 / sum.calls as f64).min(1.0) } else { 0.0 };
    let misplaced_ns = (misplaced * (rows.on_cpu + rows.runnable + rows.blocked) as f64) as u64;
    pairs.push(Pair::count(ThreadMeasure::Calls, made_calls, sum.calls, few_calls.then_some(misplaced_ns)));
    let share = |measure: ThreadMeasure, of: u64| {
        let over = pairs.iter().find(|pair| pair.measure == measure).map_or(0, |pair| pair.unexplained);
        (over as f64 / of.max(1) as f64).max(misplaced).min(1.0)
    };
    let on_processor = share(ThreadMeasure::OnCpu, on_cpu);
    let doubt = Doubt {
        on_processor,
        runnable: share(ThreadMeasure::RunDelay, rows.runnable),
        blocked: share(ThreadMeasure::Blocked, rows.blocked),
        // Where calls are missing, what is in doubt may be theirs.
        is_stolen: on_processor > 0.0 && misplaced <= 0.0,
    };
    Compared { pairs, doubt }
}

#[cfg(test)]
mod tests;
