//! P06: requests wait for a thread that polls by sleeping, or a client polls its server.

mod asked_again;
mod handed_out;
mod looks;
mod ticks;

use super::{Found, costly_call, detector, lock_convoy, median, rows, slow_reader};
use crate::analysis::{Analysis, PotentialSaving};
use crate::pauses;
use crate::place::{is_of_go_runtime, of_stacks};
use crate::spans;
use crate::syscall;
use crate::threads::call_end;
use crate::waits;
use case::facts::Wait;
use case::tables::Call;
use case::{Activity, Nanos, Place, WaitTree};
use handed_out::HandedOut;
use std::collections::BTreeMap;

detector! {
    /// # sleep-polling
    ///
    /// ## What it is
    /// A thread looks whether something has arrived, sleeps for a fixed time, and looks again. What comes meanwhile waits until
    /// the sleep is over: half of its length on average, for each thing that it waits for.
    ///
    /// ## Evidence
    /// Sleeps at one place in the code that follow one another with nothing sent or received in between, in most cases or,
    /// while there is nothing to do, five or more times; and requests whose waits, followed from whoever waits to whoever
    /// ended the wait, lead to these sleeps. Or requests that are the same as the one before, each after a sleep, while
    /// whatever else the client asks follows at once. Or sleeps between a read, an accept or a poll that does not wait and
    /// finds nothing, and the same one that finds something; charged from when that had come. Or twenty or more answers that leave
    /// at equal distances as their server waits for a time to pass, one that had been set before they came, or for which whoever
    /// asks later waits for less: it is not a pause for each of them, but a timer that ticks by itself.
    ///
    /// ## What proves it
    /// Sleeps a hundred times shorter: the wait goes away. With sleeps of half and of twice the length it halves and doubles.
    ///
    /// ## Remedy
    /// Wait for the event and not for time: a condition variable, a queue, an eventfd, epoll, a notification of the file system
    /// or of the database. Where nothing tells of the event, sleep for less.
    ///
    /// ## Not to be confused with
    /// A pause that is meant (a rate limit, a back-off), once in a request; pauses that are now longer and now shorter, as between events
    /// that somebody makes; a thread that nobody waits for; lock-convoy, in which
    /// requests sleep between attempts at a file's lock that others hold; slow-reader, in which what it sleeps between has already
    /// arrived; work that takes a pause for each thing that it is given, after which it hands out what others have waited for
    /// since before the pause.
    "P06" "sleep-polling",
    needs: &[Server]
}

/// Fewer sleeps in a row are a pause, no polling.
const IN_A_ROW: usize = 3;
/// Of the sleeps at a place so many must follow one another, or of their series so many have several: work that sleeps now and then
/// does not poll.
const MOSTLY: f64 = 0.5;
/// Or so many in a row: who has nothing to do and sleeps again and again looks for something between, however busy it is later.
const IDLE_IN_A_ROW: usize = 5;
/// Where fewer than one in so many exchanges waits for a sleep, that is an accident: a thread that tidies up now and then holds
/// a lock, or the program had just started.
const RARE: u64 = 200;
/// Sleeps of which one is more than so many times as long as the other are not for the same thing: what polls sleeps for a fixed time,
/// or backs off by doubling it. A thread that sleeps with a lock and then without it does not poll.
const ALIKE: u64 = 4;
/// Who looks for something and has not found it does not look again so many times sooner, unless it begins anew with its shortest sleep.
const SHORTER: f64 = 1.25;
/// More than this part of the sleeps that follow another one may not be shorter: their lengths have other reasons than a
/// look. Of lengths by chance, evenly spread, more than a third are.
const MOST_SHORTER: f64 = 0.25;
/// What is done between two sleeps is a look as long as it takes less than this part of the sleep, or
const LOOK_SHARE: f64 = 0.2;
/// less than this, in nanoseconds.
const LOOK: u64 = 1_000_000;

/// One place in the code at which threads poll.
struct Polling {
    place: Place,
    /// Its sleeps: rows of the table of calls.
    sleeps: Vec<usize>,
    /// How many there were in each series of them that follow one another.
    series: Vec<usize>,
    /// How long those took that follow a longer one.
    shorter: Vec<u64>,
}

impl Polling {
    /// How many sleeps follow another one.
    fn repeated(&self) -> usize {
        self.sleeps.len() - self.series.len()
    }

    /// The most in a row.
    fn in_a_row(&self) -> usize {
        self.series.iter().copied().max().unwrap_or_default()
    }

