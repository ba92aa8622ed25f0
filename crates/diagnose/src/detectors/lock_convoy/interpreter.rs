//! Threads of one process that never compute at the same time, though several want to: an interpreter lets one of them run at a
//! time, and whoever has a request in hand waits for its lock.
//!
//! Who waits for such a lock asks for it again and again, while others get it in between: no single wait tells who had it. What
//! tells is that exactly one thread computes while others wait, that no two ever do, and that those that wait are woken by those
//! that compute, and compute themselves when they are not waiting.

use super::{LEAST_REQUESTS, LEAST_WAIT, RARE};
use crate::analysis::{Analysis, PotentialSaving};
use crate::detectors::{Found, common_place, rows};
use crate::in_hand::{self, InHand};
use crate::java::{self, Awaited};
use crate::spans::{self, merge};
use crate::threads::{Cursor, Moment, State};
use crate::waits;
use case::syscall::Class;
use case::tables::Sample;
use case::{Nanos, Share};
use std::collections::BTreeMap;

/// Where less of all requests' time is spent waiting so, threads that now and then all compute wait for each other.
const LEAST_SHARE: f64 = 0.25;
/// What a thread does between two attempts at the lock takes less than this, in nanoseconds.
const AT_ONCE: u64 = 200_000;
/// So much of the time in which any thread computes two may: one that comes from a call has yet to ask for the lock.
const TOGETHER: f64 = 0.05;
/// In so much of the time in which threads wait exactly one computes: else it is something else that they wait for.
const ONE_COMPUTES: f64 = 0.6;
/// A thread that computes for less than this part of the time for which it waits so is one that waits for work.
const COMPUTES: f64 = 0.01;
/// Of one thread's waits this many are asked who ended them; the others are taken to be alike.
const MOST_ASKED: usize = 500;
/// So many of them must have been ended by a thread of the same process.
const ENDED_BY_OTHERS: f64 = 0.5;
/// One thread that has it for so much of the time is named.
const BY_ONE: f64 = 0.6;
/// Threads of one process that are looked at: those of a pool are fewer.
const MOST_THREADS: usize = 256;

/// The runtime whose methods tell what threads wait for.
const JAVA: &str = "java";
/// What a process of Go's runtime is called in its row: its threads compute at the same time unless it is told otherwise.
const GO: &str = "go";

type Spans = Vec<(u64, u64)>;

/// What one thread did.
struct Member {
    thread: usize,
    /// When it was at work outside of calls, also while it had to make way for another program.
    computes: Spans,
    /// When it waited for a lock, attempts that follow each other taken together.
    waits: Spans,
}

/// What waits for one process's lock.
struct Turns {
    pid: u32,
    members: Vec<Member>,
    /// For how long requests waited, all together.
    waited: u64,
    affected: usize,
    /// When one computed and others waited.
    held: Spans,
    /// For how long each thread, by its place among the members, computed meanwhile.
    by_holder: BTreeMap<usize, u64>,
}

pub(super) fn detect(analysis: &Analysis) -> Option<Found> {
    let processes = in_hand::by_process(analysis);
    let turns = processes.iter().filter_map(|(&pid, requests)| of_process(analysis, pid, requests));
    let turns = turns.max_by_key(|turns| turns.waited)?;
    let (count, whole) = (analysis.exchanges.len(), analysis.exchange_wall());
    let is_seldom = turns.affected < LEAST_REQUESTS.max(count / RARE);
    (!is_seldom && turns.waited as f64 >= LEAST_SHARE * whole as f64).then(|| found(analysis, &turns))
}

