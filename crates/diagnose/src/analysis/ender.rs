//! Who or what ended a wait.
//!
//! A connection whose other end was recorded names its writer, which is certain. Elsewhere the scheduler names the thread
//! on whose processor the wake-up happened: it counts where it was in a call that can wake others, since an interrupt
//! borrows any thread.

mod peer;

pub(crate) use peer::taken;

use super::Analysis;
use super::ready;
use crate::syscall::{self, Class};
use crate::threads::{ThreadRows, call_end};
use case::tables::{Call, Switch, role};
use case::{Ended, Ender};

/// A wait that ended by its time-out and was begun again this soon, in nanoseconds, goes on: interpreters' locks are asked for
/// in steps of some milliseconds.
const AT_ONCE: u64 = 200_000;
/// How many time-outs one wait may have; to look for more would cost more than it tells.
const MOST_TIME_OUTS: usize = 200;
/// How many calls after a time-out may show what it put off.
const CALLS_AFTER: usize = 12;
/// Of processes with more threads than this it is not asked which one gave up a lock.
const MOST_THREADS: usize = 64;
/// A shell starts a shell that starts a program: so many at most are asked for who started the one before.
const MOST_GENERATIONS: usize = 8;
/// How long after its last sign of life a thread may wake those who wait for its end.
const FAREWELL: u64 = 1_000_000;

/// A stretch of a thread's time in which somebody waited for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// The thread's place in the table of threads.
    pub thread: usize,
    /// Its beginning, nanoseconds since boot.
    pub from: u64,
    /// Its end.
    pub to: u64,
    /// How many times it counts: more than once where it stands for others.
    pub weight: f64,
}

/// A stretch in which a thread was blocked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    /// Whose, and when.
    pub window: Window,
    /// The call it was blocked in: a row of the table of calls.
    pub call: Option<usize>,
    /// Whether it was uninterruptibly.
    pub on_disk: bool,
}

/// What ended a part of a wait.
pub(crate) enum Part {
    /// A thread, which did something meanwhile.
    Thread(Window),
    /// Something else, for so long.
    Other(Ended),
}

impl Window {
    /// How long it is, as often as it counts.
    pub fn length(&self) -> f64 {
        self.to.saturating_sub(self.from) as f64 * self.weight
    }
}

/// Hands over what ended a wait, in parts that add up to it.
pub(crate) fn of(analysis: &Analysis, wait: &Wait, emit: &mut dyn FnMut(Part)) {
    let Window { from, to, .. } = wait.window;
    let other = |by: Ender| Part::Other(Ended { by, ns: to - from });
    let thread = &analysis.threads.all()[wait.window.thread];
    let Some(row) = wait.call else {
        let by = if wait.on_disk { Ender::Disk } else { Ender::Unknown };
        return emit(by_waker(analysis, thread, wait, Class::Other).map_or_else(|| other(by), Part::Thread));
    };
    let call = analysis.call(row);
    let class = syscall::class(call.number);
    if is_timed_out(call) {
        let Some(last) = goes_on(analysis, thread, row) else {
            let gave_up = gave_up_on_request(analysis, thread, call);
            let window = gave_up.map(|thread| Window { thread, ..wait.window });
            return emit(window.map_or_else(|| other(Ender::Timer), Part::Thread));
        };
        // The wait before its last time-out ended as the last one did.
        let last_call = analysis.call(last);
        let end = call_end(last_call);
        let last =
            Wait { window: Window { from: last_call.start.0, to: end, ..wait.window }, call: Some(last), ..*wait };
        return of(analysis, &last, &mut |part| match part {
            Part::Thread(window) => emit(Part::Thread(Window { from, to, ..window })),
            Part::Other(_) => emit(other(Ender::Timer)),
        });
    }
    if syscall::is_wait_for_child(call.number) || syscall::is_fork(call.number) {
        let child = u32::try_from(call.result).ok().and_then(|pid| analysis.threads.slot(pid));
        let child = child.map(|thread| Window { thread, ..wait.window });
        let child = child.or_else(|| by_waker(analysis, thread, wait, class));
        return emit(child.map_or_else(|| other(Ender::Unknown), Part::Thread));
    }
    if wait.on_disk && call.connection == 0 {
        return emit(other(Ender::Disk));
    }
    let connection = match class {
        Class::Poll => ready::connection(analysis, row),
        Class::Accept => None,
        _ => analysis.connections.slot(call.connection).filter(|_| call.connection != 0).map(|slot| (slot, class)),
    };
    let connecting = connection.map(|(slot, _)| slot).filter(|&slot| peer::is_connecting(analysis, slot, call, wait));
    if let Some(window) = connecting.and_then(|slot| peer::busy_acceptor(analysis, slot, wait)) {
        return emit(Part::Thread(window));
    }
    if let Some((slot, class)) = connection
        && connecting.is_none()
        && let Some(peer) = analysis.connections.all()[slot].peer
    {
        if read_of(analysis, row).is_some_and(|read| read.finished && read.result == 0)
            && let Some(window) = peer::closed(analysis, thread, peer, wait)
        {
            return emit(Part::Thread(window));
        }
        let writing = is_writing(class);
        let other = if syscall::is_poll(call.number) { peer::other_answer(analysis, thread, peer, wait) } else { None };
        return peer::ended(analysis, other.unwrap_or(peer), writing, wait, emit);
    }
    // Who waits before the call that reads the answer does something else meanwhile, and is woken for that.
    let is_elsewhere = to <= call.start.0;
    let waker = || by_waker(analysis, thread, wait, class).or_else(|| by_end(analysis, thread, wait, row));
    let window = if is_elsewhere { None } else { waker() };
    if let Some(window) = window {
        return since_it_was_started(analysis, wait, window, emit);
    }
    let unwatched = connection.map(|(slot, _)| slot).or_else(|| listener(analysis, call));
    emit(other(unwatched.map_or(Ender::Unknown, |slot| unseen(analysis, slot, call, wait))));
}

