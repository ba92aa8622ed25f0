//! P45: requests are given up before they are answered, or fail, and are sent again.

mod backs_off;

use super::{Found, costly_call, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::exchange::Exchange;
use crate::number;
use crate::syscall;
use crate::threads::call_end;
use case::tables::{direction, flags};
use case::{Nanos, Share};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

detector! {
    /// # retry-storm
    ///
    /// ## What it is
    /// A client gives a request up after a fixed time without an answer and sends it again. The server goes on with what
    /// nobody waits for any more, and gets the same work once more: the slower it is, the more it has to do. Or requests fail, and the
    /// client sleeps each time before it sends them again.
    ///
    /// ## Evidence
    /// Connections that a client closes without an answer, three or more to one server, after the same time each; and after each
    /// a request of the same length to the same server on another connection. Or three or more calls on connections to one server that
    /// fail (reset, refused, no connection), each with a sleep behind it before anything is asked again, for 5 % of the run or more.
    ///
    /// ## What proves it
    /// Longer timeouts (`long-timeouts`): requests are answered the first time, and the server has less to do. Where requests fail,
    /// shorter sleeps (`short-sleeps`): the time that they took is gone, and the failures stay.
    ///
    /// ## Remedy
    /// Set the timeout above the slowest answer that is worth waiting for, space retries out (exponential back-off with jitter),
    /// limit them, and let the server drop work whose client has gone. Then look at what makes the server slow. Where requests fail,
    /// find out why, and send what can be repeated again at once the first time.
    ///
    /// ## Not to be confused with
    /// One timeout or failure now and then; a client that stops as it ends; sleeps between requests that do not fail.
    "P45" "retry-storm",
    on_the_wire: true,
    needs: &[Tcp, Requests]
}

/// Fewer are an incident.
const REPEATED: usize = 3;
/// Timeouts are alike where they end within this part of the usual one: timers are late by a slice of the scheduler.
const ALIKE: f64 = 0.1;
/// Of all that were given up so many must have waited equally long: other ends (a user who leaves) come at any time.
const MOSTLY: f64 = 0.7;
/// A retry comes within this many timeouts: back-off doubles the time a few times.
const SOON: u64 = 10;

/// A request that was given up, and the next one like it.
struct GivenUp<'a> {
    exchange: &'a Exchange,
    remote: String,
    retry: u64,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let found = [given_up(analysis), backs_off::detect(analysis)];
    found.into_iter().flatten().max_by_key(|found| found.saving.wall.saturating_add(found.saving.outside))
}

/// Requests that are given up after the same time each.
fn given_up(analysis: &Analysis) -> Option<Found> {
    let mut by_server: BTreeMap<String, Vec<GivenUp>> = BTreeMap::new();
    for exchange in analysis.exchanges.iter().filter(|exchange| is_given_up(analysis, exchange)) {
        if let Some(retry) = retry(analysis, exchange) {
            let remote = analysis.connections.remote(exchange.connection);
            by_server.entry(remote.clone()).or_default().push(GivenUp { exchange, remote, retry });
        }
    }
    let found = by_server.into_values().filter_map(|given_up| alike(&given_up).then_some(given_up));
    let given_up = found.max_by_key(|given_up| given_up.iter().map(|one| one.exchange.length()).sum::<u64>())?;
    Some(found_of(analysis, &given_up))
}

/// Whether most were given up after the same time.
fn alike(given_up: &[GivenUp]) -> bool {
    let usual = usual_length(given_up) as f64;
    let close = given_up.iter().filter(|one| (one.exchange.length() as f64 - usual).abs() <= ALIKE * usual).count();
    close >= REPEATED && close as f64 >= MOSTLY * given_up.len() as f64
}

fn usual_length(given_up: &[GivenUp]) -> u64 {
    median(given_up.iter().map(|one| one.exchange.length()).collect())
}

