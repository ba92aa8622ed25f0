//! P52: requests wait until a process has started that only they need.

mod closes;
mod forks;
mod replaced;
#[cfg(test)]
mod tests;

use super::{Found, costly_call, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::code::base_name;
use crate::connections::End;
use crate::exchange::Exchange;
use crate::images;
use crate::syscall;
use crate::threads::call_end;
use crate::waits;
use case::Nanos;
use case::tables::{Call, Process};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

detector! {
    /// # process-per-request
    ///
    /// ## What it is
    /// A program is started anew for each request: a CGI script, a shell, an interpreter. Before it does anything for the
    /// request it is loaded, linked and initialised, and reads the same modules and settings as the one before. Or a server
    /// replaces its workers after a request or a few (max_requests), and the next connection waits until a new one is there.
    ///
    /// ## Evidence
    /// Processes that become another program (exec) and end within a request, again and again; and requests whose waits,
    /// followed from whoever waits to whoever ended the wait, lead to these processes while they start. Starting lasts from
    /// the fork (from the exec, where other processes were started before it) until the last file is open that nearly all
    /// processes of that program open, but no longer than until the process writes, starts another one or computes for longer
    /// than it has run so far. Where the new process asks itself, once or twice (a curl for each page), its start lies before
    /// its request, and is charged as well. Or forks within requests that take a millisecond of CPU time or more by
    /// themselves, again and again: the process that is copied is large. Or connections that wait in a listener's queue between the
    /// last answer of a worker that took connections and ended, and the moment when the one forked in its place, by the same
    /// parent, is there for them.
    ///
    /// ## What proves it
    /// Nothing from outside: no environment keeps a process for the next request. It remains a suspicion with an upper bound,
    /// the time that requests waited for the start; a worker that lives on shows how much of it can be saved.
    ///
    /// ## Remedy
    /// Keep a process or a few of them (FastCGI, a pool of workers, a library instead of a command), or start the next one
    /// before its request comes. If it must be a new one, make it load less.
    ///
    /// ## Not to be confused with
    /// Work that takes long in a process of its own: only its start counts here. Workers that a server starts once, and clients
    /// that ask again and again; a child that is forked by a small process and does not become another program, which has
    /// nothing to load.
    "P52" "process-per-request",
    not_switched: "No process lives on for a request that the program gives to another one.",
    needs: &[Server]
}

/// Fewer processes of a program are no habit: a server starts what it needs on its first requests.
const PROCESSES: usize = 5;
/// Who asks more often lives for more than its request: a client with work of its own. A redirect is asked for again.
const MOST_ASKED: usize = 2;
/// A file is a part of the start if so many of a program's processes open it: one or the other may fail early.
const NEARLY_ALL: f64 = 0.9;

/// Among so many of a parent's last calls the one is looked for that started a child: more threads hardly fork at a time.
const MOST_THREADS: usize = 64;

/// Interpreters and runtimes initialise themselves for this much CPU time, in nanoseconds, without opening a file (CPython takes
/// less than 10 ms, Node.js 20). Who computes for longer, and for longer than all it did before, works.
const INITIALISES: u64 = 20_000_000;

/// A process that became another program and ended within a request, or that asks and ends.
struct Started<'r> {
    /// The program, of which this row tells.
    image: &'r Process,
    /// When its start began, and when it was loaded.
    begun: u64,
    ready: u64,
    /// The call that started it, or else one that waited for it: a row of the table of calls.
    asked: Option<usize>,
    /// When its own first request began, where it asks itself.
    asks: Option<u64>,
}

impl Started<'_> {
    /// How long its own request waited for its start, before it began.
    fn before_request(&self) -> u64 {
        self.asks.map_or(0, |asks| self.ready.min(asks).saturating_sub(self.begun))
    }
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let found = [starts(analysis), forks::detect(analysis), replaced::detect(analysis)];
    found.into_iter().flatten().max_by_key(|found| found.saving.wall + found.saving.outside)
}