/// What ended a wait for a connection whose other end nobody watched.
fn unseen(analysis: &Analysis, slot: usize, call: &Call, wait: &Wait) -> Ender {
    match analysis.connections.row(slot).role {
        _ if peer::is_connecting(analysis, slot, call, wait) => Ender::Network,
        role::CLIENT => Ender::Peer { remote: analysis.connections.remote_name(slot) },
        role::LISTENER => Ender::NewConnection,
        _ => Ender::Peer { remote: None },
    }
}

/// Whether a call returned since a time that the program chose had passed.
pub(crate) fn is_timed_out(call: &Call) -> bool {
    let (class, result) = (syscall::class(call.number), call.result);
    // A signal ends a sleep with an error; one that goes on when recording ends is a sleep all the same.
    if class == Class::Sleep {
        return result >= 0;
    }
    call.finished
        && match class {
            Class::Poll => result == 0,
            Class::Lock => result == syscall::TIMED_OUT,
            // A socket may have a time-out of its own; one that does not block returns at once, unblocked.
            Class::WaitForSignal | Class::Read | Class::ReadVector | Class::Accept => result == syscall::EAGAIN,
            _ => false,
        }
}

/// Whether a wait for a lock was for a time to pass: it timed out, and was neither begun again nor had made whoever has the lock
/// give it up.
pub(crate) fn is_set_time(analysis: &Analysis, row: usize) -> bool {
    let call = analysis.call(row);
    let Some(thread) = analysis.threads.get(call.tid).filter(|_| is_timed_out(call)) else { return false };
    goes_on(analysis, thread, row).is_none() && gave_up_on_request(analysis, thread, call).is_none()
}

/// Whether a call waits for the answer to what its program asked, in a poll of that connection alone: many libraries do that before
/// they read, for the sake of a time-out.
pub(crate) fn is_for_answer(analysis: &Analysis, row: usize) -> bool {
    polled_alone(analysis, row).is_some_and(|slot| analysis.connections.row(slot).role == role::CLIENT)
}

/// Whether a call waits in a poll of one connection alone, and that is another one than this: the answer to what its program asked,
/// or the next request of another client, for whom a worker keeps itself free.
pub(crate) fn is_for_one_other(analysis: &Analysis, row: usize, here: u32) -> bool {
    let polled = polled_alone(analysis, row).map(|slot| analysis.connections.row(slot));
    polled.is_some_and(|row| row.role == role::CLIENT || (row.role == role::SERVER && row.id != here))
}

/// The client's connection, by its number, for which alone a call of a server waits until something comes on it.
pub(crate) fn is_for_one_client(analysis: &Analysis, row: usize) -> Option<u32> {
    let call = analysis.call(row);
    let read = || analysis.connections.slot(call.connection).filter(|_| syscall::is_read(call.number));
    let slot = if syscall::is_poll(call.number) { polled_alone(analysis, row) } else { read() }?;
    let row = analysis.connections.row(slot);
    (row.role == role::SERVER && !ready::has_room(call)).then_some(row.id)
}