fn of_process(analysis: &Analysis, pid: u32, requests: &[InHand]) -> Option<Turns> {
    let (from, to) = (requests.iter().map(|one| one.from).min()?, requests.iter().map(|one| one.to).max()?);
    let threads = analysis.threads.all();
    let own = || (0..threads.len()).filter(|&slot| threads[slot].pid == pid);
    if own().nth(MOST_THREADS).is_some() || own().nth(1).is_none() {
        return None;
    }
    let members: Vec<Member> = own().map(|slot| member(analysis, slot, (from, to))).collect();
    let mut levels = Levels { moves: runtime(analysis, pid) == GO, ..Levels::default() };
    for (number, member) in members.iter().enumerate() {
        levels.add(&member.computes, Step::Computes(number));
        levels.add(&member.waits, Step::Waits(number));
    }
    for one in requests {
        let reader = members.iter().position(|member| threads[member.thread].tid == one.reader);
        // What has come and is not read, while who will read it waits for the lock, waits for it as well.
        let unread = reader.map(|reader| spans::within(&members[reader].waits, one.arrived, one.from));
        levels.add(&unread.into_iter().flatten().collect::<Spans>(), Step::InHand(reader));
        levels.add(&[(one.from, one.to)], Step::InHand(reader));
    }
    let seen = levels.walk();
    let is_lock = seen.together as f64 <= TOGETHER * seen.computing as f64
        && seen.held_for as f64 >= ONE_COMPUTES * seen.waiting as f64
        && members.iter().filter(|member| !member.waits.is_empty()).count() > 1;
    if !is_lock || seen.held_for == 0 {
        return None;
    }
    let waits_long = |one: &&InHand| spans::length(spans::within(&seen.held, one.arrived, one.to)) >= LEAST_WAIT;
    let affected = requests.iter().filter(waits_long).count();
    Some(Turns { pid, members, waited: seen.waited, affected, held: seen.held, by_holder: seen.by_holder })
}

/// What a thread did from one time to another; without waits where it waits for work, or nobody in its process ends them.
fn member(analysis: &Analysis, thread: usize, (from, to): (u64, u64)) -> Member {
    let (mut computes, mut attempts): (Spans, Vec<Moment>) = (Vec::new(), Vec::new());
    // Java has no such lock of its own, and its methods tell what else a thread waits for: work, above all.
    let is_java = runtime(analysis, analysis.threads.all()[thread].pid) == JAVA;
    let is_known_otherwise =
        |row: usize| is_java && java::awaited(analysis.code.frames(analysis.call(row).stack)) != Some(Awaited::Lock);
    // The stretch that is going on, and how much of it the thread was on CPU.
    let mut stretch: Option<((u64, u64), u64)> = None;
    analysis.threads.walk(thread, from, to, &mut Cursor::default(), &mut |moment| {
        let on_cpu = if moment.state == State::OnProcessor { moment.end - moment.start } else { 0 };
        if matches!(moment.state, State::OnProcessor | State::Runnable) && moment.call.is_none() {
            let (span, sum) = stretch.get_or_insert(((moment.start, moment.end), 0));
            (span.1, *sum) = (moment.end, *sum + on_cpu);
            return;
        }
        computes.extend(stretch.take().filter(|(_, on_cpu)| *on_cpu >= AT_ONCE).map(|(span, _)| span));
        let is_lock =
            |row: usize| case::syscall::class(analysis.call(row).number) == Class::Lock && !is_known_otherwise(row);
        if moment.state == State::Blocked && moment.call.is_some_and(is_lock) {
            attempts.push(moment);
        }
    });
    computes.extend(stretch.filter(|(_, on_cpu)| *on_cpu >= AT_ONCE).map(|(span, _)| span));
    let waits = waits(analysis, thread, &attempts);
    let length = |spans: &Spans| spans::length(spans.iter().copied());
    let is_at_work = length(&computes) as f64 >= COMPUTES * length(&waits) as f64;
    Member { thread, computes, waits: if is_at_work { waits } else { Vec::new() } }
}

/// A thread's attempts at locks as waits: those that follow each other are one. None where others of its process seldom end them.
fn waits(analysis: &Analysis, thread: usize, attempts: &[Moment]) -> Spans {
    let mut waits: Vec<((u64, u64), &Moment)> = Vec::new();
    for attempt in attempts {
        match waits.last_mut() {
            Some((span, last)) if attempt.start.saturating_sub(span.1) <= AT_ONCE => {
                (span.1, *last) = (attempt.end, attempt);
            }
            _ => waits.push(((attempt.start, attempt.end), attempt)),
        }
    }
    waits.retain(|((from, to), _)| to - from >= LEAST_WAIT);
    let threads = analysis.threads.all();
    let every = waits.len().div_ceil(MOST_ASKED).max(1);
    let asked = waits.iter().step_by(every).count();
    let by_others = waits.iter().step_by(every).filter(|(_, last)| {
        waits::ended_by(analysis, thread, last).is_some_and(|by| by != thread && threads[by].pid == threads[thread].pid)
    });
    let are_ended = by_others.count() as f64 >= ENDED_BY_OTHERS * asked as f64;
    if are_ended { waits.into_iter().map(|(span, _)| span).collect() } else { Vec::new() }
}

