//! P28: a server limits the rate of requests.

use super::{Found, costly_call, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::exchange::Exchange;
use crate::number;
use crate::pauses::sleep_after;
use crate::syscall;
use crate::threads::call_end;
use case::tables::HttpMessage;
use case::{Nanos, Share};
use std::collections::BTreeMap;

detector! {
    /// # server-rate-limit
    ///
    /// ## What it is
    /// A server lets only so many requests through in a time: it turns the others away (status 429, or 503), or answers them
    /// later, one each so many milliseconds, though it has nothing else to do.
    ///
    /// ## Evidence
    /// Turned away: three or more answers with status 429, or with 503 in less time than the others take, and the time that they
    /// and the sleeps of the client after them take. Delayed: twenty or more requests in a row that the server had read before,
    /// several at a time, and whose answers leave at equal distances, each as a wait of its event loop ends by time.
    ///
    /// ## What proves it
    /// More clients or fewer at a time: the rate stays the same. Nothing outside the server switches its limit off.
    ///
    /// ## Remedy
    /// Raise the limit (nginx: limit_req rate and burst), ask less often or for more at a time, or use a key with a limit of its
    /// own. Heed Retry-After.
    ///
    /// ## Not to be confused with
    /// A server that is busy (it is on CPU, or its workers are blocked in something); one that pauses for each request by itself
    /// (then more at a time are answered at a time). A lock of a language's own (Go's mutex, asyncio's) that is held over a sleep
    /// looks the same from outside, and is one: only one request at a time gets through.
    "P28" "server-rate-limit"
}

/// Fewer refusals are an incident.
const REFUSED: usize = 3;
/// Fewer distances between answers do not show a pace.
const PACED: usize = 20;
/// The middle half of the distances lies within this part of their median: timers are late by less.
const EVEN: f64 = 0.1;
/// Shorter distances cannot be told from work.
const SHORTEST: u64 = 2_000_000;
/// So many of the answers must follow the end of a timer: now and then a request comes when one is due.
const MOSTLY: f64 = 0.8;

const TOO_MANY_REQUESTS: u16 = 429;
const UNAVAILABLE: u16 = 503;

fn detect(analysis: &Analysis) -> Option<Found> {
    turned_away(analysis).or_else(|| delayed(analysis))
}

/// An answer by which a client was turned away, and the sleep that followed.
struct Refusal<'a> {
    exchange: &'a Exchange,
    status: u16,
    /// The row of the call in which the client slept.
    sleep: Option<usize>,
    /// The row of the call that brought the answer.
    answer: usize,
}

fn turned_away(analysis: &Analysis) -> Option<Found> {
    let of_clients = analysis.exchanges.iter().filter(|exchange| exchange.end_seen == End::Client && exchange.answered);
    let answers: Vec<(&Exchange, &HttpMessage)> =
        of_clients.filter_map(|exchange| Some((exchange, analysis.response_head(exchange)?))).collect();
    let is_served = |status: u16| status < 400;
    let served: Vec<u64> =
        answers.iter().filter(|(_, row)| is_served(row.status)).map(|(exchange, _)| exchange.length()).collect();
    if served.is_empty() {
        return None;
    }
    let usual = median(served);
    let refuses = |(exchange, row): &&(&Exchange, &HttpMessage)| {
        row.status == TOO_MANY_REQUESTS || (row.status == UNAVAILABLE && exchange.length() <= usual)
    };
    let refused: Vec<Refusal> =
        answers.iter().filter(refuses).filter_map(|(exchange, row)| refusal(analysis, exchange, row)).collect();
    if refused.len() < REFUSED {
        return None;
    }
    let wall: u64 = refused.iter().map(|one| one.exchange.length()).sum();
    let slept = |one: &Refusal| one.sleep.map_or(0, |row| analysis.call(row).blocked.0);
    let outside: u64 = refused.iter().map(slept).sum();
    let count = analysis.exchanges.len().max(1) as u64;
    let place = match outside {
        0 => costly_call(analysis, refused.iter().map(|one| (one.answer, 1))),
        _ => costly_call(analysis, refused.iter().filter_map(|one| Some((one.sleep?, slept(one))))),
    };
    let remote = analysis.connections.remote(refused[0].exchange.connection);
    let status = refused[0].status;
    let what = format!("{remote} turns requests away with status {status}");
    let share = Share(refused.len() as f64 / answers.len().max(1) as f64);
    let mut mechanism = vec![format!(
        "{} of {} answers ({share}) have this status; half of the others took {} or longer.",
        number::count(refused.len() as u64),
        number::count(answers.len() as u64),
        Nanos(usual),
    )];
    if outside > 0 {
        let lengths = refused.iter().filter(|one| one.sleep.is_some()).map(slept).collect();
        mechanism
            .push(format!("After them the client slept, half of the times for {} or more.", Nanos(median(lengths))));
    }
    Some(Found {
        title: format!("{what}: {} per request{}", Nanos((wall + outside) / count), place.in_words()),
        what,
        mechanism,
        saving: PotentialSaving { wall, outside, cpu: 0, affected: refused.len() as u64 },
        place,
        remedy: "Raise the server's limit, ask less often or for more at a time, and heed Retry-After.".to_string(),
        rows: rows("calls", refused.iter().map(|one| one.sleep.unwrap_or(one.answer))),
        ..Found::default()
    })
}