/// The connection that a call polls alone, by its place in the list of all.
fn polled_alone(analysis: &Analysis, row: usize) -> Option<usize> {
    let call = analysis.call(row);
    if !syscall::is_poll_of_one(call.number, call.argument_1) {
        return None;
    }
    let polled = analysis.connections.slot(call.connection).filter(|_| call.connection != 0);
    polled.or_else(|| ready::connection(analysis, row).map(|(slot, _)| slot))
}

/// The next few calls of the same thread after one, up to its next wait.
pub(crate) fn calls_after<'a>(analysis: &Analysis<'a>, row: usize) -> impl Iterator<Item = &'a Call> {
    let tid = analysis.call(row).tid;
    let next = analysis.recording.calls.get(row + 1..).unwrap_or_default().iter().take(CALLS_AFTER);
    // An event loop polls without waiting between what it runs.
    next.take_while(move |call| call.tid == tid && (syscall::class(call.number) != Class::Poll || call.blocked.0 == 0))
}

/// The last of the waits that go on where one timed out, at the same place in the code; none where the program did something
/// else instead.
fn goes_on(analysis: &Analysis, thread: &ThreadRows, row: usize) -> Option<usize> {
    let first = analysis.call(row);
    // A sleep is over when it is over.
    if syscall::is_sleep(first.number) {
        return None;
    }
    let mut last = row;
    for next in (row + 1..thread.calls.end).take(MOST_TIME_OUTS) {
        let (before, call) = (analysis.call(last), analysis.call(next));
        let same = (call.number, call.stack, call.script_stack) == (first.number, first.stack, first.script_stack);
        let is_at_once = call.start.0.saturating_sub(call_end(before)) <= AT_ONCE;
        // A lock of which others are told that it is asked for has a lock of its own.
        if !same && is_at_once && call.number == first.number && call.blocked.0 == 0 {
            continue;
        }
        if !same || !is_at_once {
            break;
        }
        last = next;
        if !is_timed_out(call) {
            return Some(last);
        }
    }
    None
}

/// Whoever gave up a lock since the wait for it had timed out: interpreters ask the one that runs to make way, which it
/// confirms by waiting for its next turn, and is woken for that by the thread that asked.
fn gave_up_on_request(analysis: &Analysis, thread: &ThreadRows, call: &Call) -> Option<usize> {
    if syscall::class(call.number) != Class::Lock {
        return None;
    }
    let asked = call_end(call);
    let threads = analysis.threads.all();
    let others =
        || (0..threads.len()).filter(|&slot| threads[slot].pid == thread.pid && threads[slot].tid != thread.tid);
    // To ask each of many threads for each of many waits would take longer than it is worth.
    if others().nth(MOST_THREADS).is_some() {
        return None;
    }
    others().find(|&slot| {
        let switches = &analysis.recording.switches[threads[slot].switches.clone()];
        let first = switches.partition_point(|switch| switch.runnable.0 < asked);
        let soon = switches[first..].iter().take_while(|switch| switch.runnable.0 <= asked + AT_ONCE);
        // It ran until it was asked; one that waited already has nothing to do with it.
        soon.into_iter().any(|switch| switch.waker == thread.tid && switch.start.0 >= asked)
    })
}

/// The connection of an `accept`, where it names one.
fn listener(analysis: &Analysis, call: &Call) -> Option<usize> {
    analysis.connections.slot(call.connection).filter(|_| call.connection != 0)
}

fn is_writing(class: Class) -> bool {
    matches!(class, Class::Write | Class::HandOver)
}

/// Whoever ended a wait, from when it was there; before that, those who were to start it.
fn since_it_was_started(analysis: &Analysis, wait: &Wait, mut window: Window, emit: &mut dyn FnMut(Part)) {
    for _ in 0..MOST_GENERATIONS {
        let thread = &analysis.threads.all()[window.thread];
        let born = thread.start.clamp(window.from, window.to);
        if born < window.to {
            emit(Part::Thread(Window { from: born, ..window }));
        }
        if born == window.from {
            return;
        }
        window.to = born;
        let is_first = thread.tid == thread.pid;
        let starts = if is_first { analysis.ends.parent(thread.pid) } else { Some(thread.pid) };
        let starts = starts.and_then(|pid| analysis.threads.slot(pid));
        match starts.filter(|&slot| slot != window.thread && slot != wait.window.thread) {
            Some(slot) => window.thread = slot,
            None => break,
        }
    }
    emit(Part::Other(Ended { by: Ender::Unknown, ns: window.to - window.from }));
}