/// What begins or ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Computes(usize),
    Waits(usize),
    /// A request, and which of the threads has read it.
    InHand(Option<usize>),
}

/// How many compute, wait and are in hand, over time.
#[derive(Default)]
struct Levels {
    /// Times, whether something begins then, and what.
    steps: Vec<(u64, bool, Step)>,
    /// Whether the runtime goes on with a request in any of its threads, so that who has read it tells nothing.
    moves: bool,
}

/// What the levels tell.
#[derive(Default)]
struct Seen {
    /// For how long any thread computed, and for how long two or more did.
    computing: u64,
    together: u64,
    /// For how long any waited, and exactly one computed meanwhile.
    waiting: u64,
    held_for: u64,
    /// For how long requests waited.
    waited: u64,
    held: Spans,
    by_holder: BTreeMap<usize, u64>,
}

impl Levels {
    fn add(&mut self, spans: &[(u64, u64)], step: Step) {
        self.steps.extend(spans.iter().flat_map(|&(from, to)| [(from, true, step), (to, false, step)]));
    }

    fn walk(mut self) -> Seen {
        // Of what happens at one time the ends come first.
        self.steps.sort_unstable();
        let mut seen = Seen::default();
        let mut at = 0;
        let mut in_hand: BTreeMap<Option<usize>, u64> = BTreeMap::new();
        let (mut computing, mut waiting): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for (time, begins, step) in self.steps {
            if at < time {
                seen.add((at, time), self.moves, (&computing, &waiting), &in_hand);
            }
            at = time;
            let (who, number) = match step {
                Step::Computes(number) => (&mut computing, number),
                Step::Waits(number) => (&mut waiting, number),
                Step::InHand(reader) => {
                    let count = in_hand.entry(reader).or_default();
                    *count = if begins { *count + 1 } else { count.saturating_sub(1) };
                    continue;
                }
            };
            if begins {
                who.push(number);
            } else {
                who.retain(|one| *one != number);
            }
        }
        seen.held = merge(std::mem::take(&mut seen.held));
        seen
    }
}

impl Seen {
    fn add(
        &mut self,
        (from, to): (u64, u64),
        moves: bool,
        (computing, waiting): (&[usize], &[usize]),
        in_hand: &BTreeMap<Option<usize>, u64>,
    ) {
        let length = to - from;
        self.computing += if computing.is_empty() { 0 } else { length };
        self.together += if computing.len() > 1 { length } else { 0 };
        // Whoever computes for its own requests keeps nobody from them, and its helpers wait for work.
        let is_served = |reader: &Option<usize>| reader.is_some_and(|reader| computing == [reader]);
        let unserved = in_hand.iter().filter(|(reader, count)| **count > 0 && !is_served(reader));
        // Whoever has read a request and does not wait has handed it on: what computes may do so for that very one.
        let wants = |reader: &Option<usize>| !moves && reader.is_some_and(|reader| waiting.contains(&reader));
        let handed_on = u64::from(!unserved.clone().any(|(reader, _)| wants(reader)));
        let in_hand = unserved.map(|(_, count)| count).sum::<u64>().saturating_sub(handed_on);
        let waiting = waiting.len() as u64;
        if waiting == 0 || in_hand == 0 {
            return;
        }
        self.waiting += length;
        if let [holder] = computing {
            self.held_for += length;
            self.waited = self.waited.saturating_add(length.saturating_mul(waiting.min(in_hand)));
            self.held.push((from, to));
            *self.by_holder.entry(*holder).or_default() += length;
        }
    }
}

