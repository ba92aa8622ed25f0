//! What the threads of a server did for which request, and when.

use crate::analysis::Analysis;
use crate::analysis::ender::is_for_answer;
use crate::connections::End;
use crate::exchange::Exchange;
use crate::search::before;
use crate::syscall;
use crate::threads::call_end;
use case::tables::{Call, direction, transport};
use std::collections::BTreeMap;

/// A poll that was blocked for longer than this had nothing to do.
const IDLE: u64 = 20_000;

/// A request on a thread of the server.
#[derive(Clone, Copy)]
pub(super) struct Served {
    pub exchange: usize,
    /// When it had arrived.
    pub arrived: u64,
    /// When the thread took it up: it had read it, had been with another before, and had last been idle.
    pub from: u64,
    /// When it had dealt with it.
    pub to: u64,
    /// When it had answered it.
    pub answered: u64,
}

/// A call that moves bytes of a request or its answer.
#[derive(Clone, Copy)]
struct Transfer {
    exchange: usize,
    start: u64,
    end: u64,
    is_answer: bool,
}

/// Each thread that answers requests: what it did for which, in order of time.
pub(super) fn served(analysis: &Analysis) -> BTreeMap<usize, Vec<Served>> {
    let mut threads: BTreeMap<usize, (Vec<Served>, Vec<Transfer>)> = BTreeMap::new();
    if analysis.threads.all().is_empty() {
        return BTreeMap::new();
    }
    for (index, exchange) in analysis.exchanges.iter().enumerate() {
        let transfers = analysis.server_transfers(exchange).iter().map(|&row| analysis.call(row as usize));
        let is_read = |call: &&Call| syscall::is_read(call.number) && call.result > 0;
        let Some(read) = transfers.clone().find(is_read) else { continue };
        let of_thread = transfers.filter(|call| call.tid == read.tid && call.result > 0);
        let last = of_thread.clone().rfind(|call| syscall::is_write(call.number));
        let (Some(thread), Some(last)) = (analysis.threads.slot(read.tid), last) else { continue };
        let arrived = unread(analysis, exchange).map_or(read.start.0, |(arrived, _)| arrived);
        let (from, to) = (call_end(read), call_end(last));
        let (list, moved) = threads.entry(thread).or_default();
        list.push(Served { exchange: index, arrived, from, to, answered: to });
        moved.extend(of_thread.map(|call| Transfer {
            exchange: index,
            start: call.start.0,
            end: call_end(call),
            is_answer: syscall::is_write(call.number),
        }));
    }
    let deal = |(thread, (list, transfers))| (thread, dealt_with(list, transfers, &idle(analysis, thread)));
    threads.into_iter().map(deal).collect()
}

/// When each request was dealt with. An event loop may read many before it answers one. Some deal with each as they read it, and
/// answer later (Redis): what such a loop does after it has read one, until it reads the next, is for that one. Others deal with each
/// as they answer it (tasks): what they do before an answer, since the answer before, is for that one.
fn dealt_with(mut list: Vec<Served>, mut transfers: Vec<Transfer>, idle: &[(u64, u64)]) -> Vec<Served> {
    transfers.sort_unstable_by_key(|call| (call.start, call.exchange));
    list.sort_by_key(|one| (one.to, one.exchange));
    if deals_as_it_reads(&transfers, idle) {
        for one in &mut list {
            let next = transfers.partition_point(|call| call.start < one.from);
            let other = transfers[next..].iter().find(|call| call.exchange != one.exchange || call.is_answer);
            let next_idle = idle.get(idle.partition_point(|span| span.0 < one.from)).map_or(u64::MAX, |span| span.0);
            one.to = other.map_or(one.to, |call| call.start).min(next_idle).min(one.to);
        }
        list.sort_by_key(|one| (one.to, one.exchange));
        return list;
    }
    let mut before = 0;
    for one in &mut list {
        let ended = idle.partition_point(|span| span.1 <= one.to);
        let last_idle = ended.checked_sub(1).map_or(0, |last| idle[last].1);
        one.from = one.from.max(before).max(last_idle).min(one.to);
        before = one.to;
    }
    list
}