/// Processes that become another program for each request.
fn starts(analysis: &Analysis) -> Option<Found> {
    let mut started = started(analysis);
    let mut programs: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, one) in started.iter().enumerate() {
        programs.entry(&one.image.executable).or_default().push(index);
    }
    programs.retain(|_, processes| processes.len() >= PROCESSES);
    if programs.is_empty() {
        return None;
    }
    for processes in programs.values() {
        let loaded = loaded(analysis, processes.iter().map(|&index| started[index].image.pid));
        for &index in processes {
            started[index].ready = ready(analysis, &started[index], &loaded);
        }
    }
    let waited = waited(analysis, &started);
    let before = |processes: &[usize]| processes.iter().map(|&index| started[index].before_request()).sum::<u64>();
    let within = |processes: &[usize]| processes.iter().map(|&index| waited[index]).sum::<f64>();
    let of = |processes: &[usize]| within(processes) + before(processes) as f64;
    let (executable, most) = programs.iter().max_by(|one, other| of(one.1).total_cmp(&of(other.1)))?;
    let habitual: Vec<usize> = programs.values().flatten().copied().collect();
    let wall = (within(&habitual) as u64).min(analysis.exchange_wall());
    let outside = before(&habitual);
    if wall + outside == 0 {
        return None;
    }
    let cpu = habitual
        .iter()
        .map(|&index| &started[index])
        .map(|one| analysis.on_cpu(one.image.pid, one.begun, one.ready))
        .sum();
    let cost = |index: usize| waited[index] as u64 + started[index].before_request();
    let asked = || habitual.iter().filter_map(|&index| started[index].asked.map(|row| (row, cost(index))));
    let place = costly_call(analysis, asked());
    let count = analysis.exchanges.len().max(1) as u64;
    let (part, whole) = (Nanos((wall + outside) / count), Nanos((analysis.exchange_wall() + outside) / count));
    Some(Found {
        title: format!(
            "Requests wait until a new process has started: {part} of every {whole} request{}",
            place.in_words()
        ),
        what: "Requests wait until a new process has started".to_string(),
        mechanism: mechanism(analysis, &started, executable, most),
        saving: PotentialSaving { wall, outside, cpu, affected: habitual.len() as u64 },
        rows: rows("calls", asked().map(|(row, _)| row)),
        place,
        remedy: "Keep the process for the next requests (FastCGI, a pool of workers, a library instead of a command), or start it \
                 before its request comes."
            .to_string(),
        ..Found::default()
    })
}

/// What a program's processes do, and how long half of them take to start.
fn mechanism(analysis: &Analysis, started: &[Started], executable: &str, most: &[usize]) -> Vec<String> {
    let of_most = |time: fn(&Started) -> u64| Nanos(median(most.iter().map(|&index| time(&started[index])).collect()));
    let usual = of_most(|one| one.ready - one.begun);
    let lives = of_most(|one| one.image.end.0.saturating_sub(one.begun));
    let count = analysis.exchanges.len().max(1);
    let program = base_name(executable);
    let parent = images::Images::new(analysis.recording);
    let by = parent.at(started[most[0]].image.parent, started[most[0]].begun);
    let by = by.map_or("a process", |row| analysis.recording.program(row));
    let words = vec![
        format!(
            "{by} started {program} {} times for {count} requests, and each of these processes ended with its request.",
            most.len()
        ),
        format!(
            "Half of them took {usual} or more, of the {lives} that they lived, before they had opened all that each of them \
             opens."
        ),
    ];
    words.into_iter().chain(closes::said(analysis, most.iter().map(|&index| started[index].image.pid))).collect()
}

/// The processes that were forked and became another program within a request, and ended with it, or that asked themselves.
fn started<'r>(analysis: &Analysis<'r>) -> Vec<Started<'r>> {
    let mut images: BTreeMap<u32, Vec<&'r Process>> = BTreeMap::new();
    for row in &analysis.recording.processes {
        images.entry(row.pid).or_default().push(row);
    }
    let asking = asking(analysis);
    let first_requests = first_requests(analysis);
    let mut started = Vec::new();
    for rows in images.values_mut() {
        rows.sort_by_key(|row| row.start);
        let [first, .., last] = rows[..] else { continue };
        let forked = first.start.0;
        // What runs at the end of the recording ended with nothing.
        let is_over = last.exit >= 0 && first.parent != 0;
        let own = first_requests.get(&last.pid).filter(|(_, requests)| *requests <= MOST_ASKED);
        let asks = own.map(|(first, _)| *first).filter(|&first| first >= last.start.0);
        if is_over && (asks.is_some() || is_within_a_request(&analysis.exchanges, forked, last.end.0)) {
            let calls = asking.get(&first.parent).map_or(&[][..], Vec::as_slice);
            let asked = asked(analysis, calls, forked, last.end.0);
            let begun = if forks_before(analysis, last) { last.start.0 } else { forked };
            started.push(Started { image: last, begun, ready: begun, asked, asks });
        }
    }
    started
}

/// Whether a process started others before it became a program, as a shell's part of a pipeline does.
fn forks_before(analysis: &Analysis, image: &Process) -> bool {
    let mut calls = calls_of(analysis, image.pid).take_while(|call| call.start < image.start);
    calls.any(|call| syscall::is_fork(call.number))
}

/// When the first request of each process began that asks, and how many it made.
fn first_requests(analysis: &Analysis) -> FxHashMap<u32, (u64, usize)> {
    let mut first = FxHashMap::default();
    for exchange in analysis.exchanges.iter().filter(|exchange| exchange.end_seen == End::Client) {
        let pid = analysis.connections.row(exchange.connection).pid;
        first.entry(pid).or_insert((exchange.start, 0)).1 += 1;
    }
    first
}