fn refusal<'a>(analysis: &Analysis, exchange: &'a Exchange, message: &HttpMessage) -> Option<Refusal<'a>> {
    let mut transfers = analysis.transfers(exchange).iter().map(|&row| row as usize);
    let answer = transfers.rfind(|&row| !syscall::is_write(analysis.call(row).number))?;
    let sleep = sleep_after(analysis, message.tid, exchange.end);
    Some(Refusal { exchange, status: message.status, sleep, answer })
}

/// A request that its server had read before an event loop's wait ended by time, and answered then.
struct Held<'a> {
    exchange: &'a Exchange,
    /// When it had been read, and when its answer was written.
    read: u64,
    written: u64,
    /// The row of the wait that ended by time; none where something else came last.
    timer: Option<usize>,
}

fn delayed(analysis: &Analysis) -> Option<Found> {
    let mut by_server: BTreeMap<(u32, u16), Vec<Held>> = BTreeMap::new();
    for exchange in &analysis.exchanges {
        if let (Some(slot), Some(held)) = (analysis.server_slot(exchange), held(analysis, exchange)) {
            let row = analysis.connections.row(slot);
            by_server.entry((row.pid, row.local_port)).or_default().push(held);
        }
    }
    let mut paced = by_server.into_values().filter_map(|mut held| {
        held.sort_by_key(|one| one.written);
        let pace = pace(&held)?;
        Some((held, pace))
    });
    let (held, pace) = paced.next()?;
    let timed: Vec<&Held> = held.iter().filter(|one| one.timer.is_some()).collect();
    let wall: u64 = timed.iter().map(|one| one.written.saturating_sub(one.read)).sum();
    let count = analysis.exchanges.len().max(1) as u64;
    let place = costly_call(analysis, timed.iter().filter_map(|one| Some((one.timer?, 1))));
    let what = format!("The server lets one request through every {}, however many wait", Nanos(pace));
    Some(Found {
        title: format!(
            "{what}: {} of every {} request{}",
            Nanos(wall / count),
            Nanos(analysis.exchange_wall() / count),
            place.in_words()
        ),
        what,
        mechanism: vec![format!(
            "{} of {} answers left at equal distances, each as a timer of the event loop ended; half of their requests had been \
             read {} before or earlier.",
            number::count(timed.len() as u64),
            number::count(held.len() as u64),
            Nanos(median(timed.iter().map(|one| one.written.saturating_sub(one.read)).collect())),
        )],
        saving: PotentialSaving { wall, affected: timed.len() as u64, ..PotentialSaving::default() },
        place,
        remedy: "Raise the server's limit, ask less often, or ask for more at a time. If nobody set a limit, look for a lock that is \
                 held while its holder sleeps: it has the same effect."
            .to_string(),
        rows: rows("calls", timed.iter().filter_map(|one| one.timer)),
        stalls: timed.iter().map(|one| (one.exchange.start, one.exchange.end)).collect(),
        ..Found::default()
    })
}

/// How a server dealt with a request: what it read last, and the first that it wrote.
fn held<'a>(analysis: &Analysis, exchange: &'a Exchange) -> Option<Held<'a>> {
    let transfers = analysis.server_transfers(exchange);
    let calls = || transfers.iter().map(|&row| analysis.call(row as usize));
    let written = calls().find(|call| syscall::is_write(call.number))?;
    let read = calls().rfind(|call| syscall::is_read(call.number) && call.start < written.start)?;
    let thread = analysis.threads.get(written.tid)?;
    let end = thread.calls.start
        + analysis.recording.calls[thread.calls.clone()].partition_point(|call| call.start < written.start);
    let mut before = (thread.calls.start..end).rev().take_while(|&row| analysis.call(row).start.0 >= call_end(read));
    let waited = before.find(|&row| analysis.call(row).blocked.0 > 0);
    let by_time = |row: &usize| syscall::is_poll(analysis.call(*row).number) && analysis.call(*row).result == 0;
    Some(Held { exchange, read: call_end(read), written: written.start.0, timer: waited.filter(by_time) })
}