    /// Whether somebody looks for something between these sleeps.
    fn is_polling(&self) -> bool {
        let several = self.series.iter().filter(|&&length| length > 1).count();
        let mostly = self.repeated() as f64 >= MOSTLY * self.sleeps.len().saturating_sub(1) as f64
            || several as f64 >= MOSTLY * self.series.len() as f64;
        self.repeated() + 1 >= IN_A_ROW && (mostly || self.in_a_row() >= IDLE_IN_A_ROW)
    }

    /// Whether its sleeps take as long as each other, or longer from look to look.
    fn is_steady(&self, analysis: &Analysis) -> bool {
        let shortest = self.sleeps.iter().map(|&row| analysis.call(row).blocked.0).min().unwrap_or_default();
        let in_between = self.shorter.iter().filter(|&&length| length as f64 > SHORTER * shortest as f64).count();
        in_between as f64 <= MOST_SHORTER * self.repeated() as f64
    }
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let found =
        [waited_for_by_requests, asked_again::detect, looks::detect, ticks::detect].map(|detect| detect(analysis));
    found.into_iter().flatten().max_by_key(|found| found.saving.wall.saturating_add(found.saving.outside))
}

/// A thread that sleeps and looks while requests, or the run, wait for it.
fn waited_for_by_requests(analysis: &Analysis) -> Option<Found> {
    let places = polling(analysis);
    if places.is_empty() {
        return None;
    }
    let tree = waits::tree(analysis)?;
    // A client that waits for any of several answers is followed to whoever answers next; what a request's own thread does counts
    // for that request.
    let waited =
        |polling: &Polling| waited_for(&tree, &polling.place).max(slept_over_requests(analysis, &polling.sleeps));
    let (polling, waited) = places.iter().map(|one| (one, waited(one))).max_by_key(|(_, waited)| *waited)?;
    let is_other =
        || lock_convoy::explains(analysis, &polling.sleeps) || slow_reader::explains(analysis, &polling.sleeps);
    if waited == 0 || is_other() {
        return None;
    }
    let count = analysis.exchanges.len().max(1) as u64;
    let lengths = polling.sleeps.iter().map(|&row| analysis.call(row).blocked.0).collect();
    let (part, whole, usual) = (Nanos(waited), Nanos(tree.of_ns), Nanos(median(lengths)));
    let pid = analysis.call(polling.sleeps[0]).pid;
    let program = analysis.recording.processes.iter().rfind(|row| row.pid == pid);
    let program = program.map_or("a program", |row| analysis.recording.program(row));
    let place = costly_call(analysis, polling.sleeps.iter().map(|&row| (row, analysis.call(row).blocked.0)));
    let (who, of) = if analysis.exchanges.is_empty() {
        ("The run waits", format!("{part} of {whole}"))
    } else {
        ("Requests wait", format!("{part} of every {whole} request"))
    };
    Some(Found {
        title: format!("{who} for a thread that polls by sleeping: {of}{}", place.in_words()),
        what: format!("{who} for a thread that polls by sleeping"),
        mechanism: vec![format!(
            "A thread of {program} sleeps for {usual}, looks, and sleeps again: {} of its {} sleeps here follow another one, up \
             to {} in a row, with nothing sent or received in between.",
            polling.repeated(),
            polling.sleeps.len(),
            polling.in_a_row()
        )],
        saving: PotentialSaving {
            wall: waited.saturating_mul(count),
            affected: polling.sleeps.len() as u64,
            ..PotentialSaving::default()
        },
        place,
        remedy: "Wait for the event itself (a condition variable, a queue, an eventfd, epoll), not for time; if there is none, \
                 sleep for less."
            .to_string(),
        rows: rows("calls", polling.sleeps.iter().copied()),
        ..Found::default()
    })
}

/// The last of the descriptors that every program begins with.
const STANDARD_ERROR: i32 = 2;