/// The calls of each process that start others or wait, and of which is known where they were made; in order of their starts.
fn asking(analysis: &Analysis) -> FxHashMap<u32, Vec<usize>> {
    let mut asking: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
    for (row, call) in analysis.recording.calls.iter().enumerate() {
        let is_placed = call.script_stack != 0 || call.stack != 0;
        if is_placed && (syscall::is_fork(call.number) || call.blocked.0 > 0) {
            asking.entry(call.pid).or_default().push(row);
        }
    }
    for rows in asking.values_mut() {
        rows.sort_by_key(|&row| analysis.call(row).start);
    }
    asking
}

/// The call of a parent's that started a child; else the one that was blocked longest while the child lived.
fn asked(analysis: &Analysis, calls: &[usize], forked: u64, ended: u64) -> Option<usize> {
    let begun = calls.partition_point(|&row| analysis.call(row).start.0 <= forked);
    let starts = |row: &usize| {
        let call = analysis.call(*row);
        syscall::is_fork(call.number) && forked <= call_end(call)
    };
    let fork = calls[..begun].iter().rev().take(MOST_THREADS).copied().find(starts);
    let meanwhile = || calls[begun..].iter().copied().take_while(|&row| analysis.call(row).start.0 < ended);
    fork.or_else(|| meanwhile().max_by_key(|&row| (analysis.call(row).blocked, std::cmp::Reverse(row))))
}

/// Whether something began within a request and was over with it: it may have to clean up for as long again.
fn is_within_a_request(exchanges: &[Exchange], from: u64, to: u64) -> bool {
    let begun = exchanges.partition_point(|one| one.start <= from);
    exchanges[..begun].iter().any(|one| from <= one.end && to <= one.end + one.length())
}

/// The files that nearly all of some processes open.
fn loaded(analysis: &Analysis, pids: impl Iterator<Item = u32>) -> FxHashSet<u32> {
    let mut counts: FxHashMap<u32, usize> = FxHashMap::default();
    let mut processes = 0;
    for pid in pids {
        processes += 1;
        let opened: FxHashSet<u32> = opened(analysis, pid).map(|(path, _)| path).collect();
        for path in opened {
            *counts.entry(path).or_default() += 1;
        }
    }
    let least = f64::from(processes) * NEARLY_ALL;
    counts.into_iter().filter(|&(_, count)| count as f64 >= least).map(|(path, _)| path).collect()
}

/// The calls of a process's first thread, in order.
fn calls_of<'a>(analysis: &'a Analysis, pid: u32) -> impl Iterator<Item = &'a Call> + 'a {
    analysis.threads.get(pid).map_or(0..0, |thread| thread.calls.clone()).map(|row| analysis.call(row))
}

/// What a process's first thread opened, and when it was open.
fn opened<'a>(analysis: &'a Analysis, pid: u32) -> impl Iterator<Item = (u32, u64)> + 'a {
    let opens = calls_of(analysis, pid).filter(|call| syscall::is_open(call.number) && call.result >= 0);
    opens.filter(|call| call.path != 0).map(|call| (call.path, call_end(call)))
}

/// When a process had started.
fn ready(analysis: &Analysis, started: &Started, loaded: &FxHashSet<u32>) -> u64 {
    let of_image = calls_of(analysis, started.image.pid).filter(|call| call.start >= started.image.start);
    let mut acts = of_image.filter(|call| syscall::is_fork(call.number) || syscall::is_write(call.number));
    let acts = acts.next().map_or(u64::MAX, |call| call.start.0);
    let opened = opened(analysis, started.image.pid).filter(|(path, at)| loaded.contains(path) && *at <= acts);
    let (mut ready, mut before) = (started.begun, 0);
    for (_, at) in opened {
        let next = analysis.on_cpu(started.image.pid, ready, at);
        if next > before.max(INITIALISES) {
            break;
        }
        (ready, before) = (ready.max(at), before + next);
    }
    ready
}

/// How long requests waited for the start of each process.
fn waited(analysis: &Analysis, started: &[Started]) -> Vec<f64> {
    let slots: FxHashMap<usize, usize> = started
        .iter()
        .enumerate()
        .filter_map(|(index, one)| Some((analysis.threads.slot(one.image.pid)?, index)))
        .collect();
    let mut waited = vec![0.0; started.len()];
    for stretch in waits::stretches(analysis) {
        if let Some(&index) = slots.get(&stretch.thread) {
            let one = &started[index];
            let length = stretch.to.min(one.ready).saturating_sub(stretch.from.max(one.begun));
            waited[index] += length as f64 * stretch.weight;
        }
    }
    waited
}
