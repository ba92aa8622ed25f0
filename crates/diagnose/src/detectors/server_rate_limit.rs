//! P28: a server limits the rate of requests.

mod one_at_a_time;
mod parts;

use super::{Found, costly_call, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::exchange::Exchange;
use crate::number;
use crate::paced::{self, Paced, Turn};
use crate::pauses::sleep_after;
use crate::syscall;
use case::tables::HttpMessage;
use case::{Nanos, Share};

detector! {
    /// # server-rate-limit
    ///
    /// ## What it is
    /// A server lets only so many requests through in a time: it turns the others away (status 429, or 503), or answers them
    /// later, one each so many milliseconds, though it has nothing else to do. Or it limits the rate of bytes: it sends an answer
    /// in parts, and waits for its own clock before each.
    ///
    /// ## Evidence
    /// Turned away: three or more answers with status 429, or with 503 in less time than the others take, and the time that they
    /// and the sleeps of the client after them take. Delayed: twenty or more requests in a row that the server had read before,
    /// several at a time, and whose answers leave at equal distances, each as a wait of its event loop ends by time; while one that
    /// comes when nobody waits is answered at once. Or one at a time: twenty or more whose answers leave at equal distances
    /// although whoever asks later waits for less, as their server waits for a time to pass. In parts: between the writes of one
    /// answer five or more waits of one length, each of which ends by time, that take most of what lies between; or fewer in
    /// each, as long as the parts before them are large. No write was refused before them.
    ///
    /// ## What proves it
    /// More clients or fewer at a time: the rate stays the same. Nothing outside the server switches its limit off.
    ///
    /// ## Remedy
    /// Raise the limit (nginx: limit_req rate and burst, limit_rate for bytes), ask less often or for more at a time, or use a
    /// key with a limit of its own. Heed Retry-After.
    ///
    /// ## Not to be confused with
    /// A server that is busy (it is on CPU, or its workers are blocked in something); one that pauses for each request by itself
    /// (then more at a time are answered at a time); lock-convoy (a mutex of Go's that is held over a sleep, say): its answers leave at
    /// equal distances, too, but one that comes when nobody waits takes as long; token-bucket, in which the
    /// network lets no more through, and slow-reader, in which the client takes no more: there writes block, or are refused.
    "P28" "server-rate-limit",
    not_switched: "The limit is the server's, and belongs to what it is asked to do.",
    needs: &[Tcp, Requests]
}

/// Fewer refusals are an incident.
const REFUSED: usize = 3;

const TOO_MANY_REQUESTS: u16 = 429;
const UNAVAILABLE: u16 = 503;

fn detect(analysis: &Analysis) -> Option<Found> {
    let found = turned_away(analysis).or_else(|| delayed(analysis)).or_else(|| one_at_a_time::detect(analysis));
    found.or_else(|| parts::detect(analysis))
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

fn delayed(analysis: &Analysis) -> Option<Found> {
    let Paced { turns, pace } = paced::limited(analysis)?;
    let timed: Vec<&Turn> = turns.iter().filter(|one| one.timer.is_some()).collect();
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
             read {} before or earlier. One that came when nobody waited was answered at once.",
            number::count(timed.len() as u64),
            number::count(turns.len() as u64),
            Nanos(median(timed.iter().map(|one| one.written.saturating_sub(one.read)).collect())),
        )],
        saving: PotentialSaving { wall, affected: timed.len() as u64, ..PotentialSaving::default() },
        place,
        remedy: "Raise the server's limit, ask less often, or ask for more at a time.".to_string(),
        rows: rows("calls", timed.iter().filter_map(|one| one.timer)),
        stalls: timed.iter().map(|one| (one.exchange.start, one.exchange.end)).collect(),
        ..Found::default()
    })
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, SERVER, US, WRITE, paced, request};
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

    #[test]
    fn answers_that_leave_at_equal_distances_while_requests_wait_are_found() {
        let is_found = |recording: &Recording| names(recording).contains(&"server-rate-limit".to_string());
        assert!(is_found(&paced(50 * US, &[20 * MS], 4, 0)));
        assert!(!is_found(&paced(50 * US, &[20 * MS], 1, 0)), "one at a time may be a pause for each");
        assert!(!is_found(&paced(50 * US, &[20 * MS], 4, 1)), "something came");
        assert!(!is_found(&paced(50 * US, &[5 * MS, 20 * MS, 40 * MS], 4, 0)), "no pace");
    }

    #[test]
    fn a_lock_that_each_request_holds_over_a_sleep_is_no_limit() {
        assert!(!names(&paced(20 * MS, &[20 * MS], 4, 0)).contains(&"server-rate-limit".to_string()));
    }

    #[test]
    fn where_none_came_while_nobody_waited_no_limit_is_claimed() {
        let mut recording = paced(50 * US, &[20 * MS], 4, 0);
        let begin = recording
            .calls
            .iter()
            .filter(|call| call.tid == SERVER && call.number == WRITE)
            .map(|call| call.start)
            .min();
        recording.calls.retain(|call| call.tid != SERVER || Some(call.start) != begin);
        assert!(!names(&recording).contains(&"server-rate-limit".to_string()));
    }
}
