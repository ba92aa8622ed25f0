//! P19: connections that cannot be used again since an answer was not read to its end.

use super::fresh_connections::{Charge, Churn, HABIT, charge, churns, has_ended};
use super::{Found, costly_call, detector, median, rows};
use crate::analysis::Analysis;
use crate::connections::End;
use crate::number;
use crate::syscall;
use case::tables::{HttpMessage, Segment, TcpEvent, direction, event};
use case::{Bytes, Nanos, Share};
use std::collections::BTreeMap;

detector! {
    /// # body-not-drained
    ///
    /// ## What it is
    /// A client wants to know only how an answer begins (its status, a header, the first lines) and closes the connection while
    /// the rest is still in its kernel or under way. Unread bytes would be taken for the next answer, so that
    /// the connection is of no more use, though both ends would have kept it: the next request has to connect, and to
    /// shake hands, anew. As a rule it is the client library that closes, since the program dropped the response.
    ///
    /// ## Evidence
    /// Five connections or more to one address and port, most of those to it, that the client closes first after an
    /// answer has begun, with 256 bytes or more of it unread: they lay in its kernel (which then sends a reset), the server
    /// still sent them, or Content-Length had announced them. Each is followed within 5 s by a fresh connection
    /// there, whose connect and handshake are charged.
    ///
    /// ## What proves it
    /// A proxy between the two that reads answers to their end and keeps its connections to the server (`draining-proxy`): HTTP/1
    /// without TLS. Under TLS nothing outside the program can read for it, so that this stays a suspicion; the set-up of all
    /// connections but the first is what would go.
    ///
    /// ## Remedy
    /// Read each answer to its end, or have the library do it, also where only the status counts and where it is an error
    /// (Go: io.Copy(io.Discard, body) before Close; Node.js: resume() or dump(), not destroy() or cancel(); Java: consume
    /// the entity; Python: drain_conn() or read()). Where answers are long, ask for no more than what is needed: HEAD, Range,
    /// If-None-Match.
    ///
    /// ## Not to be confused with
    /// connection-churn (answers are read, and the connection is closed all the same); retry-storm (no answer had begun);
    /// one long download that is broken off.
    "P19" "body-not-drained",
    needs: &[Tcp, Requests]
}

/// What is left unread counts from so many bytes: alerts, session tickets and HTTP/2's own frames are shorter, and nobody
/// reads those that come last.
const LEAST_UNREAD: u64 = 256;

/// Of the connections to a server, so many were cut: what happens to few is no habit of the client's.
const MOSTLY: f64 = 0.5;

/// Draining an answer that has more left than this can take longer than connecting: then less should be asked for.
const LONG: u64 = 1_000_000;

/// The kernel's numbers of two states of a connection (`net/tcp_states.h`).
const ESTABLISHED: u32 = 1;
const CLOSE: u32 = 7;

fn detect(analysis: &Analysis) -> Option<Found> {
    let mut groups = churns(analysis);
    let mut all_cut = BTreeMap::new();
    for (name, churn) in &mut groups {
        let unread = |&slot: &usize| unread(analysis, slot).map(|bytes| (slot, bytes));
        let cut: BTreeMap<usize, u64> = churn.last_uses.keys().filter_map(unread).collect();
        let is_habit = cut.len() >= HABIT && cut.len() as f64 >= MOSTLY * churn.last_uses.len() as f64;
        churn.avoidable.retain(|fresh| is_habit && cut.contains_key(&fresh.instead_of));
        all_cut.insert(name.clone(), cut);
    }
    let charge = charge(analysis, &groups, |_, churn| churn.is_habit())?;
    let cut = all_cut.get(charge.name)?;
    Some(found(analysis, charge, cut))
}