fn found(analysis: &Analysis, turns: &Turns) -> Found {
    let samples = held_samples(analysis, turns);
    let taken: Vec<&Sample> = samples.iter().map(|&row| &analysis.recording.samples[row]).collect();
    let place = common_place(analysis, &taken);
    let lock = lock_name(analysis, turns.pid);
    let count = analysis.exchanges.len().max(1) as u64;
    let (part, each) = (Nanos(turns.waited / count), Nanos(analysis.exchange_wall() / count));
    let what = format!("Requests wait for {lock} while another thread holds it");
    let at_once = turns.members.iter().filter(|member| !member.waits.is_empty()).count();
    let processors = u64::from(analysis.recording.manifest.host.processors).max(1).min(at_once.max(1) as u64);
    Found {
        title: format!("{what}: {part} of every {each} request{}", place.in_words()),
        what,
        mechanism: mechanism(analysis, turns, at_once, processors),
        // What waits moves as much faster as more of them compute at a time.
        saving: PotentialSaving {
            wall: turns.waited.saturating_mul(processors - 1) / processors,
            affected: turns.affected as u64,
            ..PotentialSaving::default()
        },
        place,
        remedy: remedy(runtime(analysis, turns.pid)).to_string(),
        rows: rows("samples", samples),
        ..Found::default()
    }
}

fn mechanism(analysis: &Analysis, turns: &Turns, at_once: usize, processors: u64) -> Vec<String> {
    let threads = analysis.threads.all();
    let held: u64 = turns.by_holder.values().sum();
    let most = turns.by_holder.iter().max_by_key(|(_, length)| **length);
    let by_one = most.map(|(&number, &length)| (number, Share(length as f64 / held.max(1) as f64)));
    let holders = match by_one.filter(|(_, share)| share.0 >= BY_ONE) {
        Some((number, share)) => {
            let tid = threads[turns.members[number].thread].tid;
            format!("{share} of that time thread {tid}{} had it.", name_of(analysis, tid))
        }
        None => format!("{} threads had it in turn.", turns.by_holder.len()),
    };
    vec![
        format!(
            "{at_once} threads want to compute, and no two of them ever do at the same time: while one does, the others wait, \
             however often they ask for the lock. {holders}"
        ),
        format!(
            "With {processors} {} that compute at the same time, {} of that waiting would go.",
            if matches!(runtime(analysis, turns.pid), GO | JAVA) { "threads" } else { "processes" },
            Share((processors - 1) as f64 / processors as f64)
        ),
    ]
}

/// A thread's name in words; empty where it has none of its own.
fn name_of(analysis: &Analysis, tid: u32) -> String {
    let row = analysis.recording.threads.iter().rfind(|row| row.tid == tid && !row.name.is_empty());
    row.map_or(String::new(), |row| format!(" ({})", row.name))
}

/// What is known of the lock by what runs the process.
fn lock_name(analysis: &Analysis, pid: u32) -> &'static str {
    match runtime(analysis, pid) {
        runtime if runtime.starts_with("cpython") => "Python's interpreter lock (GIL)",
        runtime if runtime.starts_with("ruby") => "Ruby's interpreter lock (GVL)",
        GO => "the one processor that Go's runtime uses (GOMAXPROCS)",
        _ => "a lock under which all of the process computes",
    }
}

/// What is to be done.
fn remedy(runtime: &str) -> &'static str {
    match runtime {
        GO => {
            "Let the runtime use more processors (GOMAXPROCS, which a quota of the process's group can lower as well), or do less at \
             a time of what takes long to compute."
        }
        JAVA => "Compute before or after holding the lock, or use finer locks instead of one for everything.",
        _ => {
            "Serve with several processes instead of threads (workers), or hand what computes to other processes; code that \
             computes outside of the interpreter can let go of the lock."
        }
    }
}

/// What runs a process; empty for native code.
fn runtime<'r>(analysis: &Analysis<'r>, pid: u32) -> &'r str {
    let process = analysis.recording.processes.iter().rfind(|row| row.pid == pid);
    process.map_or("", |row| row.runtime.as_str())
}

/// The samples of those that computed while others waited: rows.
fn held_samples(analysis: &Analysis, turns: &Turns) -> Vec<usize> {
    let mut rows = Vec::new();
    for &number in turns.by_holder.keys() {
        let thread = &analysis.threads.all()[turns.members[number].thread];
        let is_held = |&row: &usize| {
            let at = analysis.recording.samples[row].time.0;
            spans::within(&turns.held, at, at + 1).next().is_some()
        };
        rows.extend(thread.samples.clone().filter(is_held));
    }
    rows
}

#[cfg(test)]
mod tests;