/// The thread that woke this one, if it was in a call that wakes others.
fn by_waker(analysis: &Analysis, thread: &ThreadRows, wait: &Wait, class: Class) -> Option<Window> {
    let (slot, call) = waking(analysis, thread, wait)?;
    let wakes = if let Some(call) = call {
        wakes_others(syscall::class(call.number), class)
    } else {
        let woken = switch(analysis, thread, wait)?.runnable.0;
        analysis.threads.all()[slot].end.saturating_sub(woken) <= FAREWELL
    };
    wakes.then_some(Window { thread: slot, ..wait.window })
}

/// The thread on whose processor this one was woken, by its place in the table of threads, and the call that it was in then.
fn waking<'r>(analysis: &Analysis<'r>, thread: &ThreadRows, wait: &Wait) -> Option<(usize, Option<&'r Call>)> {
    let switch = switch(analysis, thread, wait)?;
    let slot = analysis.threads.slot(switch.waker).filter(|_| switch.waker != 0 && switch.waker != thread.tid)?;
    let calls = &analysis.recording.calls[analysis.threads.all()[slot].calls.clone()];
    let begun = calls.partition_point(|call| call.start <= switch.runnable);
    Some((slot, begun.checked_sub(1).map(|index| &calls[index]).filter(|call| call_end(call) >= switch.runnable.0)))
}

/// The thread or process whose end was waited for: by who joins it, or reads from a pipe until nobody can write to it any more. Its
/// end wakes others once it is no thread any more that could be named.
fn by_end(analysis: &Analysis, thread: &ThreadRows, wait: &Wait, row: usize) -> Option<Window> {
    let woken = switch(analysis, thread, wait).filter(|switch| switch.waker == 0)?.runnable.0;
    let ends = &analysis.ends;
    let slot = if analysis.call(row).number == syscall::FUTEX {
        ends.thread(thread.pid, woken.saturating_sub(FAREWELL), woken)?
    } else {
        let at_end = pipe_read(analysis, row).is_some_and(|read| read.result == 0);
        let began = analysis.call(row).start.0;
        let child = || ends.child(thread.pid, began, woken);
        // One end of a pipeline waits for the other.
        let sibling = || ends.child(ends.parent(thread.pid)?, began, woken);
        at_end.then(|| child().or_else(sibling)).flatten()?
    };
    (analysis.threads.all()[slot].tid != thread.tid).then_some(Window { thread: slot, ..wait.window })
}

/// The read of a pipe that a call is, or that follows a poll.
fn pipe_read<'r>(analysis: &Analysis<'r>, row: usize) -> Option<&'r Call> {
    read_of(analysis, row).filter(|read| read.finished && (read.connection, read.path) == (0, 0))
}

/// The read that a call is, or that follows a poll.
fn read_of<'r>(analysis: &Analysis<'r>, row: usize) -> Option<&'r Call> {
    let call = analysis.call(row);
    let read = if syscall::is_poll(call.number) {
        calls_after(analysis, row).find(|call| syscall::is_read(call.number))?
    } else {
        call
    };
    syscall::is_read(read.number).then_some(read)
}

/// Whether a call of one class can end a wait of another.
fn wakes_others(waker: Class, waits: Class) -> bool {
    match waker {
        Class::Poll | Class::Sleep | Class::Accept | Class::WaitForChild | Class::WaitForSignal | Class::Sync => false,
        // Who reads makes room for who writes.
        Class::Read | Class::ReadVector => is_writing(waits) || waits == Class::Poll,
        Class::Write | Class::HandOver | Class::Open => waits != Class::Lock,
        Class::Lock => waits == Class::Lock,
        Class::Other => true,
    }
}

/// The row that says when a wait ended.
fn switch<'r>(analysis: &Analysis<'r>, thread: &ThreadRows, wait: &Wait) -> Option<&'r Switch> {
    let switches = &analysis.recording.switches[thread.switches.clone()];
    let begun = switches.partition_point(|switch| switch.start.0 < wait.window.to);
    let last = &switches[begun.checked_sub(1)?];
    (last.runnable.0 > wait.window.from).then_some(last)
}
