//! P34: the end of an answer is told by time or by closing, not by its length.

use super::{Found, costly_call, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::exchange::Exchange;
use crate::number;
use crate::syscall;
use crate::threads::call_end;
use case::{Nanos, Share};

detector! {
    /// # close-wait-framing
    ///
    /// ## What it is
    /// A client has the whole answer and does not know it: the answer says neither how long it is nor where it ends, so that the
    /// client waits until the server closes the connection, or until its own timeout. The server closes late, often only as its
    /// timeout for idle connections ends.
    ///
    /// ## Evidence
    /// After the last byte of an answer the thread that asked keeps waiting, and nothing comes but the end of the connection, or the
    /// time runs out and it closes, or it waited in vain for more on this one connection, though the answer had said how long it is.
    /// At once after that it goes on. Three times or more, for a fifth of the time that requests and these waits
    /// take.
    ///
    /// ## What proves it
    /// Shorter timeouts, the server's and the client's (`short-timeouts`): the wait gets shorter with them, since nothing else ends it. The same
    /// answer with its length (Content-Length, chunks) has no such wait, and nothing outside the programs can add that.
    ///
    /// ## Remedy
    /// The server should send Content-Length or use chunked encoding, or close the connection as soon as it has written the
    /// answer. A client should read as many bytes as the answer says and no more.
    ///
    /// ## Not to be confused with
    /// A connection that is kept for the next request and closed by the server in the meantime (nobody waits for that), though a
    /// thread of its own may watch it (client-per-request); an answer that comes in parts.
    "P34" "close-wait-framing",
    needs: &[Tcp, Requests]
}

/// Fewer waits are chance.
const REPEATED: usize = 3;
/// What takes less of the time than this is not what makes requests slow.
const LEAST_SHARE: f64 = 0.2;
/// A connection that is closed at once is closed within this time of the last byte.
const AT_ONCE: u64 = 2_000_000;
/// Whoever waits for one thing makes few calls meanwhile; an event loop makes any number, for others.
const MOST_CALLS: usize = 100;
/// How soon a thread that waited for the end goes on: its next request, or its end.
const GOES_ON: u64 = 20_000_000;

/// A wait for the end of an answer.
struct Wait<'a> {
    exchange: &'a Exchange,
    /// The call that ended it: it read the end of the connection, or ran out of time.
    call: usize,
    length: u64,
    /// Whether the connection ended, rather than the client's patience.
    is_closed: bool,
    /// What the head of the answer said of its length; none where it is not seen.
    head: Option<i64>,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let of_clients = analysis.exchanges.iter().filter(|exchange| exchange.end_seen == End::Client && exchange.answered);
    let waits: Vec<Wait> = of_clients.filter_map(|exchange| wait(analysis, exchange)).collect();
    let outside: u64 = waits.iter().map(|wait| wait.length).sum();
    let whole = analysis.exchange_wall().saturating_add(outside);
    if waits.len() < REPEATED || (outside as f64) < LEAST_SHARE * whole as f64 {
        return None;
    }
    Some(found(analysis, &waits, outside))
}

/// The wait after an exchange, where its thread did nothing else before it went on.
fn wait<'a>(analysis: &Analysis, exchange: &'a Exchange) -> Option<Wait<'a>> {
    let connection = analysis.connections.row(exchange.connection);
    let last = analysis.transfers(exchange).last().map(|&row| row as usize)?;
    let thread = analysis.threads.get(analysis.call(last).tid)?;
    let closing = analysis.connections.closing(exchange.connection);
    let head = analysis.response_head(exchange).map(|row| row.content_length);
    let mut blocked = 0u64;
    let mut ended: Option<(usize, bool)> = None;
    let mut is_kept = false;
    for row in (last + 1..thread.calls.end).take(MOST_CALLS) {
        let call = analysis.call(row);
        // What it waits for once it has closed the connection is something else.
        if call.start.0 >= closing {
            break;
        }
        let is_poll = syscall::is_poll(call.number);
        let is_read = syscall::is_read(call.number) && call.connection == connection.id;
        if is_poll || is_read {
            blocked = blocked.saturating_add(call.blocked.0);
        } else if call.blocked.0 > AT_ONCE || (call.connection != 0 && syscall::is_write(call.number)) {
            break;
        }
        if is_read && call.result == 0 {
            ended = Some((row, true));
            break;
        }
        // Whoever gives up closes the connection then; a time that runs out may be a pause, and the connection kept.
        let gives_up = (call_end(call)..call_end(call).saturating_add(GOES_ON)).contains(&closing);
        let is_late = call.blocked.0 > AT_ONCE && (call.result == 0 || call.result == syscall::EAGAIN);
        // Who waits for more of a whole answer, and on nothing else, makes no pause.
        let waits_in_vain = || {
            call.connection == connection.id
                && head.is_some_and(|length| length >= 0)
                && next_by(analysis, exchange, thread.tid, call_end(call))
                    .is_some_and(|next| next.start >= call_end(call))
        };
        if (is_read || is_poll) && is_late && (gives_up || waits_in_vain()) {
            ended = Some((row, false));
            is_kept = !gives_up;
            break;
        }
    }
    let (call, is_closed) = ended?;
    let end = call_end(analysis.call(call));
    let length = end.saturating_sub(exchange.end);
    let waited = length >= AT_ONCE
        && blocked.saturating_mul(2) >= length
        && (is_kept || goes_on(analysis, exchange, thread.tid, thread.end, end));
    waited.then_some(Wait { exchange, call, length, is_closed, head })
}

