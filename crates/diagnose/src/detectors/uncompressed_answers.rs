//! P70: text crosses a slow network as it is.

use super::{Found, costly_call, detector, median, of_every_request, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::connections::End;
use crate::exchange::Exchange;
use crate::network_path::{self, FIRST_FLIGHT};
use crate::number;
use crate::spans;
use crate::stops;
use crate::syscall;
use case::{Bytes, Kind, Nanos};

detector! {
    /// # uncompressed-answers
    ///
    /// ## What it is
    /// Answers are text (HTML, JSON, XML, scripts) and go over the network as it was written, although most of each request is the
    /// time that its bytes take to cross. Compressed they would be a fraction: a catalogue of 330 kB in JSON becomes 3.4
    /// times shorter with zlib's level 1, and 4.7 times with level 6.
    ///
    /// ## Evidence
    /// Answers whose Content-Type is one of text and that have no Content-Encoding, longer than what crosses at once in any case
    /// (ten segments). From the first of their bytes to the last, bytes are under way or lie unsent in the sender's kernel, while
    /// the client waits to read them; that takes three tenths of the requests' time or more. What is encrypted shows no
    /// Content-Type, and nothing is said of it.
    ///
    /// ## What proves it
    /// The same content, compressed on its way by a proxy that is put between (`compressing-proxy`): it takes a fraction of the time.
    ///
    /// ## Remedy
    /// Compress text at a low level (nginx: `gzip on` with gzip_types; `gzip_static` for files), and let clients ask for it
    /// (`Accept-Encoding: gzip`; `curl --compressed`).
    ///
    /// ## Not to be confused with
    /// compression-level, in which compression itself takes the time; a server that makes its answer slowly (nothing is under way
    /// between its parts); slow-reader, in which the client does not read; an answer that is waited for, not its bytes.
    "P70" "uncompressed-answers",
    kind: Kind::Observation,
    needs: &[Tcp, Requests]
}

/// Less than this part of the requests' time is not what makes them slow.
const LEAST_SHARE: f64 = 0.3;

/// An answer of text on its way.
struct Crossing {
    /// How long its bytes were under way or waited to be sent, after the first of them had arrived, in nanoseconds.
    took: u64,
    bytes: u64,
    /// Whether the client had asked for compression.
    is_asked_for: bool,
    /// The call that wrote its first bytes, or else that asked for it: a row of the table of calls.
    call: Option<usize>,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    if !analysis.recording.http_messages.iter().any(|row| row.is_text && row.status > 0) {
        return None;
    }
    let crossings: Vec<Crossing> =
        analysis.exchanges.iter().filter_map(|exchange| crossing(analysis, exchange)).collect();
    let wall = crossings.iter().map(|one| one.took).sum::<u64>();
    if wall == 0 || (wall as f64) < LEAST_SHARE * analysis.exchange_wall() as f64 {
        return None;
    }
    Some(found(analysis, &crossings, wall))
}

fn crossing(analysis: &Analysis, exchange: &Exchange) -> Option<Crossing> {
    let slot = exchange.connection;
    let head = analysis.response_head(exchange).filter(|_| exchange.end_seen == End::Client)?;
    let rows = &analysis.connections.all()[slot];
    let (under_way, peer) = (rows.under_way.as_ref()?, &analysis.connections.all()[rows.peer?]);
    if !head.is_text || head.is_compressed {
        return None;
    }
    let message = network_path::arrived(analysis, exchange, slot)?;
    let (first, last) = (message.from, message.to);
    let is_long = message.bytes > FIRST_FLIGHT && last > first;
    if !is_long || !stops::waits_for_data(analysis, slot, false, first, last) {
        return None;
    }
    let spans = [under_way.as_ref(), &peer.unsent].into_iter().flat_map(|spans| spans::within(spans, first, last));
    let took = spans::length(spans::merge(spans.collect()).into_iter());
    let is_asked_for = analysis.request_head(exchange).is_some_and(|head| head.is_compressed);
    let mut calls =
        if is_asked_for { analysis.server_transfers(exchange) } else { analysis.transfers(exchange) }.iter();
    let call = calls.find(|&&row| syscall::is_write(analysis.call(row as usize).number)).map(|&row| row as usize);
    Some(Crossing { took, bytes: message.bytes, is_asked_for, call })
}

fn found(analysis: &Analysis, crossings: &[Crossing], wall: u64) -> Found {
    let requests = analysis.exchanges.len().max(1) as u64;
    let place = costly_call(analysis, crossings.iter().filter_map(|one| Some((one.call?, one.took))));
    let asked = crossings.iter().filter(|one| one.is_asked_for).count();
    let is_asked_for = asked * 2 > crossings.len();
    let what = "Text crosses the network uncompressed".to_string();
    let (accepts, remedy) = if is_asked_for {
        (
            "The client says that it can read them compressed (Accept-Encoding).",
            "Let the server compress text at a low level (nginx: gzip on, with gzip_types; gzip_static for files).",
        )
    } else {
        (
            "The client does not ask for compressed ones, as far as its requests' heads were recorded.",
            "Let the client ask for compressed answers (Accept-Encoding: gzip; curl --compressed), and the server compress text.",
        )
    };
    Found {
        title: of_every_request(analysis, &what, wall, &place),
        what,
        mechanism: vec![
            format!(
                "{} of {} answers are text without Content-Encoding, half of them {} or longer. After their first bytes the client \
                 waits {} for the rest, which is under way or waits to be sent.",
                number::count(crossings.len() as u64),
                number::count(requests),
                Bytes(median(crossings.iter().map(|one| one.bytes).collect())),
                Nanos(median(crossings.iter().map(|one| one.took).collect())),
            ),
            accepts.to_string(),
        ],
        saving: PotentialSaving { wall, affected: crossings.len() as u64, ..PotentialSaving::default() },
        place,
        remedy: remedy.to_string(),
        rows: rows("calls", crossings.iter().filter_map(|one| one.call)),
        ..Found::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE};
    use crate::tests::{answer, names};
    use case::tables::{HttpMessage, direction};
    use case::{Kind, Nanos, Recording};

    /// How an answer goes.
    #[derive(Clone, Copy)]
    struct Going {
        /// From one segment of it to the next.
        apart: u64,
        /// How long each of them is under way.
        way: u64,
        /// How many there are, of 1,400 bytes.
        segments: u64,
        /// Whether the server writes each as it leaves, or all at once.
        in_parts: bool,
        /// Whether the client waits to read all the time, or looks at the end.
        waits: bool,
    }

    const SLOW: Going = Going { apart: 2 * MS, way: 5 * MS, segments: 20, in_parts: false, waits: true };

    /// Ten requests whose answers go in some way; what their heads say.
    fn going(how: Going, answered: &HttpMessage, accepts: bool) -> Recording {
        let mut fixture = Fixture::new();
        fixture.connect(1, CLIENT);
        let mut idle = fixture.now;
        for _ in 0..10 {
            let start = fixture.now;
            fixture.moves(CLIENT, 1, WRITE, 200);
            fixture.travels(start + 3 * US, 1, 1001, 200);
            let head = HttpMessage { connection: 1, tid: CLIENT, ..HttpMessage::default() };
            fixture.recording.http_messages.push(HttpMessage {
                time: Nanos(start),
                direction: direction::OUT,
                is_compressed: accepts,
                ..head.clone()
            });
            let asked = fixture.now;
            fixture.now = idle;
            fixture.waits(SERVER, start + 12 * US - idle, EPOLL_WAIT, |call| call.result = 1);
            fixture.moves(SERVER, 1001, READ, 200);
            let written = fixture.now;
            if !how.in_parts {
                fixture.moves(SERVER, 1001, WRITE, 1400 * how.segments as i64);
                idle = fixture.now;
            }
            for number in 0..how.segments {
                let left = written + 3 * US + number * how.apart;
                if how.in_parts {
                    fixture.now = left - 3 * US;
                    fixture.moves(SERVER, 1001, WRITE, 1400);
                    idle = fixture.now;
                }
                fixture.segment(left, 1001, direction::OUT, 1400);
                fixture.segment(left + how.way, 1, direction::IN, 1400);
            }
            let arrived = written + 3 * US + (how.segments - 1) * how.apart + how.way;
            fixture.now = asked;
            if !how.waits {
                fixture.now = arrived;
            }
            let time = Nanos(fixture.now);
            let end = arrived + 10 * US;
            fixture.waits_for(CLIENT, 1, end - time.0, 1400 * how.segments as i64);
            fixture.recording.http_messages.push(HttpMessage { time, direction: direction::IN, ..answered.clone() });
            fixture.now += 20 * US;
        }
        fixture.recording.segments.sort_by_key(|segment| (segment.connection, segment.time));
        fixture.end()
    }

    fn text() -> HttpMessage {
        HttpMessage { connection: 1, tid: CLIENT, status: 200, is_text: true, ..HttpMessage::default() }
    }

    fn is_found(recording: &Recording) -> bool {
        names(recording).contains(&"uncompressed-answers".to_string())
    }

    #[test]
    fn text_that_takes_its_time_to_cross_is_found_and_the_end_that_can_help() {
        let answer = answer(&going(SLOW, &text(), false));
        let finding = answer.findings.iter().find(|one| one.name == "uncompressed-answers").expect("a finding");
        assert_eq!(finding.kind, Kind::Observation);
        assert!((37 * MS..39 * MS).contains(&finding.cost.ns_per_exchange), "{:?}", finding.cost);
        assert!(finding.mechanism[1].contains("does not ask"), "{:?}", finding.mechanism);
        let asked = crate::tests::answer(&going(SLOW, &text(), true));
        let finding = asked.findings.iter().find(|one| one.name == "uncompressed-answers").expect("a finding");
        assert!(finding.remedy.starts_with("Let the server compress"), "{}", finding.remedy);
    }

    #[test]
    fn what_is_compressed_or_no_text_is_left_alone() {
        assert!(!is_found(&going(SLOW, &HttpMessage { is_compressed: true, ..text() }, true)));
        assert!(!is_found(&going(SLOW, &HttpMessage { is_text: false, ..text() }, true)));
    }

    #[test]
    fn what_is_short_or_made_slowly_or_not_read_is_left_alone() {
        assert!(is_found(&going(SLOW, &text(), true)));
        assert!(!is_found(&going(Going { segments: 10, ..SLOW }, &text(), true)), "crosses at once");
        assert!(!is_found(&going(Going { in_parts: true, way: 20 * US, ..SLOW }, &text(), true)), "is made slowly");
        assert!(!is_found(&going(Going { waits: false, ..SLOW }, &text(), true)), "nobody waits to read it");
    }
}
