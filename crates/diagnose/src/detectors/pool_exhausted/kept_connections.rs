//! Requests that have arrived and lie unread while whoever reads them later waits for the next request of another client, whose
//! connection it keeps: a worker for each connection, and fewer workers than connections.

use super::{LEAST_REQUESTS, LEAST_SHARE, RARE, longest_line};
use crate::analysis::{Analysis, PotentialSaving, ender};
use crate::detectors::{Found, costly_call, median, rows};
use crate::exchange::Exchange;
use crate::in_hand;
use crate::spans;
use crate::syscall;
use crate::threads::{Cursor, Moment, State};
use crate::waits::{most_at_a_time, unread};
use case::Nanos;
use std::collections::{BTreeMap, BTreeSet};

/// The requests that lay unread before workers that others keep.
#[derive(Default)]
struct Line {
    /// How many requests there were, unread ones or not.
    requests: usize,
    /// From when to when each lay unread.
    queued: Vec<(u64, u64)>,
    /// How much of that the workers waited for other clients.
    waited: u64,
    workers: BTreeSet<u32>,
    /// What they waited in: rows of calls, and for how long.
    calls: BTreeMap<usize, u64>,
}

/// The line in which most time is spent.
pub(super) fn detect(analysis: &Analysis) -> Option<Found> {
    longest_line(analysis, |asked, peer| found(analysis, &line(analysis, asked), peer))
}

fn line(analysis: &Analysis, exchanges: &[&Exchange]) -> Line {
    let mut line = Line::default();
    let mut cursors = BTreeMap::new();
    let in_hand = in_hand::by_reader(analysis, exchanges.iter().copied());
    for &exchange in exchanges {
        line.requests += 1;
        let Some((arrived, read)) = unread(analysis, exchange) else { continue };
        let Some(thread) = analysis.threads.slot(read.tid) else { continue };
        let of_others = in_hand.get(&read.tid).map_or(&[][..], Vec::as_slice);
        let cursor = cursors.entry(thread).or_insert_with(Cursor::default);
        let mut waited = 0;
        analysis.threads.walk(thread, arrived, read.start.0, cursor, &mut |moment| {
            let Some(row) = moment.call.filter(|&row| is_kept(analysis, &moment, row, read.connection)) else { return };
            // A client that is slow to send or to take something is another matter.
            let busy = spans::length(spans::within(of_others, moment.start, moment.end));
            let length = (moment.end - moment.start).saturating_sub(busy);
            waited += length;
            *line.calls.entry(row).or_default() += length;
        });
        if waited > 0 {
            line.queued.push((arrived, read.start.0));
            line.waited += waited;
            line.workers.insert(read.tid);
        }
    }
    line
}

/// Whether a thread is blocked until something comes from another client alone.
fn is_kept(analysis: &Analysis, moment: &Moment, row: usize, here: u32) -> bool {
    moment.state == State::Blocked && ender::is_for_one_client(analysis, row).is_some_and(|other| other != here)
}

/// `peer` is the server before which they wait, where that is not the one that the clients ask.
fn found(analysis: &Analysis, line: &Line, peer: Option<&str>) -> Option<Found> {
    let Line { queued, calls, waited, .. } = line;
    let whole = analysis.exchange_wall();
    if queued.len() < LEAST_REQUESTS.max(line.requests / RARE) || (*waited as f64) < LEAST_SHARE * whole as f64 {
        return None;
    }
    let longest = calls.iter().max_by_key(|(_, length)| **length).map(|(&row, _)| analysis.call(row))?;
    let place = costly_call(analysis, calls.iter().map(|(&row, &length)| (row, length)));
    let most = most_at_a_time(queued.iter().copied());
    let usual = Nanos(median(queued.iter().map(|(from, to)| to - from).collect()));
    let whose = peer.map_or_else(|| "the server's".to_string(), |peer| format!("{peer}'s"));
    let (workers, threads) = match line.workers.len() {
        1 => (format!("{whose} only worker, held by"), "the thread that reads them".to_string()),
        several => {
            (format!("{whose} {several} workers, each held by"), format!("the {several} threads that read them"))
        }
    };
    let requests = analysis.exchanges.len().max(1) as u64;
    let (part, each) = (Nanos(waited / requests), Nanos(whole / requests));
    let asked = peer.map_or_else(String::new, |peer| format!(" that {peer} was asked"));
    let what = format!("Requests wait in line for {workers} another client's idle connection");
    Some(Found {
        title: format!("{what}: {part} of every {each} request{}", place.in_words()),
        what,
        mechanism: vec![
            format!(
                "{} of {} requests{asked} had arrived and waited unread, half of them for at least {usual}, up to {most} at a time.",
                queued.len(),
                line.requests
            ),
            format!(
                "Meanwhile {threads} had nothing to do: each waited in {} for the next request on one connection, that of another \
                 client, and for nothing else{}.",
                syscall::name(longest.number),
                gave_up(analysis, calls)
            ),
        ],
        saving: PotentialSaving { wall: *waited, affected: queued.len() as u64, ..PotentialSaving::default() },
        place,
        remedy: "Let idle connections wait where they hold no worker: in a server that watches all of them at once (Apache: the \
                 event MPM), or in a proxy before it. Else allow as many workers as connections are kept, or keep them for a shorter \
                 time (Apache: KeepAliveTimeout)."
            .to_string(),
        rows: rows("calls", calls.keys().copied()),
        stalls: queued.clone(),
        ..Found::default()
    })
}