/// What a thread asks for next after an exchange, where that is soon after a time.
fn next_by<'a>(analysis: &'a Analysis, exchange: &Exchange, tid: u32, end: u64) -> Option<&'a Exchange> {
    let soon = end.saturating_add(GOES_ON);
    let first = analysis.exchanges.partition_point(|other| other.start < exchange.end);
    let mut later = analysis.exchanges[first..].iter().take_while(|other| other.start <= soon);
    later.find(|other| {
        let row = analysis.transfers(other).first();
        row.is_some_and(|&row| analysis.call(row as usize).tid == tid)
    })
}

/// Whether a thread asks for the next, elsewhere, or ends, soon after a time.
fn goes_on(analysis: &Analysis, exchange: &Exchange, tid: u32, thread_end: u64, end: u64) -> bool {
    if let Some(next) = next_by(analysis, exchange, tid, end) {
        return next.start >= end && next.connection != exchange.connection;
    }
    let soon = end.saturating_add(GOES_ON);
    let first = analysis.exchanges.partition_point(|other| other.start < exchange.end);
    // A program that asks for the next meanwhile lets a thread watch an idle connection, and waits for nothing.
    let pid = |other: &Exchange| analysis.connections.row(other.connection).pid;
    let mut meanwhile = analysis.exchanges[first..].iter().take_while(|other| other.start < end);
    let asks_meanwhile = meanwhile.any(|other| pid(other) == pid(exchange) && other.end > exchange.end);
    thread_end <= soon && thread_end < analysis.recording.manifest.end.0 && !asks_meanwhile
}