/// Whether a client closed the connection while it waited for the answer, and not because the other end had.
fn is_given_up(analysis: &Analysis, exchange: &Exchange) -> bool {
    let closed = analysis.connections.row(exchange.connection).closed;
    let ended = |way: u8, bits: u8| {
        let segments = analysis.connections.segments(exchange.connection).iter();
        segments.filter(|row| row.direction == way && row.flags & bits != 0).any(|row| row.time <= closed)
    };
    let ours = exchange.end_seen == End::Client && !exchange.answered && closed < analysis.recording.manifest.end;
    ours && !ended(direction::IN, flags::FIN | flags::RST)
}

/// When the same was asked of the same server again, on another connection: a request of the same length, soon after.
fn retry(analysis: &Analysis, exchange: &Exchange) -> Option<u64> {
    let remote = analysis.connections.row(exchange.connection);
    let length = request_bytes(analysis, exchange)?;
    let until = exchange.end.saturating_add(exchange.length().saturating_mul(SOON));
    let first = analysis.exchanges.partition_point(|other| other.start < exchange.end);
    let later = analysis.exchanges[first..].iter().take_while(|other| other.start <= until);
    let same = |other: &&Exchange| {
        let row = analysis.connections.row(other.connection);
        other.connection != exchange.connection
            && (&row.remote_address, row.remote_port) == (&remote.remote_address, remote.remote_port)
            && request_bytes(analysis, other) == Some(length)
    };
    later.filter(same).map(|other| other.start).next()
}

/// How many bytes a client wrote before it waited for the answer.
fn request_bytes(analysis: &Analysis, exchange: &Exchange) -> Option<u64> {
    let calls = analysis.transfers(exchange).iter().map(|&row| analysis.call(row as usize));
    let written = calls.take_while(|call| syscall::is_write(call.number)).map(|call| call.result.max(0) as u64).sum();
    (written > 0).then_some(written)
}

fn found_of(analysis: &Analysis, given_up: &[GivenUp]) -> Found {
    let usual = Nanos(usual_length(given_up));
    let wall: u64 = given_up.iter().map(|one| one.exchange.length()).sum();
    let pauses = given_up.iter().map(|one| one.retry.saturating_sub(one.exchange.end)).collect();
    let count = analysis.exchanges.len().max(1);
    let waits: Vec<(usize, u64)> = given_up.iter().filter_map(|one| last_wait(analysis, one.exchange)).collect();
    let place = costly_call(analysis, waits.iter().copied());
    let what = format!("Requests are given up after {usual} and sent again");
    let share = Share(given_up.len() as f64 / count as f64);
    let mut mechanism = vec![format!(
        "{} of {} requests ({share}) to {} were given up without an answer, most of them after {usual}; the same was asked again \
         {} later.",
        number::count(given_up.len() as u64),
        number::count(count as u64),
        given_up[0].remote,
        Nanos(median(pauses)),
    )];
    let late = last_writes(analysis, given_up);
    let in_vain = given_up.iter().filter(|one| is_answered_in_vain(analysis, one.exchange, &late)).count() as u64;
    if in_vain > 0 {
        mechanism.push(format!("The server answered {} of them after nobody waited any more.", number::count(in_vain)));
    }
    Found {
        title: format!(
            "{what}: {} of every {} request{}",
            Nanos(wall / count as u64),
            Nanos(analysis.exchange_wall() / count as u64),
            place.in_words(),
        ),
        what,
        mechanism,
        saving: PotentialSaving { wall, affected: given_up.len() as u64, ..PotentialSaving::default() },
        place,
        remedy: "Set the timeout above the slowest answer worth waiting for, retry with exponential back-off and a limit, and \
                 then find out what makes the server slow."
            .to_string(),
        rows: rows("calls", waits.into_iter().map(|(row, _)| row)),
        stalls: given_up.iter().map(|one| (one.exchange.start, one.exchange.end)).collect(),
        ..Found::default()
    }
}

