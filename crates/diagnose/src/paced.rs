//! Servers that answer at an even pace, however many requests wait: by a limit, or since each request holds what the others wait
//! for while it sleeps.
//!
//! From outside both look the same while requests wait. What tells them apart is a request that comes when nobody does: a limit
//! lets it pass at once, while whatever a request does in its turn it does then, too.

use crate::analysis::Analysis;
use crate::exchange::Exchange;
use crate::syscall;
use crate::threads::call_end;
use crate::waits::Kinds;
use case::tables::Call;
use std::collections::{BTreeMap, BTreeSet};

/// Fewer distances between answers do not show a pace.
const PACED: usize = 20;
/// The middle half of the distances lies within this part of their median: timers are late by less.
const EVEN: f64 = 0.1;
/// Shorter distances cannot be told from work.
const SHORTEST: u64 = 2_000_000;
/// So many of the answers must follow the end of a timer: now and then a request comes when one is due.
const MOSTLY: f64 = 0.8;
/// What takes less than this part of a pace has not been held back for one.
const AT_ONCE: f64 = 0.5;

/// A request that its server had read, and answered after the last wait of the thread that did.
pub(crate) struct Turn<'a> {
    pub exchange: &'a Exchange,
    /// When it had been read.
    pub read: u64,
    /// When its answer was written.
    pub written: u64,
    /// The row of the wait of an event loop that ended by time just before; none where something else came last.
    pub timer: Option<usize>,
}

/// A server that lets one request through in a time.
pub(crate) struct Paced<'a> {
    /// Its requests, in order of their answers.
    pub turns: Vec<Turn<'a>>,
    /// The time, in nanoseconds.
    pub pace: u64,
}

/// The first server that limits the rate of requests by delaying them; none where the pace has another reason, or may have.
pub(crate) fn limited<'a>(analysis: &'a Analysis) -> Option<Paced<'a>> {
    let mut by_server: BTreeMap<(u32, u16), Vec<Turn>> = BTreeMap::new();
    for exchange in &analysis.exchanges {
        if let (Some(slot), Some(turn)) = (analysis.server_slot(exchange), turn(analysis, exchange)) {
            let row = analysis.connections.row(slot);
            by_server.entry((row.pid, row.local_port)).or_default().push(turn);
        }
    }
    let mut paced = by_server.into_values().filter_map(|mut turns| {
        turns.sort_by_key(|one| one.written);
        let pace = pace(&turns)?;
        passes_when_alone(analysis, &turns, pace).then_some(Paced { turns, pace })
    });
    paced.next()
}

/// How a server dealt with a request: what it read last, and the first that it wrote.
fn turn<'a>(analysis: &Analysis, exchange: &'a Exchange) -> Option<Turn<'a>> {
    let (read, written) = read_and_written(analysis, exchange)?;
    let thread = analysis.threads.get(written.tid)?;
    let end = thread.calls.start
        + analysis.recording.calls[thread.calls.clone()].partition_point(|call| call.start < written.start);
    let mut before = (thread.calls.start..end).rev().take_while(|&row| analysis.call(row).start.0 >= call_end(read));
    let waited = before.find(|&row| analysis.call(row).blocked.0 > 0);
    let by_time = |row: &usize| syscall::is_poll(analysis.call(*row).number) && analysis.call(*row).result == 0;
    Some(Turn { exchange, read: call_end(read), written: written.start.0, timer: waited.filter(by_time) })
}

/// By which call a server read the last of a request, and by which it wrote the first of the answer.
pub(crate) fn read_and_written<'a>(analysis: &'a Analysis, exchange: &Exchange) -> Option<(&'a Call, &'a Call)> {
    let transfers = analysis.server_transfers(exchange);
    let calls = || transfers.iter().map(|&row| analysis.call(row as usize));
    let written = calls().find(|call| syscall::is_write(call.number))?;
    let read = calls().rfind(|call| syscall::is_read(call.number) && call.start < written.start)?;
    Some((read, written))
}

/// The distance at which answers leave while several requests wait, where there is one.
fn pace(turns: &[Turn]) -> Option<u64> {
    let timed = turns.iter().filter(|one| one.timer.is_some()).count();
    if timed < PACED || (timed as f64) < MOSTLY * turns.len() as f64 {
        return None;
    }
    // Where one request waits at a time, a pause of the server for each looks the same.
    let mut gaps: Vec<u64> = Vec::new();
    for (before, one) in turns.iter().zip(&turns[1..]) {
        if one.timer.is_some() && one.read < before.written {
            gaps.push(one.written - before.written);
        }
    }
    gaps.sort_unstable();
    let of = |part: usize| gaps[gaps.len() * part / 4];
    let is_even = gaps.len() >= PACED && (of(3) - of(1)) as f64 <= EVEN * of(2) as f64;
    (is_even && of(2) >= SHORTEST).then(|| of(2))
}

/// Whether those that came when nobody waited, and nobody had been answered for a pace, were mostly answered at once. Requests of
/// another kind than those that were held back tell nothing of it.
fn passes_when_alone(analysis: &Analysis, turns: &[Turn], pace: u64) -> bool {
    let kinds = Kinds::new(analysis);
    let held: BTreeSet<u32> =
        turns.iter().filter(|one| one.timer.is_some()).map(|one| kinds.of(one.exchange)).collect();
    let mut by_arrival: Vec<&Turn> = turns.iter().collect();
    by_arrival.sort_by_key(|one| one.read);
    let (mut free_from, mut at_once, mut delayed) = (0, 0, 0);
    for one in by_arrival {
        if one.read >= free_from && held.contains(&kinds.of(one.exchange)) {
            let is_at_once = ((one.written - one.read) as f64) < AT_ONCE * pace as f64;
            *if is_at_once { &mut at_once } else { &mut delayed } += 1;
        }
        free_from = free_from.max(one.written + pace);
    }
    at_once > delayed
}
