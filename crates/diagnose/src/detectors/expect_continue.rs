//! P33: a client waits for '100 Continue' that never comes.

use super::{Found, costly_call, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::exchange::Exchange;
use crate::syscall;
use crate::threads::call_end;
use case::Nanos;
use case::tables::{Call, direction};

detector! {
    /// # expect-continue
    ///
    /// ## What it is
    /// A client sends the head of a request with 'Expect: 100-continue' and waits for permission to send the body. A
    /// server that ignores the header stays silent, and the client only goes on when its timeout expires (1 s in curl).
    ///
    /// ## Evidence
    /// A head with that header, then a pause of 300 ms or more in which nothing is read, ended by a waiting call that
    /// times out, then the body. Under TLS the head is encrypted; there the same pattern counts if the pause is curl's
    /// second, or recurs.
    ///
    /// ## What proves it
    /// Answering 100 at once, or stripping the header, in a proxy between the two: the pause goes away.
    ///
    /// ## Remedy
    /// Disable the header in the client (curl: -H 'Expect:'), or have the server answer '100 Continue'.
    ///
    /// ## Not to be confused with
    /// nagle-delayed-ack (40 to 200 ms, and it is the kernel that holds the bytes, not the program); a slow server.
    "P33" "expect-continue",
    needs: &[Tcp, Requests, SingleStreams]
}

/// Clients wait from 350 ms (.NET) to 3 s for leave.
const PATIENCE: std::ops::RangeInclusive<u64> = 300_000_000..=3_100_000_000;

/// The patience of curl, with what its timer is off by.
const A_SECOND: std::ops::RangeInclusive<u64> = 950_000_000..=1_100_000_000;

/// A shape alone is believed from three times on.
const HABIT: usize = 3;

/// A pause between head and body.
struct Pause {
    head: usize,
    timeout: usize,
    length: u64,
    head_seen: bool,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let asked = analysis.exchanges.iter().filter(|exchange| exchange.end_seen == End::Client && exchange.answered);
    let pauses: Vec<Pause> = asked.filter_map(|exchange| pause(analysis, exchange)).collect();
    let certain = pauses.iter().any(|pause| pause.head_seen || A_SECOND.contains(&pause.length));
    if !certain && pauses.len() < HABIT {
        return None;
    }
    pauses.first()?;
    let wall = pauses.iter().map(|pause| pause.length).sum();
    let saving = PotentialSaving { wall, outside: 0, cpu: 0, affected: pauses.len() as u64 };
    let place = costly_call(analysis, pauses.iter().map(|pause| (pause.timeout, pause.length)));
    let usual = Nanos(median(pauses.iter().map(|pause| pause.length).collect()));
    let heads = pauses.iter().filter(|pause| pause.head_seen).count();
    let title = format!(
        "The client waits {usual} for '100 Continue' before sending the body, in {} of {} requests{}",
        pauses.len(),
        analysis.exchanges.len(),
        place.in_words(),
    );
    let mechanism = vec![
        if heads > 0 {
            format!("{heads} request heads have 'Expect: 100-continue'.")
        } else {
            "The heads are encrypted, but the pause between two writes looks like 'Expect: 100-continue'.".to_string()
        },
        format!("After the head, the client reads nothing for {usual}, until its wait times out."),
        "Then it sends the body and gets the answer.".to_string(),
    ];
    let remedy = "Do not send 'Expect: 100-continue' (curl: -H 'Expect:'), or have the server answer it.".to_string();
    let rows = rows("calls", pauses.iter().map(|pause| pause.head));
    let what = "The client waits for '100 Continue' before sending the body".to_string();
    let stall = |pause: &Pause| {
        let start = call_end(analysis.call(pause.head));
        (start, start.saturating_add(pause.length))
    };
    let stalls = pauses.iter().map(stall).collect();
    Some(Found { title, what, mechanism, saving, place, remedy, rows, stalls, ..Found::default() })
}

/// The pause between two writes of one request, if a timeout ended it.
fn pause(analysis: &Analysis, exchange: &Exchange) -> Option<Pause> {
    let transfers = analysis.transfers(exchange);
    transfers.windows(2).find_map(|pair| {
        let (head, body) = (analysis.call(pair[0] as usize), analysis.call(pair[1] as usize));
        let writes = syscall::is_write(head.number) && syscall::is_write(body.number) && head.tid == body.tid;
        let length = body.start.0.saturating_sub(call_end(head));
        if !writes || !PATIENCE.contains(&length) {
            return None;
        }
        let head_seen = expects(analysis, head)?;
        let between = (pair[0] as usize + 1..pair[1] as usize).rev();
        let timeout = between.into_iter().find(|&row| is_timeout(analysis.call(row)))?;
        Some(Pause { head: pair[0] as usize, timeout, length, head_seen })
    })
}

fn is_timeout(call: &Call) -> bool {
    syscall::is_poll(call.number) && call.result == 0 && call.blocked.0 > 0
}

/// Whether the head asks for leave: yes, or not known (encrypted). None where it was seen and does not.
fn expects(analysis: &Analysis, head: &Call) -> Option<bool> {
    let messages = &analysis.recording.http_messages;
    let first = messages.partition_point(|row| row.connection < head.connection);
    let on_connection = || messages[first..].iter().take_while(|row| row.connection == head.connection);
    if on_connection().next().is_none() {
        let encrypted = analysis.recording.handshakes.iter().any(|row| row.connection == head.connection);
        return encrypted.then_some(false);
    }
    on_connection()
        .find(|row| row.time == head.start && row.direction == direction::OUT && row.expects_continue)
        .map(|_| true)
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, US, WRITE};
    use crate::tests::names;
    use case::Nanos;
    use case::tables::{HttpMessage, direction};

    fn uploads(expects_continue: bool, ready: i64) -> Vec<String> {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        for _ in 0..3 {
            let (time, direction) = (Nanos(fixture.now), direction::OUT);
            let head =
                HttpMessage { time, connection: 1, tid: CLIENT, direction, expects_continue, ..HttpMessage::default() };
            fixture.recording.http_messages.push(head);
            fixture.moves(CLIENT, 1, WRITE, 150);
            fixture.waits(CLIENT, 1001 * MS, EPOLL_WAIT, |call| call.result = ready);
            fixture.moves(CLIENT, 1, WRITE, 2000);
            fixture.waits_for(CLIENT, 1, 300 * US, 100);
        }
        names(&fixture.end())
    }

    #[test]
    fn a_pause_for_leave_to_send_the_body_is_found() {
        assert_eq!(uploads(true, 0), ["expect-continue"]);
    }

    #[test]
    fn a_head_without_the_header_is_left_alone() {
        assert_eq!(uploads(false, 0), Vec::<String>::new());
    }

    #[test]
    fn a_pause_that_an_event_ended_is_left_alone() {
        assert_eq!(uploads(true, 1), Vec::<String>::new());
    }
}
