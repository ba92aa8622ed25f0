//! P05: a thread repeats calls that neither move bytes nor wait.

mod ioctls;
mod no_time;
mod yields;

use super::{Found, costly_call, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::number::count;
use crate::syscall;
use crate::threads::call_end;
use case::Nanos;
use case::tables::Call;
use std::collections::BTreeMap;

detector! {
    /// # busy-spin
    ///
    /// ## What it is
    /// A thread keeps asking for something that is not ready instead of waiting for it. It waits for an event that is
    /// always ready and that it has no use for (usually writability), reads an empty socket, or arms and disarms an
    /// event around a question it could have waited on. Nothing gets slower until something else needs the CPU.
    ///
    /// ## Evidence
    /// The same question about the same descriptor with the same answer, "not yet", sixteen times or more in a row,
    /// while the thread neither moved a byte nor blocked: reads that return EAGAIN, polls that return at once and are
    /// not followed by a transfer, an ioctl that asks for a queue's length and hears that there is nothing to read, or
    /// that not all is sent. Or sixteen calls of sched_yield in a row, as of a lock that spins. Or sixteen polls in a row that are
    /// given no time to wait, with next to nothing between them, which nearly always end with one that finds what has come: an
    /// event loop that is kept turning.
    ///
    /// ## What proves it
    /// Making one of these calls wait: CPU time drops to almost nothing and latency stays the same.
    ///
    /// ## Remedy
    /// Arm only the event you are really waiting for, and keep the others disarmed until you need them. Or let the
    /// kernel notify you (TCP_NOTSENT_LOWAT, EPOLLOUT once the queue has drained, SO_LINGER for a close that waits). A
    /// loop that never asks for readiness should poll, or block. In an event loop, await the task or the event itself, not a turn
    /// of the loop (`asyncio.sleep(0)`, `setImmediate`) until it is there. Who yields until another thread has done something should
    /// wait for that thread (a mutex, a condition variable, a futex).
    ///
    /// ## Not to be confused with
    /// An edge-triggered loop that reads until EAGAIN once per wake-up: it moves bytes each time. sleep-polling: it
    /// does wait, just too briefly. A thread that computes between two polls, or divides its work and lets others have a
    /// turn. A program that drives a device by ioctl: each of those calls does work, whatever it returns. A runtime that
    /// yields, once or twice, for as long as its other thread gets no CPU.
    "P05" "busy-spin",
    needs: &[Server]
}

/// Repetitions that make a spin: a loop that reads until EAGAIN, or starts many connections, has a few in a row.
const REPETITIONS: usize = 16;

/// At least one call in this many must be such a question: thousands of changes to an interest list, with a poll now and
/// then, are bookkeeping.
const QUESTIONS: usize = 4;

/// A loop that spends more CPU time than this per call computes; it does not spin.
const BUSY_CALL: u64 = 50_000;

/// Units longer than this are shown as counts, not as a cycle.
const LONGEST_UNIT: usize = 32;

/// A run of calls of one thread that moved nothing and waited for nothing.
#[derive(Default)]
struct Stretch {
    calls: std::ops::Range<usize>,
    cpu: u64,
    repeated: usize,
    /// Whether it is made of polls that are given no time.
    no_time: bool,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let mut worst: Option<(u64, u32, Vec<Stretch>)> = None;
    for thread in analysis.threads.all() {
        let asking = yields::without_episodes(analysis, thread.tid, stretches(analysis, thread.calls.clone()));
        for stretches in [asking, no_time::stretches(analysis, thread.calls.clone())] {
            let cpu = stretches.iter().map(|stretch| stretch.cpu).sum();
            if cpu > worst.as_ref().map_or(0, |worst| worst.0) {
                worst = Some((cpu, thread.tid, stretches));
            }
        }
    }
    let (cpu, tid, stretches) = worst?;
    let longest =
        stretches.iter().max_by_key(|stretch| (stretch.calls.len(), std::cmp::Reverse(stretch.calls.start)))?;
    let exchanges = analysis.exchanges.len().max(1) as u64;
    let calls: usize = stretches.iter().map(|stretch| stretch.calls.len()).sum();
    let repeated = &analysis.recording.calls[longest.calls.clone()];
    let unit = if longest.no_time { no_time::unit(repeated) } else { unit(repeated) };
    let calls_of = |stretch: &Stretch| stretch.calls.clone().map(|row| (row, 1));
    let turned_for = if longest.no_time { no_time::turned_for(analysis, tid, &stretches) } else { None };
    let place = turned_for.unwrap_or_else(|| costly_call(analysis, stretches.iter().flat_map(calls_of)));
    let saving = PotentialSaving { wall: 0, outside: 0, cpu, affected: stretches.len() as u64 };
    let per = if analysis.exchanges.is_empty() { "in all" } else { "per request" };
    let title = format!(
        "A busy loop burns {} of CPU {per}, in {} calls that neither move data nor wait{}",
        Nanos(cpu / exchanges),
        count(calls as u64 / exchanges),
        place.in_words(),
    );
    let mechanism = vec![
        format!("Thread {tid} repeats: {unit}."),
        vain(longest),
        format!(
            "In total, {} calls in {} stretches move no data and take {} of CPU time.",
            count(calls as u64),
            count(stretches.len() as u64),
            Nanos(cpu)
        ),
    ];
    let explains = stretches.iter().map(|stretch| span(analysis, tid, &stretch.calls)).collect();
    let rows = rows("calls", longest.calls.clone());
    let remedy = remedy(analysis, longest).to_string();
    let what = "A busy loop makes calls that neither move data nor wait".to_string();
    Some(Found { title, what, mechanism, saving, place, remedy, rows, explains, ..Found::default() })
}

/// What is in vain about it.
fn vain(stretch: &Stretch) -> String {
    let times = count(stretch.repeated as u64);
    if stretch.no_time {
        format!(
            "Up to {times} polls in a row are given no time to wait and find nothing, until one finds what has come."
        )
    } else {
        format!("The same call returns the same result up to {times} times in a row.")
    }
}

/// A loop that asks whether a descriptor is ready gets the wrong answer; one that does not should ask.
fn remedy(analysis: &Analysis, stretch: &Stretch) -> &'static str {
    let calls = &stretch.calls;
    if stretch.no_time {
        "Wait for what is needed: await the task or the event itself, or poll with a time-out, instead of turning the event loop \
         until it has come (asyncio.sleep(0), setImmediate)."
    } else if calls.clone().any(|row| syscall::is_poll(analysis.call(row).number)) {
        "Arm only the event you are waiting for: keep write-readiness disarmed until there is something to write, and let \
         the kernel report a drained queue instead of asking for its length."
    } else if calls.clone().any(|row| analysis.call(row).number == syscall::SCHED_YIELD) {
        "Wait for the other thread (a mutex, a condition variable, a futex) instead of yielding until it is done."
    } else {
        "Wait until the descriptor is ready (poll, epoll or a blocking call) instead of retrying at once."
    }
}