/// The distance at which answers leave while several requests wait, where there is one.
fn pace(held: &[Held]) -> Option<u64> {
    let timed = held.iter().filter(|one| one.timer.is_some()).count();
    if timed < PACED || (timed as f64) < MOSTLY * held.len() as f64 {
        return None;
    }
    // Where one request waits at a time, a pause of the server for each looks the same.
    let mut gaps: Vec<u64> = Vec::new();
    for (before, one) in held.iter().zip(&held[1..]) {
        if one.timer.is_some() && one.read < before.written {
            gaps.push(one.written - before.written);
        }
    }
    gaps.sort_unstable();
    let of = |part: usize| gaps[gaps.len() * part / 4];
    let is_even = gaps.len() >= PACED && (of(3) - of(1)) as f64 <= EVEN * of(2) as f64;
    (is_even && of(2) >= SHORTEST).then(|| of(2))
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE, request};
    use crate::tests::{answer, names};
    use case::Recording;
    use case::tables::{HttpMessage, direction};

    const NANOSLEEP: u16 = 35;

    /// Thirty requests, each second of which is answered with a status; after such an answer the client sleeps.
    fn every_second(status: u16, think: u64, sleep: u64) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        let mut idle = fixture.now;
        for number in 0..30 {
            let refused = number % 2 == 1;
            request(&mut fixture, CLIENT, 1, if refused { think } else { MS }, &mut idle);
            let status = if refused { status } else { 200 };
            let time = fixture.recording.calls.last().expect("the answer").start;
            let head = HttpMessage {
                time,
                connection: 1,
                tid: CLIENT,
                direction: direction::IN,
                status,
                ..HttpMessage::default()
            };
            fixture.recording.http_messages.push(head);
            if refused && sleep > 0 {
                fixture.waits(CLIENT, sleep, NANOSLEEP, |_| ());
            }
        }
        fixture.end()
    }

    #[test]
    fn requests_that_are_turned_away_and_slept_over_are_found() {
        let answer = answer(&every_second(429, 50 * US, 20 * MS));
        let finding = &answer.findings[0];
        assert_eq!(finding.name, "server-rate-limit");
        assert!((9 * MS..11 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
        assert!(finding.title.contains("turns requests away with status 429"), "{}", finding.title);
    }

    #[test]
    fn a_failure_that_took_its_time_is_left_alone_and_a_quick_one_is_not() {
        let is_found = |recording: &Recording| names(recording).contains(&"server-rate-limit".to_string());
        assert!(is_found(&every_second(503, 50 * US, 20 * MS)));
        assert!(!is_found(&every_second(503, 5 * MS, 20 * MS)));
        assert!(!is_found(&every_second(404, 50 * US, 20 * MS)));
    }

    /// Four clients whose requests a server reads as they come; it answers one each time its event loop's wait ends.
    fn paced(distances: &[u64], waiting: u32, result: i64) -> Recording {
        let mut fixture = Fixture::new();
        for id in 1..=waiting {
            fixture.process(CLIENT + id, "client");
            fixture.connect(id, CLIENT + id);
        }
        let asks = |fixture: &mut Fixture, id: u32, at: u64| {
            fixture.now = at;
            fixture.moves(CLIENT + id, id, WRITE, 200);
            fixture.travels(at + 3 * US, id, id + 1000, 200);
            fixture.now = at + 12 * US;
            fixture.moves(SERVER, id + 1000, READ, 200);
            at + 5 * US
        };
        let mut now = fixture.now;
        let mut asked: Vec<u64> =
            (1..=waiting).map(|id| asks(&mut fixture, id, now + u64::from(id) * 100 * US)).collect();
        now += 2 * MS;
        for turn in 0..60 {
            let id = turn as u32 % waiting + 1;
            fixture.now = now;
            fixture.waits(SERVER, distances[turn % distances.len()], EPOLL_WAIT, |call| call.result = result);
            let answered = fixture.now;
            fixture.moves(SERVER, id + 1000, WRITE, 300);
            fixture.travels(answered + 3 * US, id + 1000, id, 300);
            let since = asked[id as usize - 1];
            fixture.now = since;
            fixture.waits_for(CLIENT + id, id, answered + 12 * US - since, 300);
            let next = fixture.now;
            asked[id as usize - 1] = asks(&mut fixture, id, next + 30 * US);
            now = fixture.now.max(answered + 20 * US);
        }
        fixture.end()
    }

    #[test]
    fn answers_that_leave_at_equal_distances_while_requests_wait_are_found() {
        let is_found = |recording: &Recording| names(recording).contains(&"server-rate-limit".to_string());
        assert!(is_found(&paced(&[20 * MS], 4, 0)));
        assert!(!is_found(&paced(&[20 * MS], 1, 0)), "one at a time may be a pause for each");
        assert!(!is_found(&paced(&[20 * MS], 4, 1)), "something came");
        assert!(!is_found(&paced(&[5 * MS, 20 * MS, 40 * MS], 4, 0)), "no pace");
    }
}
