//! Waits and whoever ended them as rows of the case's table.

use crate::analysis::Analysis;
use crate::analysis::ender::{self, Part, Wait, Window};
use crate::threads::{Cursor, Moment, State, in_call};
use case::tables::ender as code;
use case::{Ender, Nanos, tables};

/// More rows than this are not kept: the longest ones are.
const MOST_ROWS: usize = 50_000;
/// A shorter wait is in nobody's way, and there may be millions.
const SHORTEST: u64 = 10_000;
/// The number of no call.
const NO_CALL: u16 = u16::MAX;

/// The longest waits of all threads, in order of time.
pub fn rows(analysis: &Analysis) -> Vec<tables::Wait> {
    let mut rows = Vec::new();
    for (thread, moment) in longest(analysis) {
        let window = Window { thread, from: moment.start, to: moment.end, weight: 1.0 };
        let on_disk = moment.state == State::BlockedOnDisk;
        let wait = Wait { window, call: moment.call, on_disk };
        let mut from = moment.start;
        ender::of(analysis, &wait, &mut |part| {
            // Parts come in their order, and add up to the wait.
            let row = row(analysis, &wait, from, &part);
            from = row.end.0;
            rows.push(row);
        });
    }
    rows.sort_by_key(|row| (row.start, row.tid));
    rows
}

/// Threads with moments in which they were blocked in a call.
fn longest(analysis: &Analysis) -> Vec<(usize, Moment)> {
    let mut waits: Vec<(usize, Moment)> = Vec::new();
    for (slot, thread) in analysis.threads.all().iter().enumerate() {
        analysis.threads.walk(slot, thread.start, thread.end, &mut Cursor::default(), &mut |moment| {
            let is_blocked = matches!(moment.state, State::Blocked | State::BlockedOnDisk);
            if is_blocked && moment.call.is_some() && moment.end - moment.start >= SHORTEST {
                waits.push((slot, moment));
            }
        });
        if waits.len() > MOST_ROWS * 2 {
            keep_longest(&mut waits);
        }
    }
    keep_longest(&mut waits);
    waits
}

fn keep_longest(waits: &mut Vec<(usize, Moment)>) {
    waits.sort_by_key(|(_, moment)| std::cmp::Reverse(moment.end - moment.start));
    waits.truncate(MOST_ROWS);
}

fn row(analysis: &Analysis, wait: &Wait, from: u64, part: &Part) -> tables::Wait {
    let (by, length, window) = match part {
        Part::Thread(window) => (code::THREAD, window.to - window.from, Some(window)),
        Part::Other(ended) => (number(&ended.by), ended.ns, None),
    };
    let end = from.saturating_add(length).min(wait.window.to);
    let call = wait.call.map(|row| analysis.call(row));
    let ended_by = window.map(|window| &analysis.threads.all()[window.thread]);
    let waking = ended_by.and_then(|thread| in_call(&analysis.recording.calls[thread.calls.clone()], end));
    tables::Wait {
        start: Nanos(from),
        end: Nanos(end),
        tid: analysis.threads.all()[wait.window.thread].tid,
        call: call.map_or(NO_CALL, |call| call.number),
        stack: call.map_or(0, |call| call.stack),
        script_stack: call.map_or(0, |call| call.script_stack),
        ended_by: by,
        ended_by_tid: ended_by.map_or(0, |thread| thread.tid),
        ended_by_call: waking.map_or(NO_CALL, |call| call.number),
        ended_by_stack: waking.map_or(0, |call| call.stack),
        ended_by_script_stack: waking.map_or(0, |call| call.script_stack),
    }
}

fn number(by: &Ender) -> u8 {
    match by {
        Ender::Timer => code::TIMER,
        Ender::Disk => code::DISK,
        Ender::Network => code::NETWORK,
        Ender::Peer { .. } => code::PEER,
        Ender::NewConnection => code::NEW_CONNECTION,
        Ender::Unknown => code::UNKNOWN,
    }
}