/// How often the server gave up a client that it waited for, and after which time at most.
fn gave_up(analysis: &Analysis, calls: &BTreeMap<usize, u64>) -> String {
    let given_up = calls.keys().map(|&row| analysis.call(row)).filter(|call| ender::is_timed_out(call));
    let lengths: Vec<u64> = given_up.map(|call| call.duration.0).collect();
    lengths.iter().max().map_or_else(String::new, |&longest| {
        format!(
            ". {} of these {} waits ended by a time-out, after up to {}",
            lengths.len(),
            calls.len(),
            Nanos(longest)
        )
    })
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::tests::answer;
    use case::{Finding, Recording};

    const POLL: u16 = 7;
    /// How long a client thinks before it asks again.
    const PAUSE: u64 = 100 * MS;

    /// What the server's only thread does once it has answered a client's request, until it reads that of another.
    #[derive(Clone, Copy, PartialEq)]
    enum Then {
        /// It polls that client's connection, which then times out.
        Polls,
        /// It reads from it, until the client closes it.
        Reads,
        /// It polls all connections, and another client has asked nothing yet.
        PollsAll,
        /// It reads the rest of a request.
        ReadsOn,
    }

    /// Two clients in turn, each on a connection of its own; the other one has just asked when the server has answered one.
    fn visits(then: Then) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        fixture.process(CLIENT + 1, "client");
        fixture.connect(2, CLIENT + 1);
        let mut asked = fixture.now;
        ask(&mut fixture, 0, asked);
        for round in 0..12 {
            let (client, other) = (round % 2, (round + 1) % 2);
            fixture.now = asked.max(fixture.now) + if then == Then::PollsAll { 0 } else { 12 * US };
            fixture.moves(SERVER, client + 1001, READ, 200);
            if then != Then::ReadsOn {
                fixture.now += 100 * US;
                fixture.moves(SERVER, client + 1001, WRITE, 1000);
                fixture.travels(fixture.now - 2 * US, client + 1001, client + 1, 1000);
            }
            let served = fixture.now;
            let next = if then == Then::PollsAll { served + PAUSE - 20 * US } else { served };
            ask(&mut fixture, other, next);
            fixture.now = served;
            match then {
                Then::Polls => fixture.waits(SERVER, PAUSE, POLL, |call| {
                    (call.connection, call.argument_1) = (client + 1001, 1);
                }),
                Then::Reads => fixture.waits(SERVER, PAUSE, READ, |call| call.connection = client + 1001),
                Then::PollsAll => fixture.waits(SERVER, PAUSE, POLL, |call| (call.argument_1, call.result) = (3, 1)),
                Then::ReadsOn => fixture.waits_for(SERVER, client + 1001, PAUSE, 100),
            };
            if then == Then::ReadsOn {
                fixture.moves(SERVER, client + 1001, WRITE, 1000);
                fixture.travels(fixture.now - 2 * US, client + 1001, client + 1, 1000);
            }
            let end = fixture.now;
            let answered = if then == Then::ReadsOn { end } else { served };
            fixture.now = asked + 5 * US;
            fixture.waits_for(CLIENT + client, client + 1, answered + 12 * US - fixture.now, 1000);
            fixture.now = end;
            asked = next;
        }
        fixture.end()
    }

    fn ask(fixture: &mut Fixture, client: u32, at: u64) {
        fixture.now = at;
        fixture.moves(CLIENT + client, client + 1, WRITE, 200);
        fixture.travels(at + 3 * US, client + 1, client + 1001, 200);
    }

    fn found(then: Then) -> Option<Finding> {
        answer(&visits(then)).findings.into_iter().find(|finding| finding.name == "pool-exhausted")
    }

    #[test]
    fn a_worker_that_waits_for_the_next_request_of_another_client_keeps_requests_waiting() {
        for then in [Then::Polls, Then::Reads] {
            let finding = found(then).expect("it is found");
            assert!(finding.cost.share_of_wall > 0.9, "{finding:#?}");
            assert!(finding.title.contains("held by another client's idle connection"), "{}", finding.title);
            assert!(finding.mechanism[0].starts_with("11 of 13 requests"), "{:?}", finding.mechanism);
            let gives_up = finding.mechanism[1].contains("ended by a time-out, after up to 100 ms");
            assert_eq!(gives_up, then == Then::Polls, "{:?}", finding.mechanism);
        }
    }

    #[test]
    fn a_worker_that_waits_for_whoever_asks_next_or_for_the_rest_of_a_request_is_left_alone() {
        assert!(found(Then::PollsAll).is_none());
        assert!(found(Then::ReadsOn).is_none());
    }
}
