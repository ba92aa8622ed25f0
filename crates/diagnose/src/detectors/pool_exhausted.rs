//! P18: requests wait in line for workers that are blocked in others.

use super::occupied::is_others;
use super::{Found, costly_call, detector, median, rows, uneven_accept};
use crate::analysis::{Analysis, PotentialSaving};
use crate::syscall;
use crate::threads::{Cursor, State};
use crate::waits::{most_at_a_time, unread};
use case::Nanos;
use std::collections::{BTreeMap, BTreeSet};

detector! {
    /// # pool-exhausted
    ///
    /// ## What it is
    /// More requests arrive at once than the server has workers (threads or processes), and the workers are not busy computing:
    /// each is blocked in something slow for one request while the others wait in line. A single worker that serves everybody,
    /// such as an event loop that makes a blocking call, is the smallest such pool.
    ///
    /// ## Evidence
    /// Requests that have arrived and lie unread. The thread that reads them later is blocked meanwhile: asleep, in a disk, or
    /// waiting for somebody else, and not for requests.
    ///
    /// ## What proves it
    /// More workers, or fewer requests at once: the line disappears, and a request takes as long as its own work. Nothing can add a
    /// worker from outside, so this remains a suspicion with an upper bound.
    ///
    /// ## Remedy
    /// Allow more workers (threads, processes), keep blocking calls out of the thread that serves everybody (asynchronous calls, a
    /// pool for slow work), or make what the workers wait for faster.
    ///
    /// ## Not to be confused with
    /// A server whose workers compute all the time: it is at its capacity, and more workers need more CPUs; lock-convoy, in which
    /// requests are being dealt with and wait for each other; listen-backlog-overflow, in which they are not let in; uneven-accept, in
    /// which other workers idle.
    "P18" "pool-exhausted",
    follows_from: &[uneven_accept::DETECTOR.page.id]
}

/// Where less of all requests' time is spent in line, something else is to be mended first.
const LEAST_SHARE: f64 = 0.2;
/// Fewer requests than this, or than one in so many, wait in line where a server starts or hiccups.
const LEAST_REQUESTS: usize = 3;
const RARE: usize = 20;

/// A request that lay unread.
struct Queued {
    from: u64,
    to: u64,
    /// For how long the thread that read it was blocked in others meanwhile.
    blocked: u64,
    reader: u32,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let (mut queued, mut readers) = (Vec::new(), BTreeSet::new());
    let mut calls: BTreeMap<usize, u64> = BTreeMap::new();
    let mut cursors = BTreeMap::new();
    for exchange in &analysis.exchanges {
        let Some((arrived, read)) = unread(analysis, exchange) else { continue };
        readers.insert(read.tid);
        let Some(thread) = analysis.threads.slot(read.tid) else { continue };
        let mut blocked = 0;
        let cursor = cursors.entry(thread).or_insert_with(Cursor::default);
        analysis.threads.walk(thread, arrived, read.start.0, cursor, &mut |moment| {
            let Some(row) = moment.call.filter(|&row| is_others(analysis, analysis.call(row))) else { return };
            if matches!(moment.state, State::Blocked | State::BlockedOnDisk) {
                blocked += moment.end - moment.start;
                *calls.entry(row).or_default() += moment.end - moment.start;
            }
        });
        if blocked > 0 {
            queued.push(Queued { from: arrived, to: read.start.0, blocked, reader: read.tid });
        }
    }
    let wall: u64 = queued.iter().map(|one| one.blocked).sum();
    let (count, whole) = (analysis.exchanges.len(), analysis.exchange_wall());
    if queued.len() < LEAST_REQUESTS.max(count / RARE) || (wall as f64) < LEAST_SHARE * whole as f64 {
        return None;
    }
    let blocking = calls.iter().max_by_key(|(_, length)| **length).map(|(&row, _)| analysis.call(row))?;
    let place = costly_call(analysis, calls.iter().map(|(&row, &length)| (row, length)));
    let line = most_at_a_time(queued.iter().map(|one| (one.from, one.to)));
    let usual = Nanos(median(queued.iter().map(|one| one.to - one.from).collect()));
    let workers = match readers.len() {
        1 => "the server's only worker".to_string(),
        several => format!("the server's {several} workers"),
    };
    let requests = count.max(1) as u64;
    let (part, each) = (Nanos(wall / requests), Nanos(whole / requests));
    let idle = queued.iter().map(|one| one.reader).collect::<BTreeSet<_>>().len();
    Some(Found {
        title: format!("Requests wait in line for {workers}: {part} of every {each} request{}", place.in_words()),
        what: format!("Requests wait in line for {workers}"),
        mechanism: vec![
            format!(
                "{} of {count} requests had arrived and lay unread, half of them for at least {usual}, up to {line} at a time.",
                queued.len()
            ),
            format!(
                "Meanwhile the {} blocked on behalf of others, mostly in {}.",
                if idle == 1 { "thread that reads them was".to_string() } else { format!("{idle} threads that read them were") },
                syscall::name(blocking.number)
            ),
        ],
        saving: PotentialSaving { wall, affected: queued.len() as u64, ..PotentialSaving::default() },
        place,
        remedy: "Allow more workers (threads or processes), keep blocking calls out of the thread that serves everybody, or make \
                 what the workers wait for faster."
            .to_string(),
        rows: rows("calls", calls.keys().copied()),
        stalls: queued.iter().map(|one| (one.from, one.to)).collect(),
        ..Found::default()
    })
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::tests::{answer, names};
    use case::{Nanos, Recording};