/// How many bytes of an answer a client left unread as it closed a connection; none where it did not, where the server had closed
/// it, or where they had agreed to.
fn unread(analysis: &Analysis, slot: usize) -> Option<u64> {
    let rows = &analysis.connections.all()[slot];
    let closing = analysis.connections.closing(slot);
    if rows.end != Some(End::Client) || closing >= analysis.recording.manifest.end.0 {
        return None;
    }
    let segments = analysis.connections.segments(slot);
    let (mut read, mut hands_over) = (0, false);
    for call in analysis.connections.transfers_of(slot) {
        read += if syscall::is_read(call.number) { call.result.max(0) as u64 } else { 0 };
        hands_over |= syscall::is_handover(call.number);
    }
    let messages = messages(analysis, slot);
    let is_over = has_ended(segments, closing) || messages.iter().any(|row| row.closes);
    // What went to a pipe was read as well, and it is not known how much.
    if read == 0 || hands_over || segments.is_empty() || is_over {
        return None;
    }
    let arrived = extent(segments.iter().filter(|row| row.direction == direction::IN));
    let left = [
        in_kernel(analysis.connections.events(slot), arrived, read),
        under_way(analysis, rows.peer, closing),
        announced(&messages, arrived),
    ];
    left.into_iter().flatten().filter(|&bytes| bytes >= LEAST_UNREAD).max()
}

/// How many bytes of payload some segments carry, in order of time and each byte once.
fn extent<'r>(segments: impl Iterator<Item = &'r Segment>) -> u64 {
    let (mut length, mut last) = (0u64, None);
    for row in segments.filter(|row| row.payload > 0) {
        let end = row.sequence.wrapping_add(row.payload);
        let ahead = end.wrapping_sub(last.unwrap_or(row.sequence)) as i32;
        if ahead > 0 {
            length += ahead as u64;
            last = Some(end);
        }
    }
    length
}

/// What had arrived and was not read. A socket that is closed with bytes in it takes no leave (FIN) but sends a reset, and is
/// closed at once; where that is not so, reads were missed.
fn in_kernel(events: &[TcpEvent], arrived: u64, read: u64) -> Option<u64> {
    let breaks_off = |row: &TcpEvent| (row.event, row.before, row.after) == (event::STATE, ESTABLISHED, CLOSE);
    events.iter().any(breaks_off).then(|| arrived.saturating_sub(read))
}

/// What the server sent after the client had closed.
fn under_way(analysis: &Analysis, peer: Option<usize>, closing: u64) -> Option<u64> {
    let segments = analysis.connections.segments(peer?);
    let sent = || segments.iter().filter(|row| row.direction == direction::OUT);
    Some(extent(sent()) - extent(sent().take_while(|row| row.time.0 <= closing)))
}

/// The heads that a connection carried, where they are in plain text.
fn messages<'r>(analysis: &Analysis<'r>, slot: usize) -> Vec<&'r HttpMessage> {
    let id = analysis.connections.row(slot).id;
    let messages = &analysis.recording.http_messages;
    let first = messages.partition_point(|row| row.connection < id);
    messages[first..].iter().take_while(|row| row.connection == id).collect()
}

/// What the head of the last answer had announced and what never arrived. Answers before it arrived as well: as much as this
/// is missing at least.
fn announced(messages: &[&HttpMessage], arrived: u64) -> Option<u64> {
    let last = |way: u8| messages.iter().rev().find(|row| row.direction == way);
    let (asked, answer) = (last(direction::OUT)?, last(direction::IN)?);
    has_body(asked, answer).then(|| (answer.content_length.max(0) as u64).saturating_sub(arrived))
}

/// Whether an answer with a Content-Length has a body at all (RFC 9110, 6.4.1).
fn has_body(asked: &HttpMessage, answer: &HttpMessage) -> bool {
    asked.method != "HEAD" && answer.status >= 200 && !matches!(answer.status, 204 | 304)
}

