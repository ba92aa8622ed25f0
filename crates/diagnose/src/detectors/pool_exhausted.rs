//! P18: requests wait in line for workers that are blocked in others, or for a turn of their client.

mod asked_in_turn;
mod handed_over;
mod kept_connections;
mod no_descriptor;
mod own_limit;
mod unread_requests;

use super::{Found, common_place, costly_call, detector, rows, uneven_accept};
use crate::analysis::{Analysis, PotentialSaving};
use crate::exchange::Exchange;
use crate::syscall;
use case::Nanos;
use case::tables::Sample;
use std::collections::BTreeMap;

detector! {
    /// # pool-exhausted
    ///
    /// ## What it is
    /// More requests arrive at once than the server has workers (threads or processes), and the workers are not busy computing:
    /// each is blocked in something slow for one request while the others wait in line. A single worker that serves everybody,
    /// such as an event loop that makes a blocking call, is the smallest such pool.
    ///
    /// ## Evidence
    /// Requests that have arrived and wait unread. The thread that reads them later is blocked meanwhile: asleep, in a disk, or
    /// waiting for somebody else, and not for requests. Those requests may be what a server asks another one that was recorded, too.
    /// Or it waits for a request, but for that of one other client, whose connection it keeps (keep-alive in a server with a worker for
    /// each connection): it has read nothing on it that it has not answered.
    /// Or requests that one thread has read and hands over to others, a pool: while
    /// none of those waits for work (at the place where they wait when there are no requests), more requests are in hand than the pool
    /// has threads. Those threads are blocked for somebody else, or compute and are fewer than the processors. Or requests for each of
    /// which the server asks another one, of which it asks only so many questions at a time: while it does so more requests are
    /// in hand, it has almost nothing to do, and the next question goes out when an answer has come. That is a pool of
    /// connections, a limit that a proxy keeps, or, where it is one, a lock that is held over the question.
    ///
    /// Or threads of a client that wait at one place and let each other go in turn, while as many of its requests are under way
    /// as ever, two or more, and it computes next to nothing: a semaphore, or a pool of connections, of its own. Or connections
    /// that are accepted only once accept has failed for want of a file descriptor (EMFILE, ENFILE): those are a pool, too.
    ///
    /// ## What proves it
    /// More workers, or fewer requests at once: the line disappears, and a request takes as long as its own work. The pool of libuv
    /// (Node.js) has a size that can be set from outside, and so has the number of open files (`more-descriptors`); nothing else can be
    /// given a worker. Where most wait behind few of another kind (HTTP/1 without TLS), a proxy in between answers those
    /// (`shed-requests`), and the others no longer wait. Otherwise it remains a suspicion with an upper bound.
    ///
    /// ## Remedy
    /// Allow more workers (threads, processes), keep blocking calls out of the thread that serves everybody (asynchronous calls, a
    /// pool for slow work), or make what the workers wait for faster. Connections that are kept idle belong where they hold no worker:
    /// in an event loop, or a proxy in front; else keep them for a shorter time. A client's own limit can be raised if the server keeps up,
    /// and so can the number of open files (ulimit -n).
    ///
    /// ## Not to be confused with
    /// A server whose workers compute all the time: it is at its capacity, and more workers need more CPUs; lock-convoy, in which
    /// requests are being dealt with and wait for each other; listen-backlog-overflow, in which they are not let in; uneven-accept, in
    /// which other workers idle; a client whose limit only its runtime knows (asyncio, Go, Node.js): there nothing shows that more
    /// requests wait, and as many at a time may be all that there are.
    "P18" "pool-exhausted",
    follows_from: &[uneven_accept::DETECTOR.page.id]
}

/// Where less of all requests' time is spent in line, something else is to be mended first.
const LEAST_SHARE: f64 = 0.2;
/// Fewer requests than this, or than one in so many, wait in line where a server starts or hiccups.
const LEAST_REQUESTS: usize = 3;
const RARE: usize = 20;

fn detect(analysis: &Analysis) -> Option<Found> {
    let found = [
        unread_requests::detect(analysis),
        kept_connections::detect(analysis),
        behind_a_pool(analysis),
        asked_in_turn::detect(analysis),
        no_descriptor::detect(analysis),
        own_limit::detect(analysis),
    ];
    found.into_iter().flatten().max_by_key(|found| found.saving.wall.saturating_add(found.saving.outside))
}

/// Of lines before the servers that the clients ask, and before each that those ask in turn, the one in which most time is spent.
/// `found` is given the requests, and the server where that is not the clients'.
fn longest_line(analysis: &Analysis, found: impl Fn(&[&Exchange], Option<&str>) -> Option<Found>) -> Option<Found> {
    let mut asked: BTreeMap<String, Vec<&Exchange>> = BTreeMap::new();
    for exchange in &analysis.inner {
        asked.entry(analysis.connections.remote(exchange.connection)).or_default().push(exchange);
    }
    let inner = asked.iter().map(|(peer, asked)| found(asked, Some(peer)));
    let outer = found(&analysis.exchanges.iter().collect::<Vec<_>>(), None);
    // Of equals the last is taken, and the requests of the clients are to be that.
    inner.chain([outer]).flatten().max_by_key(|found| found.saving.wall)
}

/// Requests that were read, and wait in line for a pool of threads to which they are handed over.
fn behind_a_pool(analysis: &Analysis) -> Option<Found> {
    let line = handed_over::find(analysis)?;
    let (count, whole) = (analysis.exchanges.len(), analysis.exchange_wall());
    if line.affected < LEAST_REQUESTS.max(count / RARE) || (line.waited as f64) < LEAST_SHARE * whole as f64 {
        return None;
    }
    let samples: Vec<&Sample> = line.samples.iter().map(|&row| &analysis.recording.samples[row]).collect();
    let blocking = line.calls.iter().max_by_key(|(_, length)| **length).map(|(&row, _)| analysis.call(row));
    let (place, rows) = if line.computes {
        (common_place(analysis, &samples), rows("samples", line.samples.iter().copied()))
    } else {
        let calls = line.calls.iter().map(|(&row, &length)| (row, length));
        (costly_call(analysis, calls), rows("calls", line.calls.keys().copied()))
    };
    let pool = match line.threads {
        1 => "the one thread to which the server hands them over".to_string(),
        several => format!("the {several} threads to which the server hands them over"),
    };
    let requests = count.max(1) as u64;
    let (part, each) = (Nanos(line.waited / requests), Nanos(whole / requests));
    let meanwhile = match blocking.filter(|_| !line.computes) {
        Some(call) => format!("was blocked on behalf of others, mostly in {}", syscall::name(call.number)),
        None => "was on CPU while other CPUs were idle".to_string(),
    };
    Some(Found {
        title: format!("Requests wait in line for {pool}: {part} of every {each} request{}", place.in_words()),
        what: format!("Requests wait in line for {pool}"),
        mechanism: vec![
            format!(
                "{} of {count} requests were read while the pool's {} {} had others to deal with, up to {} waited at a time.",
                line.affected,
                line.threads,
                if line.threads == 1 { "thread" } else { "threads" },
                line.most
            ),
            format!("Meanwhile {} {meanwhile}; the thread that reads the requests had nothing to do.", if line.threads == 1 { "that thread" } else { "each of them" }),
        ],
        saving: PotentialSaving { wall: line.waited, affected: line.affected as u64, ..PotentialSaving::default() },
        place,
        remedy: "Give the pool more threads (Node.js: UV_THREADPOOL_SIZE; the size that an executor is made with), or make what they \
                 do faster."
            .to_string(),
        rows,
        ..Found::default()
    })
}

#[cfg(test)]
mod tests;