/// The call in which the thread that had asked waited last, and for how long.
fn last_wait(analysis: &Analysis, exchange: &Exchange) -> Option<(usize, u64)> {
    let asked = analysis.call(*analysis.transfers(exchange).first()? as usize);
    let thread = analysis.threads.get(asked.tid)?;
    let within = |row: &usize| {
        let call = analysis.call(*row);
        call_end(call) <= exchange.end && call.blocked.0 > 0
    };
    let calls = &analysis.recording.calls[thread.calls.clone()];
    let last = thread.calls.start + calls.partition_point(|call| call.start.0 <= exchange.end);
    let mut before = (thread.calls.start..last).rev().take_while(|&row| analysis.call(row).start.0 >= exchange.start);
    before.find(within).map(|row| (row, analysis.call(row).blocked.0))
}

/// When the servers' ends of these connections last wrote, whether or not it went well, by connection.
fn last_writes(analysis: &Analysis, given_up: &[GivenUp]) -> FxHashMap<u32, u64> {
    let slots = given_up.iter().filter_map(|one| analysis.server_slot(one.exchange));
    let mut last: FxHashMap<u32, u64> = slots.map(|slot| (analysis.connections.row(slot).id, 0)).collect();
    for (_, call) in analysis.calls_of(syscall::is_write) {
        if let Some(time) = last.get_mut(&call.connection) {
            *time = (*time).max(call.start.0);
        }
    }
    last
}

/// Whether the server wrote an answer after the client had closed.
fn is_answered_in_vain(analysis: &Analysis, exchange: &Exchange, last_writes: &FxHashMap<u32, u64>) -> bool {
    let slot = analysis.server_slot(exchange);
    let last = slot.and_then(|slot| last_writes.get(&analysis.connections.row(slot).id));
    last.is_some_and(|&time| time >= exchange.end)
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, READ, SERVER, US, WRITE, request};
    use crate::tests::{answer, names};
    use case::Recording;

    const POLL: u16 = 7;

    /// A client that gives up after each of these times and asks again, in so many bytes on each connection; after the last of
    /// them it is answered.
    fn asked_again(times: &[u64], length: impl Fn(u32) -> i64) -> Recording {
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        let mut id = 1;
        for _ in 0..5 {
            for &time in times {
                fixture.connect(id, CLIENT);
                given_up(&mut fixture, id, time, length(id));
                id += 1;
            }
            fixture.connect(id, CLIENT);
            idle = idle.max(fixture.now - US);
            request(&mut fixture, CLIENT, id, 50 * US, &mut idle);
            fixture.close(id);
            id += 1;
        }
        fixture.end()
    }

    fn given_up(fixture: &mut Fixture, id: u32, time: u64, bytes: i64) {
        let start = fixture.now;
        fixture.moves(CLIENT, id, WRITE, bytes);
        fixture.travels(start + 3 * US, id, id + 1000, bytes as u32);
        fixture.waits(CLIENT, time, POLL, |call| call.result = 0);
        fixture.close(id);
        let end = fixture.now;
        fixture.now = start + 10 * US;
        fixture.moves(SERVER, id + 1000, READ, bytes);
        fixture.now = end + 10 * MS;
        fixture.does(SERVER, US, WRITE, |call| (call.connection, call.result) = (id + 1000, -32));
        fixture.now = end + 11 * MS;
    }

    #[test]
    fn requests_that_are_given_up_after_the_same_time_and_sent_again_are_found() {
        let recording = asked_again(&[100 * MS, 101 * MS], |_| 200);
        assert_eq!(names(&recording), ["retry-storm"]);
        let answer = answer(&recording);
        let finding = &answer.findings[0];
        assert!((66 * MS..68 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
        assert!(finding.mechanism[0].starts_with("10 of 15 requests (67 %)"), "{:?}", finding.mechanism);
        assert_eq!(finding.mechanism[1], "The server answered 10 of them after nobody waited any more.");
    }

    #[test]
    fn requests_that_end_at_any_time_are_left_alone() {
        assert_eq!(names(&asked_again(&[20 * MS, 100 * MS, 300 * MS], |_| 200)), Vec::<String>::new());
    }

    #[test]
    fn other_requests_afterwards_are_no_retries() {
        let is_found = |recording: &Recording| names(recording).contains(&"retry-storm".to_string());
        assert!(!is_found(&asked_again(&[100 * MS], |id| 300 + i64::from(id))));
    }
}