fn found(analysis: &Analysis, charge: Charge, cut: &BTreeMap<usize, u64>) -> Found {
    let Charge { saving, explains, name, churn } = charge;
    let count = analysis.exchanges.len().max(1) as u64;
    let left = median(cut.values().copied().collect());
    let place = place(analysis, churn);
    let what = "Responses are not read to their end, so that their connections cannot be used again".to_string();
    let share = Share(cut.len() as f64 / churn.last_uses.len().max(1) as f64);
    let mechanism = vec![
        format!(
            "The client closed {} of {} connections to {name} ({share}) in the middle of an answer, half of them with {} or more \
             unread.",
            number::count(cut.len() as u64),
            number::count(churn.last_uses.len() as u64),
            Bytes(left),
        ),
        "Unread bytes would be taken for the next answer, so no library reuses such a connection.".to_string(),
        format!(
            "{} times a fresh connection followed; connect and handshake take {} on average, and {} of CPU.",
            number::count(saving.affected),
            Nanos(saving.wall / saving.affected.max(1)),
            Nanos(saving.cpu / saving.affected.max(1)),
        ),
    ];
    let remedy = if left >= LONG {
        "Ask for no more than is needed (HEAD, Range, If-None-Match), so that each answer can be read to its end."
    } else {
        "Read each answer to its end before it is dropped, also where only its status counts; or ask by HEAD."
    };
    Found {
        title: format!(
            "{what}: setup takes {} of every {} request{}",
            Nanos(saving.wall / count),
            Nanos(analysis.exchange_wall() / count),
            place.in_words(),
        ),
        what,
        mechanism,
        saving,
        place,
        remedy: remedy.to_string(),
        rows: rows("connections", cut.keys().copied()),
        explains,
        ..Found::default()
    }
}