fn found(analysis: &Analysis, waits: &[Wait], outside: u64) -> Found {
    let count = analysis.exchanges.len().max(1) as u64;
    let usual = Nanos(median(waits.iter().map(|wait| wait.length).collect()));
    let closed = waits.iter().filter(|wait| wait.is_closed).count();
    let has_length = waits.iter().filter(|wait| wait.head.is_some_and(|length| length >= 0)).count();
    let until = if closed * 2 >= waits.len() { "until the server closes the connection" } else { "until it gives up" };
    let place = costly_call(analysis, waits.iter().map(|wait| (wait.call, wait.length)));
    let what = format!("A client has the whole answer and keeps waiting {until}");
    let share = Share(waits.len() as f64 / count as f64);
    let mut mechanism = vec![format!(
        "After {} of {} answers ({share}) it kept waiting, half of the times for {usual} or more, and nothing came.",
        number::count(waits.len() as u64),
        number::count(count),
    )];
    let seen = waits.iter().filter(|wait| wait.head.is_some()).count();
    if seen > 0 {
        mechanism.push(if has_length * 2 >= seen {
            "The answer had said how long it is.".to_string()
        } else {
            "The answer did not say how long it is: it had no Content-Length.".to_string()
        });
    }
    let remedy = if seen > 0 && has_length * 2 >= seen {
        "Read as many bytes as the answer says (Content-Length), and no more."
    } else {
        "Send Content-Length or chunks, or close the connection as soon as the answer is written."
    };
    Found {
        title: format!("{what}: {} per request{}", Nanos(outside / count), place.in_words()),
        what,
        mechanism,
        saving: PotentialSaving { wall: 0, outside, cpu: 0, affected: waits.len() as u64 },
        place,
        remedy: remedy.to_string(),
        rows: rows("calls", waits.iter().map(|wait| wait.call)),
        stalls: waits.iter().map(|wait| (wait.exchange.end, wait.exchange.end + wait.length)).collect(),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, request};
    use crate::tests::{answer, names};
    use case::tables::{HttpMessage, Thread, direction};
    use case::{Nanos, Recording};

    /// Ten requests on a connection each, and what comes after each answer, before the connection is closed.
    fn each(after: impl Fn(&mut Fixture, u32)) -> Recording {
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        for id in 1..=10 {
            fixture.connect(id, CLIENT);
            idle = idle.max(fixture.now - US);
            request(&mut fixture, CLIENT, id, 100 * US, &mut idle);
            after(&mut fixture, id);
            if !fixture.is_closed(id) {
                fixture.close(id);
            }
            fixture.now += 50 * US;
        }
        fixture.end()
    }

    fn until_closed(fixture: &mut Fixture, id: u32) {
        fixture.waits(CLIENT, 200 * MS, READ, |call| (call.connection, call.result) = (id, 0));
    }

    #[test]
    fn waits_for_the_end_of_the_connection_are_found() {
        let recording = each(until_closed);
        let answer = answer(&recording);
        let finding = answer.findings.iter().find(|finding| finding.name == "close-wait-framing").expect("found");
        assert!((170 * MS..210 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
        assert!(finding.title.contains("until the server closes"), "{}", finding.title);
    }

    #[test]
    fn a_client_that_gives_up_and_closes_is_found_as_well() {
        let recording = each(|fixture, _| {
            fixture.waits(CLIENT, 200 * MS, EPOLL_WAIT, |_| ());
        });
        assert!(names(&recording).contains(&"close-wait-framing".to_string()));
    }

    /// Ten requests on one connection, their answers' length said or not, after each of which the client waits in vain for more
    /// from so many connections.
    fn in_vain(content_length: i64, connections: u64) -> Recording {
        const POLL: u16 = 7;
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        fixture.connect(1, CLIENT);
        for _ in 0..10 {
            idle = idle.max(fixture.now - US);
            let time = Nanos(fixture.now + 30 * US);
            request(&mut fixture, CLIENT, 1, 100 * US, &mut idle);
            let head = HttpMessage { time, connection: 1, direction: direction::IN, ..HttpMessage::default() };
            fixture.recording.http_messages.push(HttpMessage { status: 200, content_length, ..head });
            let polled = u32::from(connections == 1);
            fixture.waits(CLIENT, 200 * MS, POLL, |call| (call.connection, call.argument_1) = (polled, connections));
        }
        fixture.end()
    }

    #[test]
    fn a_client_that_waits_in_vain_for_more_of_a_whole_answer_is_found() {
        let is_found = |recording: &Recording| names(recording).contains(&"close-wait-framing".to_string());
        let answer = answer(&in_vain(100, 1));
        let finding = answer.findings.iter().find(|finding| finding.name == "close-wait-framing").expect("found");
        assert!(finding.title.contains("until it gives up: "), "{}", finding.title);
        // An answer without a length may go on; who waits for several waits for others.
        assert!(!is_found(&in_vain(-1, 1)) && !is_found(&in_vain(100, 2)));
    }

    /// Ten requests, each on a connection and by a thread of its own that then watches the idle connection until it is closed
    /// 200 ms later, and ends; `gap` is the time from an answer to the next request.
    fn watched_by_threads(gap: u64) -> Recording {
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        for id in 1..=10 {
            let tid = CLIENT + id;
            let start = Nanos(fixture.now);
            fixture.connect(id, tid);
            fixture.recording.connections.iter_mut().filter(|row| row.id == id).for_each(|row| row.pid = CLIENT);
            idle = idle.max(fixture.now - US);
            request(&mut fixture, tid, id, 100 * US, &mut idle);
            let answered = fixture.now;
            fixture.waits(tid, 200 * MS, READ, |call| (call.connection, call.result) = (id, 0));
            fixture.close(id);
            let end = Nanos(fixture.now + US);
            fixture.recording.threads.push(Thread { tid, pid: CLIENT, start, end, ..Thread::default() });
            fixture.now = answered + gap;
        }
        fixture.now += 300 * MS;
        let ends: Vec<(u32, Nanos)> = fixture.recording.threads.iter().map(|row| (row.tid, row.end)).collect();
        let mut recording = fixture.end();
        for row in recording.threads.iter_mut().filter(|row| row.tid > CLIENT && row.tid < CLIENT + 50) {
            row.end = ends.iter().find(|(tid, _)| *tid == row.tid).expect("a thread").1;
        }
        recording.calls.iter_mut().filter(|call| call.tid < SERVER).for_each(|call| call.pid = CLIENT);
        recording
    }

    #[test]
    fn idle_connections_that_threads_of_their_own_watch_while_the_program_goes_on_are_left_alone() {
        let is_found = |recording: &Recording| names(recording).contains(&"close-wait-framing".to_string());
        assert!(is_found(&watched_by_threads(201 * MS)));
        assert!(!is_found(&watched_by_threads(MS)));
    }

    #[test]
    fn a_connection_that_is_closed_at_once_or_while_the_client_does_something_else_is_left_alone() {
        const NANOSLEEP: u16 = 35;
        let is_found = |recording: &Recording| names(recording).contains(&"close-wait-framing".to_string());
        assert!(!is_found(&each(|fixture, id| {
            fixture.waits(CLIENT, 100 * US, READ, |call| (call.connection, call.result) = (id, 0));
        })));
        assert!(!is_found(&each(|fixture, id| {
            fixture.waits(CLIENT, 200 * MS, NANOSLEEP, |_| ());
            fixture.does(CLIENT, US, READ, |call| (call.connection, call.result) = (id, 0));
        })));
        assert!(!is_found(&each(|fixture, id| {
            fixture.close(id);
            fixture.waits(CLIENT, 200 * MS, EPOLL_WAIT, |_| ());
        })));
        assert!(!is_found(&each(|fixture, id| {
            until_closed(fixture, id);
            fixture.waits(CLIENT, 100 * MS, NANOSLEEP, |_| ());
        })));
    }
}
