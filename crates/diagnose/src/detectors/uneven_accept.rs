//! P41: one of several workers has most of the connections, and requests wait for it while others idle.

mod idle;
mod workers;

use super::occupied::is_others;
use super::{Found, costly_call, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::number;
use crate::spans;
use crate::syscall;
use crate::threads::{Cursor, State, call_end};
use crate::waits::{most_at_a_time, unread};
use case::{Nanos, Share};
use idle::Idle;
use workers::{Service, Worker};

detector! {
    /// # uneven-accept
    ///
    /// ## What it is
    /// Several processes or threads of a server take connections from the same port, and each connection stays with the one that
    /// took it. One of them has got most of the connections, so that requests wait in line for it, while others idle. The
    /// kernel wakes whoever stands first in its list, which is always the same one while it is quick enough, or spreads
    /// connections by a hash of their addresses (SO_REUSEPORT), which few long-lived connections share unevenly; it knows nothing of the
    /// requests that will come.
    ///
    /// ## Evidence
    /// Two workers or more, of which one answers most of the requests (more than half the way from an even share to all of them).
    /// Requests of its connections wait unread for a millisecond or more, since it computes or is blocked for others, or has lost the CPU
    /// in the middle of another's request, and meanwhile another worker waits for something to do. With that one's help the line would move twice as fast: half of these waits is charged, with
    /// two idle ones two thirds.
    ///
    /// ## What proves it
    /// Workers that take connections in turn (`accept-in-turn`): the line disappears. Where each worker has a listener of its own, or
    /// few connections carry most of the work, nothing can move a connection to another one: a suspicion with an upper bound.
    ///
    /// ## Remedy
    /// Give each worker a listener of its own where there are many connections (SO_REUSEPORT; nginx: listen ... reuseport), let
    /// one process hand them out in turn (Node.js: cluster.SCHED_RR), or let a proxy in front choose the least loaded. Where few
    /// connections carry everything, let clients open more of them, or renew them now and then.
    ///
    /// ## Not to be confused with
    /// pool-exhausted (all workers are taken); a server at its capacity; an acceptor that hands connections over and has no requests
    /// itself; a server with a process for each connection.
    "P41" "uneven-accept",
    needs: &[Server]
}

/// Where less of all requests' time could be saved, something else is to be mended first.
const LEAST_SHARE: f64 = 0.2;
/// Fewer requests than this, or than one in so many, wait in line where a server starts or hiccups.
const LEAST_REQUESTS: usize = 3;
const RARE: usize = 20;
/// Shorter waits are not worth the wake-up of another worker.
const FELT: u64 = 1_000_000;

/// A request that lay unread.
struct Queued {
    from: u64,
    to: u64,
    /// What of that its worker's idle colleagues would have saved.
    avoidable: u64,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    if analysis.recording.manifest.host.processors < 2 {
        return None;
    }
    let services = workers::find(analysis);
    let found = services.iter().filter_map(|service| of_service(analysis, service));
    found.max_by_key(|found| found.saving.wall)
}

fn of_service(analysis: &Analysis, service: &Service) -> Option<Found> {
    let busy = service.workers.iter().max_by_key(|worker| (worker.exchanges.len(), worker.tid))?;
    let (count, workers) = (service.exchanges(), service.workers.len() as f64);
    let most = f64::midpoint(1.0, 1.0 / workers);
    if service.workers.len() < 2 || busy.connections.len() < 2 || busy.exchanges.len() as f64 <= most * count as f64 {
        return None;
    }
    let idle = Idle::of(analysis, service.workers.iter().filter(|worker| worker.tid != busy.tid));
    let queued = queued(analysis, busy, &idle)?;
    let wall: u64 = queued.iter().map(|one| one.avoidable).sum();
    let usual = median(queued.iter().map(|one| one.to - one.from).collect());
    let is_rare = queued.len() < LEAST_REQUESTS.max(count / RARE);
    let is_little = (wall as f64) < LEAST_SHARE * analysis.exchange_wall() as f64;
    let counts = !is_rare && !is_little && usual >= FELT;
    counts.then(|| found(analysis, service, busy, &idle, &queued))
}

/// The requests that lay unread while a worker was taken and others idle.
fn queued(analysis: &Analysis, busy: &Worker, idle: &Idle) -> Option<Vec<Queued>> {
    let thread = analysis.threads.slot(busy.tid)?;
    let work = spans::merge(busy.exchanges.iter().filter_map(|&index| work(analysis, index)).collect());
    let mut cursor = Cursor::default();
    let mut queued = Vec::new();
    for &index in &busy.exchanges {
        let Some((from, read)) = unread(analysis, &analysis.exchanges[index]) else { continue };
        let (to, mut avoidable) = (read.start.0, 0.0);
        analysis.threads.walk(thread, from, to, &mut cursor, &mut |moment| {
            avoidable += match moment.state {
                State::OnProcessor => idle.help(moment.start, moment.end),
                State::Blocked | State::BlockedOnDisk if moment.call.is_some_and(|row| is_others(analysis, row)) => {
                    idle.help(moment.start, moment.end)
                }
                // Who has lost the CPU over a request keeps the line waiting; who has just been woken for this one does not.
                State::Runnable => {
                    spans::within(&work, moment.start, moment.end).map(|(from, to)| idle.help(from, to)).sum()
                }
                _ => 0.0,
            };
        });
        if avoidable >= 1.0 {
            queued.push(Queued { from, to, avoidable: avoidable as u64 });
        }
    }
    Some(queued)
}

/// When a worker was at a request: since it had read it, until the last of its answer.
fn work(analysis: &Analysis, index: usize) -> Option<(u64, u64)> {
    let calls = analysis.server_transfers(&analysis.exchanges[index]);
    let read = calls.iter().map(|&row| analysis.call(row as usize)).find(|call| syscall::is_read(call.number))?;
    let end = calls.last().map(|&row| call_end(analysis.call(row as usize)))?;
    Some((call_end(read), end))
}

fn found(analysis: &Analysis, service: &Service, busy: &Worker, idle: &Idle, queued: &[Queued]) -> Found {
    let wall: u64 = queued.iter().map(|one| one.avoidable).sum();
    let requests = analysis.exchanges.len().max(1) as u64;
    let place = costly_call(analysis, busy.accepts.iter().map(|&row| (row, 1)));
    let (all, count) = (service.exchanges() as u64, busy.exchanges.len() as u64);
    let others = service.workers.len() as u64 - 1;
    let connections: usize = service.workers.iter().map(|worker| worker.connections.len()).sum();
    let (first, last) = busy.span(analysis);
    let idle_share = Share(idle.time(first, last) / (last - first).max(1) as f64 / others as f64);
    let who = if others == 1 { "the other idles".to_string() } else { format!("the other {others} idle") };
    let what = format!("Requests wait in line for one of the server's {} workers while {who}", others + 1);
    let line = most_at_a_time(queued.iter().map(|one| (one.from, one.to)));
    let usual = Nanos(median(queued.iter().map(|one| one.to - one.from).collect()));
    Found {
        title: format!(
            "{what}: {} of every {} request{}",
            Nanos(wall / requests),
            Nanos(analysis.exchange_wall() / requests),
            place.in_words(),
        ),
        what,
        mechanism: vec![
            format!(
                "One worker (thread {}) answered {} of {} requests to port {} ({}), on {} of {connections} connections.",
                busy.tid,
                number::count(count),
                number::count(all),
                service.port,
                Share(count as f64 / all.max(1) as f64),
                busy.connections.len(),
            ),
            format!(
                "{} of them waited unread while it was busy with others, half of them for at least {usual}, up to {line} at a time.",
                number::count(queued.len() as u64),
            ),
            format!(
                "Meanwhile {} had nothing to do for {idle_share} of the time{}.",
                if others == 1 { "the other worker".to_string() } else { format!("the other {others} workers") },
                if others == 1 { "" } else { " on average" },
            ),
        ],
        saving: PotentialSaving { wall, affected: queued.len() as u64, ..PotentialSaving::default() },
        place,
        remedy: "Spread the connections: a listener for each worker (SO_REUSEPORT) where there are many, one process that hands \
                 them out in turn, or more and shorter-lived connections where few carry everything."
            .to_string(),
        rows: if busy.accepts.is_empty() {
            rows("connections", busy.connections.iter().copied())
        } else {
            rows("calls", busy.accepts.iter().copied())
        },
        stalls: queued.iter().map(|one| (one.from, one.to)).collect(),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests;