/// Whether a thread does more between reading one request and the next than between one answer and the next, of those that follow
/// one another while it is busy.
fn deals_as_it_reads(transfers: &[Transfer], idle: &[(u64, u64)]) -> bool {
    let (mut reading, mut answering) = (0_u64, 0_u64);
    for pair in transfers.windows(2).filter(|pair| pair[0].exchange != pair[1].exchange) {
        let (from, to) = (pair[0].end, pair[1].start);
        let is_busy = idle.get(idle.partition_point(|span| span.1 <= from)).is_none_or(|span| span.0 >= to);
        if !is_busy || pair[0].is_answer != pair[1].is_answer {
            continue;
        }
        let of = if pair[0].is_answer { &mut answering } else { &mut reading };
        *of = of.saturating_add(to.saturating_sub(from));
    }
    reading > answering
}

/// When a thread was blocked since there was nothing to do.
pub(super) fn idle(analysis: &Analysis, thread: usize) -> Vec<(u64, u64)> {
    let is_idle = |row: &usize| {
        let call = analysis.call(*row);
        syscall::is_poll(call.number)
            && call.blocked.0 > IDLE
            && !syscall::is_nap(call)
            && !is_for_answer(analysis, *row)
    };
    let polls = analysis.threads.all()[thread].calls.clone().filter(is_idle).map(|row| analysis.call(row));
    polls.map(|call| (call.start.0, call_end(call))).collect()
}

/// When a request had arrived at a server that was recorded, and the call that first read of it; none where it was read at once.
pub(crate) fn unread<'a>(analysis: &Analysis<'a>, exchange: &Exchange) -> Option<(u64, &'a Call)> {
    let connections = &analysis.connections;
    let slot = analysis.server_slot(exchange)?;
    let segments = connections.segments(slot);
    let first = before(segments, |segment| segment.time.0, exchange.start);
    let mut arrivals = segments[first..].iter().filter(|one| one.direction == direction::IN && one.payload > 0);
    let at_once = connections.arrived_at_once(slot).filter(|&time| time >= exchange.start);
    let mut by_segment = || at_once.or_else(|| arrivals.next().map(|segment| segment.time.0));
    // What is written to a Unix socket is at its other end.
    let by_write = || {
        let row = analysis.transfers(exchange).first().filter(|_| exchange.end_seen == End::Client);
        row.map(|&row| call_end(analysis.call(row as usize)))
    };
    let is_unix = connections.row(slot).transport == transport::UNIX;
    let arrived = if is_unix { by_write() } else { by_segment() };
    let arrived = arrived.filter(|&time| time < exchange.end)?;
    let transfers = connections.transfer_numbers(slot);
    let next = before(transfers, |&row| call_end(analysis.call(row as usize)), arrived);
    let read = analysis.call(*transfers.get(next)? as usize);
    (syscall::is_read(read.number) && read.start.0 > arrived && read.start.0 < exchange.end).then_some((arrived, read))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two requests that a thread reads one after the other and answers one after the other, and what it does in between: after each
    /// of these calls but the last.
    fn two(work: [u64; 3]) -> Vec<(usize, u64, u64, u64)> {
        let (mut now, mut transfers) = (100, Vec::new());
        for (at, (exchange, is_answer)) in [(0, false), (1, false), (0, true), (1, true)].into_iter().enumerate() {
            transfers.push(Transfer { exchange, start: now, end: now + 10, is_answer });
            now += 10 + work.get(at).copied().unwrap_or_default();
        }
        let read = |exchange: usize| (transfers[exchange].end, transfers[exchange + 2].end);
        let list = (0..2).map(|exchange| {
            let (from, to) = read(exchange);
            Served { exchange, arrived: 90, from, to, answered: to }
        });
        let mut list = dealt_with(list.collect(), transfers, &[]);
        list.sort_by_key(|one| one.exchange);
        list.iter().map(|one| (one.exchange, one.from, one.to, one.answered)).collect()
    }

    #[test]
    fn a_loop_that_deals_with_each_as_it_reads_it_has_dealt_with_it_when_it_reads_the_next() {
        assert_eq!(two([5_000, 2_000, 3]), [(0, 110, 5_110, 7_130), (1, 5_120, 7_120, 7_143)]);
    }

    #[test]
    fn a_loop_that_deals_with_each_as_it_answers_it_is_with_one_since_the_answer_before() {
        assert_eq!(two([3, 5_000, 2_000]), [(0, 110, 5_133, 5_133), (1, 5_133, 7_143, 7_143)]);
    }
}