    const NANOSLEEP: u16 = 35;
    const FUTEX: u16 = 202;
    const CLIENTS: u32 = 4;

    /// Rounds in which four clients ask at the same time; `work` is what the server's only thread does for each request.
    fn rounds(mut work: impl FnMut(&mut Fixture)) -> Recording {
        let mut fixture = Fixture::new();
        for client in 0..CLIENTS {
            if client > 0 {
                fixture.process(CLIENT + client, "client");
            }
            fixture.connect(client + 1, CLIENT + client);
        }
        fixture.script(6, &["server.py:7:handle"]);
        let mut idle = fixture.now;
        for _ in 0..10 {
            let start = fixture.now;
            for client in 0..CLIENTS {
                fixture.now = start;
                fixture.moves(CLIENT + client, client + 1, WRITE, 200);
                fixture.travels(start + 3 * US, client + 1, client + 1001, 200);
            }
            fixture.now = idle;
            fixture.waits(SERVER, start + 12 * US - idle, EPOLL_WAIT, |call| call.result = CLIENTS.into());
            let mut answered = Vec::new();
            for client in 0..CLIENTS {
                fixture.moves(SERVER, client + 1001, READ, 200);
                work(&mut fixture);
                answered.push(fixture.now);
                fixture.moves(SERVER, client + 1001, WRITE, 1000);
                fixture.travels(fixture.now - 2 * US, client + 1001, client + 1, 1000);
            }
            idle = fixture.now;
            for client in 0..CLIENTS {
                fixture.now = start + 5 * US;
                let end = answered[client as usize] + 12 * US;
                fixture.waits_for(CLIENT + client, client + 1, end - fixture.now, 1000);
            }
            fixture.now = idle + 100 * US;
        }
        fixture.off(SERVER, idle, fixture.now + MS);
        fixture.end()
    }

    #[test]
    fn requests_that_lie_unread_while_the_only_thread_sleeps_for_others_are_found() {
        let answer = answer(&rounds(|fixture| {
            fixture.waits(SERVER, 5 * MS, NANOSLEEP, |call| call.script_stack = 6);
        }));
        let finding = answer.findings.iter().find(|one| one.name == "pool-exhausted").expect("it is found");
        // Of 5 + 10 + 15 + 20 ms, 5 each are a request's own.
        assert!((0.55..0.65).contains(&finding.cost.share_of_wall), "{finding:#?}");
        assert_eq!(finding.place[0].line, 7);
        assert!(finding.title.contains("the server's only worker"), "{}", finding.title);
        assert!(finding.mechanism[0].starts_with("30 of 40 requests"), "{:?}", finding.mechanism);
        assert!(finding.mechanism[0].contains("up to 3 at a time"), "{:?}", finding.mechanism);
    }

    #[test]
    fn a_server_at_its_capacity_and_one_that_waits_for_a_lock_are_left_alone() {
        assert!(!names(&rounds(|fixture| fixture.now += 5 * MS)).contains(&"pool-exhausted".to_string()));
        let locked = rounds(|fixture| {
            fixture.waits(SERVER, 5 * MS, FUTEX, |_| {});
        });
        assert!(!names(&locked).contains(&"pool-exhausted".to_string()));
    }

    #[test]
    fn one_request_at_a_time_waits_in_no_line() {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        let mut idle = fixture.now;
        for _ in 0..20 {
            let start = fixture.now;
            crate::fixture::request(&mut fixture, CLIENT, 1, 5 * MS, &mut idle);
            let end = fixture.now;
            fixture.now = start + 20 * US;
            fixture.waits(SERVER, 4 * MS, NANOSLEEP, |_| {});
            fixture.now = end;
        }
        let mut recording = fixture.end();
        recording.calls.iter_mut().for_each(|call| call.blocked = call.blocked.min(Nanos(call.duration.0)));
        assert!(!names(&recording).contains(&"pool-exhausted".to_string()));
    }
}