/// The places at which sleeps follow one another.
fn polling(analysis: &Analysis) -> Vec<Polling> {
    let mut places: Vec<Polling> = Vec::new();
    let handed_out = HandedOut::new(analysis);
    for thread in analysis.threads.all() {
        let mut last: Option<(usize, Place)> = None;
        for row in thread.calls.clone() {
            let call = analysis.call(row);
            if moves_bytes(call) {
                last = None;
            }
            if call.blocked.0 == 0 || !pauses::sleeps(analysis, call) {
                continue;
            }
            let Some(place) = of_stacks(&analysis.code, call.script_stack, call.stack).into_iter().next() else {
                continue;
            };
            // The runtime's own thread looks after the others in steps, and is awaited by whoever it gives a processor to.
            if is_of_go_runtime(&place.function) {
                continue;
            }
            let before = last.take().map(|(before, at)| (analysis.call(before), at)).filter(|(before, at)| {
                *at == place && on_one_path(before, call) && is_look(before, call) && !handed_out.between(before, call)
            });
            let known = places.iter().position(|one| one.place == place).unwrap_or_else(|| {
                places.push(Polling {
                    place: place.clone(),
                    sleeps: Vec::new(),
                    series: Vec::new(),
                    shorter: Vec::new(),
                });
                places.len() - 1
            });
            places[known].sleeps.push(row);
            if before.as_ref().is_some_and(|(before, _)| call.blocked.0 as f64 * SHORTER < before.blocked.0 as f64) {
                places[known].shorter.push(call.blocked.0);
            }
            match places[known].series.last_mut().filter(|_| before.is_some()) {
                Some(length) => *length += 1,
                None => places[known].series.push(1),
            }
            last = Some((row, place));
        }
    }
    places.retain(|one| one.is_polling() && one.is_steady(analysis));
    places
}

/// Whether a call sent or received something: then what came was dealt with, and the next sleep is another one. Who writes into a pipe
/// has something for its reader; lines on the standard output and in a log are about the look.
fn moves_bytes(call: &Call) -> bool {
    let is_write = syscall::is_write(call.number);
    let is_into_pipe = is_write && call.path == 0 && call.fd > STANDARD_ERROR;
    let is_transfer = is_write || syscall::is_read(call.number) || syscall::is_accept(call.number);
    is_transfer && call.result > 0 && (call.connection != 0 || is_into_pipe)
}

/// Whether a script came to two sleeps the same way, as a loop does: work of several steps, each with a pause, takes several.
fn on_one_path(before: &Call, call: &Call) -> bool {
    before.script_stack == call.script_stack || before.script_stack == 0 || call.script_stack == 0
}

/// Whether a thread only looked between two sleeps for the same thing.
fn is_look(before: &Call, call: &Call) -> bool {
    let (shorter, longer) = (before.blocked.min(call.blocked).0, before.blocked.max(call.blocked).0);
    if longer > shorter.saturating_mul(ALIKE) {
        return false;
    }
    let between = call.start.0.saturating_sub(call_end(before));
    between <= LOOK.max((before.blocked.0 as f64 * LOOK_SHARE) as u64)
}

/// How long the mean exchange, or the run, waits for sleeps at a place, in nanoseconds; 0 where hardly any of them does.
fn waited_for(tree: &WaitTree, place: &Place) -> u64 {
    // Who sleeps in a wait for no descriptors waits for events, as its account has it, and in one that is to time out for a lock.
    let may_sleep = |wait: Wait| matches!(wait, Wait::Sleep | Wait::Events | Wait::Lock);
    let sleeps = tree.nodes().filter(|node| matches!(node.activity, Activity::Blocked { wait, .. } if may_sleep(wait)));
    let (ns, count) = sleeps
        .filter(|node| node.place.first() == Some(place))
        .fold((0, 0), |(ns, count), node| (ns + node.ns, count + node.count));
    if count >= (IN_A_ROW as u64).max(tree.followed / RARE) { ns } else { 0 }
}

/// How long the mean exchange is with a thread of the server that sleeps in one of some calls, rows of the table, between its first
/// read and its last write; 0 where hardly any is.
fn slept_over_requests(analysis: &Analysis, sleeps: &[usize]) -> u64 {
    let mut of_thread: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
    for call in sleeps.iter().map(|&row| analysis.call(row)) {
        of_thread.entry(call.tid).or_default().push((call.start.0, call_end(call)));
    }
    let (mut whole, mut affected) = (0_u64, 0_u64);
    for exchange in &analysis.exchanges {
        let transfers = analysis.server_transfers(exchange).iter().map(|&row| analysis.call(row as usize));
        let Some(read) = transfers.clone().find(|call| syscall::is_read(call.number) && call.result > 0) else {
            continue;
        };
        let written = transfers.filter(|call| syscall::is_write(call.number) && call.tid == read.tid).last();
        let (Some(written), Some(sleeps)) = (written, of_thread.get(&read.tid)) else { continue };
        let slept = spans::length(spans::within(sleeps, call_end(read), written.start.0));
        whole = whole.saturating_add(slept);
        affected += u64::from(slept > 0);
    }
    let count = analysis.exchanges.len().max(1) as u64;
    if affected >= (IN_A_ROW as u64).max(count / RARE) { whole / count } else { 0 }
}

#[cfg(test)]
mod tests;
