//! Polls that are given no time, again and again, until what they ask for has come: a wait that keeps the CPU busy.

use super::{REPETITIONS, Stretch, moves, span};
use crate::analysis::Analysis;
use crate::place::{self, Located};
use crate::syscall;
use case::PlaceShare;
use case::tables::Call;
use rustc_hash::FxHashSet;
use std::ops::Range;

/// An event loop that has something to run asks what has come meanwhile, and runs on: an event comes after that now and then. Where
/// it is what ends nearly all of the stretches, it is what the loop turns for.
const NEARLY_ALL: f64 = 0.9;
/// Fewer are chance.
const REPEATED: usize = 3;
/// What runs between two polls is the loop itself, an interpreter's as well; what takes longer is work that has been divided.
const LONGEST_TURN: u64 = 25_000;
/// What a smaller part of the samples shows is the runtime's own now and then.
const COUNTS: f64 = 0.05;

/// The stretches among a thread's calls.
pub(super) fn stretches(analysis: &Analysis, calls: Range<usize>) -> Vec<Stretch> {
    let (mut found, mut others) = (Vec::new(), 0);
    let (mut start, mut polls) = (calls.start, 0);
    for row in calls {
        let call = analysis.call(row);
        if is_given_no_time(call) && call.result == 0 {
            polls += 1;
            continue;
        }
        let finds = syscall::is_poll(call.number) && call.result > 0;
        // Whatever else the runtime does meanwhile: it gives memory back, or wakes a thread of its own.
        if !finds && !is_wait(call) && !moves_bytes(call) {
            continue;
        }
        if polls >= REPETITIONS {
            match of(analysis, start..row + usize::from(finds), polls) {
                Some(stretch) if finds => found.push(stretch),
                _ => others += 1,
            }
        }
        (start, polls) = (row + 1, 0);
    }
    let is_for_events = found.len() >= REPEATED && found.len() as f64 >= NEARLY_ALL * (found.len() + others) as f64;
    if is_for_events { found } else { Vec::new() }
}

/// An eventfd's count, by which threads of a program wake each other.
const COUNT: i64 = 8;

fn moves_bytes(call: &Call) -> bool {
    moves(call.number) && call.result > 0 && (call.connection != 0 || call.result != COUNT)
}

/// Whether the thread waited in a call.
fn is_wait(call: &Call) -> bool {
    call.blocked.0 > 0 || !call.finished
}

/// Whether a poll returns at once whatever has come.
fn is_given_no_time(call: &Call) -> bool {
    syscall::is_poll(call.number) && !is_wait(call) && call.argument_2 == 0
}

/// What the loop repeats: the poll, whatever the runtime does now and then.
pub(super) fn unit(calls: &[Call]) -> String {
    calls.iter().find(|call| is_given_no_time(call)).map(|call| syscall::name(call.number)).unwrap_or_default()
}

/// A stretch that is nothing but polls.
fn of(analysis: &Analysis, calls: Range<usize>, repeated: usize) -> Option<Stretch> {
    let (tid, from, to) = span(analysis, analysis.call(calls.start).tid, &calls);
    let cpu = analysis.on_cpu(tid, from, to);
    (cpu <= LONGEST_TURN * repeated as u64).then_some(Stretch { calls, cpu, repeated, no_time: true })
}

/// What the loop runs between two polls, where samples show it: the loop itself is every program's.
pub(super) fn turned_for(analysis: &Analysis, tid: u32, stretches: &[Stretch]) -> Option<Located> {
    let is_poll = |row: &usize| is_given_no_time(analysis.call(*row));
    let polls = stretches.iter().filter_map(|stretch| stretch.calls.clone().find(is_poll));
    let firsts = polls.map(|row| place::of_call(&analysis.code, analysis.call(row)).into_iter().next());
    let loops: FxHashSet<_> = firsts.flatten().collect();
    let within = |time: u64| {
        let after = stretches.partition_point(|stretch| analysis.call(stretch.calls.start).start.0 <= time);
        after.checked_sub(1).is_some_and(|slot| time <= span(analysis, tid, &stretches[slot].calls).2)
    };
    let samples = analysis.recording.samples.iter().filter(|row| row.tid == tid && within(row.time.0));
    let stacks = samples.map(|row| ((row.script_stack, row.stack), 1));
    let located = place::of_most_by(stacks, |script, native| {
        let places = place::of_stacks(&analysis.code, script, native);
        if places.first().is_some_and(|first| loops.contains(first)) { Vec::new() } else { places }
    });
    let counts = |share: PlaceShare| share.share >= COUNTS;
    located.share.is_some_and(counts).then_some(located)
}