/// Where the answers are read for the last time.
fn place(analysis: &Analysis, churn: &Churn) -> crate::place::Located {
    let last_read = |slot: usize| {
        let rows = analysis.connections.transfer_numbers(slot).iter().rev().map(|&row| row as usize);
        rows.into_iter().find(|&row| syscall::is_read(analysis.call(row).number))
    };
    costly_call(analysis, churn.avoidable.iter().filter_map(|fresh| Some((last_read(fresh.instead_of)?, 1))))
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, Fixture, MS, US, WRITE, request};
    use crate::tests::{answer, names};
    use case::Recording;
    use case::tables::{HttpMessage, TcpEvent, direction, event, flags};

    /// How a client leaves a connection.
    #[derive(Clone, Copy)]
    enum Leaves {
        /// With so many bytes of the answer in its kernel.
        Unread(u32),
        /// While the server still has so many to send.
        Sending(u32),
        /// After a head that announced so many, of which a thousand came.
        Announced(i64, &'static str),
        Read,
    }

    fn leave(fixture: &mut Fixture, id: u32, how: Leaves) {
        let start = fixture.now;
        if let Leaves::Unread(bytes) = how {
            fixture.travels(start, id + 1000, id, bytes);
        }
        fixture.now += 50 * US;
        if let Leaves::Unread(_) = how {
            let (time, before, after) = (case::Nanos(fixture.now), super::ESTABLISHED, super::CLOSE);
            fixture.recording.tcp_events.push(TcpEvent { time, connection: id, event: event::STATE, before, after });
        } else {
            fixture.segment(fixture.now, id, direction::OUT, 0);
            fixture.recording.segments.last_mut().expect("a segment").flags |= flags::FIN;
        }
        if let Leaves::Sending(bytes) = how {
            fixture.segment(fixture.now + 20 * US, id + 1000, direction::OUT, bytes);
        }
        if let Leaves::Announced(content_length, method) = how {
            let (time, connection) = (case::Nanos(start), id);
            let head = HttpMessage { time, connection, ..HttpMessage::default() };
            let asked = HttpMessage { method: method.to_string(), direction: direction::OUT, ..head.clone() };
            let answered = HttpMessage { status: 200, content_length, direction: direction::IN, ..head };
            fixture.recording.http_messages.extend([asked, answered]);
        }
        fixture.close(id);
        fixture.now += 20 * US;
    }

    /// Twenty connections, each with a handshake and so many requests, and how each is left.
    fn connections(requests: u32, how: impl Fn(u32) -> Leaves) -> Recording {
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        for id in 1..=20 {
            fixture.connect(id, CLIENT);
            let start = fixture.now;
            fixture.moves(CLIENT, id, WRITE, 300);
            fixture.travels(start, id, id + 1000, 300);
            fixture.travels(start + 4 * MS, id + 1000, id, 3_000);
            fixture.waits_for(CLIENT, id, 5 * MS, 3_000);
            fixture.handshake(id, CLIENT, start, |row| row.resumed = true);
            (0..requests).for_each(|_| request(&mut fixture, CLIENT, id, 200 * US, &mut idle));
            leave(&mut fixture, id, how(id));
        }
        fixture.end()
    }

    #[test]
    fn answers_that_are_left_in_the_kernel_are_found_with_the_connections_they_cost() {
        let answer = answer(&connections(1, |_| Leaves::Unread(40_000)));
        let finding = &answer.findings[0];
        assert_eq!((answer.findings.len(), finding.name.as_str()), (1, "body-not-drained"));
        assert_eq!(finding.cost.affected, 19);
        let each = finding.cost.ns_per_exchange * 20 / 19;
        assert!((5 * MS..5 * MS + 100 * US).contains(&each), "{each}");
        assert!(finding.mechanism[0].contains("20 of 20 connections to 10.0.0.2:80"), "{:?}", finding.mechanism);
        assert!(finding.mechanism[0].contains("40 kB or more unread"), "{:?}", finding.mechanism);
    }

    #[test]
    fn answers_that_were_still_sent_or_announced_are_found() {
        assert_eq!(names(&connections(1, |_| Leaves::Sending(30_000))), ["body-not-drained"]);
        assert_eq!(names(&connections(1, |_| Leaves::Announced(30_000, "GET"))), ["body-not-drained"]);
        let long = answer(&connections(1, |_| Leaves::Announced(30_000_000, "GET")));
        assert!(long.findings[0].remedy.contains("Range"), "{}", long.findings[0].remedy);
    }

    #[test]
    fn answers_that_are_read_or_that_have_no_body_are_plain_churn() {
        assert_eq!(names(&connections(1, |_| Leaves::Read)), ["connection-churn"]);
        assert_eq!(names(&connections(1, |_| Leaves::Announced(30_000, "HEAD"))), ["connection-churn"]);
        // A farewell of TLS that nobody reads.
        assert_eq!(names(&connections(1, |_| Leaves::Unread(31))), ["connection-churn"]);
    }

    #[test]
    fn few_answers_that_are_broken_off_and_connections_that_had_many_requests_are_left_alone() {
        let one = connections(1, |id| if id == 7 { Leaves::Unread(40_000) } else { Leaves::Read });
        assert_eq!(names(&one), ["connection-churn"]);
        assert_eq!(names(&connections(10, |_| Leaves::Unread(40_000))), Vec::<String>::new());
    }

    #[test]
    fn connections_that_would_have_been_closed_all_the_same_are_left_alone() {
        let mut recording = connections(1, |_| Leaves::Unread(40_000));
        let ours = recording.segments.iter_mut().filter(|row| row.connection < 1000 && row.direction == direction::IN);
        ours.filter(|row| row.payload == 40_000).for_each(|row| row.flags |= flags::FIN);
        assert_eq!(names(&recording), ["connection-churn"]);
        // They agreed to close it.
        let mut recording = connections(1, |_| Leaves::Announced(30_000, "GET"));
        recording.http_messages.iter_mut().for_each(|row| row.closes = true);
        assert_eq!(names(&recording), ["connection-churn"]);
        // Not all that was read is seen: how the connection ended tells that something was not.
        let mut recording = connections(1, |_| Leaves::Unread(40_000));
        recording.tcp_events.clear();
        assert_eq!(names(&recording), ["connection-churn"]);
    }
}