fn span(analysis: &Analysis, tid: u32, calls: &std::ops::Range<usize>) -> (u32, u64, u64) {
    (tid, analysis.call(calls.start).start.0, call_end(analysis.call(calls.end - 1)))
}

/// The spinning stretches among a thread's calls.
fn stretches(analysis: &Analysis, calls: std::ops::Range<usize>) -> Vec<Stretch> {
    let mut found = Vec::new();
    let mut start = calls.start;
    for row in calls.clone() {
        let idle = is_idle(analysis.call(row));
        if !idle {
            found.extend(judge(analysis, start..row));
            start = row + 1;
        }
    }
    found.extend(judge(analysis, start..calls.end));
    found
}

/// Whether a call moved nothing and waited for nothing, and is of a kind that loops are made of. What an unknown ioctl
/// does is not known: a device may have worked meanwhile.
fn is_idle(call: &Call) -> bool {
    let number = call.number;
    if call.blocked.0 > 0 || !call.finished {
        return false;
    }
    match number {
        syscall::IOCTL => ioctls::queue(call.argument_1).is_some() || call.argument_1 == ioctls::FIONBIO,
        syscall::EPOLL_CTL | syscall::GETSOCKOPT | syscall::SETSOCKOPT | syscall::SCHED_YIELD => true,
        // What it returns is how many requests it handed over.
        syscall::IO_URING_ENTER => false,
        _ if syscall::is_poll(number) => call.result >= 0,
        _ => moves(number) && call.result == syscall::EAGAIN,
    }
}

fn moves(number: u16) -> bool {
    syscall::is_read(number) || syscall::is_write(number) || syscall::is_accept(number)
}

/// Whether the call, repeated, is a question put in vain rather than a loop's ordinary turn: it asked whether something
/// is ready, and it was not, or was without being of use.
fn is_vain(call: &Call) -> bool {
    match call.number {
        syscall::IOCTL => {
            call.result == 0 && ioctls::queue(call.argument_1).is_some_and(|queue| queue.is_not_ready(call.argument_3))
        }
        syscall::SCHED_YIELD => true,
        number if syscall::is_poll(number) => call.result > 0,
        number => moves(number) && call.result == syscall::EAGAIN,
    }
}

fn judge(analysis: &Analysis, calls: std::ops::Range<usize>) -> Option<Stretch> {
    if calls.len() < REPETITIONS {
        return None;
    }
    let mut counts: BTreeMap<(u16, i32, u64, i64), usize> = BTreeMap::new();
    for call in analysis.recording.calls[calls.clone()].iter().filter(|call| is_vain(call)) {
        *counts.entry(identity(call)).or_default() += 1;
    }
    let repeated = counts.values().max().copied().unwrap_or_default();
    let questions: usize = counts.values().sum();
    if repeated < REPETITIONS || questions * QUESTIONS < calls.len() {
        return None;
    }
    let (tid, start, end) = span(analysis, analysis.call(calls.start).tid, &calls);
    let (outside, within) = analysis.threads.on_processor(tid, start, end);
    let cpu = outside + within;
    (cpu / calls.len() as u64 <= BUSY_CALL).then_some(Stretch { calls, cpu, repeated, no_time: false })
}

/// The same call about the same thing with the same kind of answer.
fn identity(call: &Call) -> (u16, i32, u64, i64) {
    let about = match call.number {
        // It has no arguments.
        syscall::SCHED_YIELD => return (call.number, -1, 0, 0),
        syscall::IOCTL => call.argument_1,
        syscall::GETSOCKOPT | syscall::SETSOCKOPT | syscall::EPOLL_CTL => call.argument_2,
        _ => 0,
    };
    (call.number, call.fd, about, call.result.signum() * i64::from(call.result != 0))
}

/// What the loop repeats, in words: a cycle where there is one, else how often each call was made.
fn unit(calls: &[Call]) -> String {
    let names: Vec<String> = calls.iter().take(1024).map(described).collect();
    let fits = |period: usize| {
        let same = names.iter().zip(&names[period..]).filter(|(one, other)| one == other).count();
        same * 5 >= (names.len() - period) * 4
    };
    let longest = LONGEST_UNIT.min(names.len() / 3);
    if let Some(period) = (1..=longest).find(|&period| fits(period)) {
        return cycle(&calls[..period], &names[..period]);
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in &names {
        *counts.entry(name).or_default() += 1;
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
    counts.iter().map(|(name, count)| format!("{name} ({count} of {})", names.len())).collect::<Vec<_>>().join(", ")
}

/// One turn of the loop, from what follows its wait to the wait; what it does for each descriptor is said once.
fn cycle(calls: &[Call], names: &[String]) -> String {
    let wait = calls.iter().position(|call| syscall::is_poll(call.number));
    let Some(wait) = wait else { return in_order(names) };
    let turn: Vec<String> = names[wait + 1..].iter().chain(&names[..wait]).cloned().collect();
    let whole = |length: &usize| {
        turn.len().is_multiple_of(*length) && turn.chunks(*length).all(|part| part == &turn[..*length])
    };
    let part = (1..=turn.len()).find(whole).unwrap_or(turn.len());
    let times = turn.len() / part.max(1);
    if times > 1 && part > 1 {
        format!("({}) x{times}, {}", in_order(&turn[..part]), names[wait])
    } else {
        in_order(&[turn, vec![names[wait].clone()]].concat())
    }
}

fn in_order(names: &[String]) -> String {
    let mut runs: Vec<(&str, usize)> = Vec::new();
    for name in names {
        match runs.last_mut() {
            Some((last, count)) if last == name => *count += 1,
            _ => runs.push((name, 1)),
        }
    }
    let shown =
        runs.iter().map(|(name, count)| if *count > 1 { format!("{name} x{count}") } else { (*name).to_string() });
    shown.collect::<Vec<_>>().join(", ")
}

fn described(call: &Call) -> String {
    let name = syscall::name(call.number);
    match call.number {
        syscall::IOCTL => format!("{name}({})", ioctls::name(call.argument_1)),
        syscall::EPOLL_CTL => match call.argument_1 {
            1 => format!("{name}(ADD)"),
            2 => format!("{name}(DEL)"),
            _ => format!("{name}(MOD)"),
        },
        _ if call.result == syscall::EAGAIN => format!("{name} (EAGAIN)"),
        _ => name,
    }
}

#[cfg(test)]
mod tests;
