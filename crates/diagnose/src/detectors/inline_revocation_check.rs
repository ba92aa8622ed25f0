//! P15: a handshake that waits while somebody asks whether a certificate was revoked.

use super::{Found, costly_call, detector, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::single_wait::waits_for_one_thing;
use crate::threads::call_end;
use case::Nanos;
use case::tables::{Handshake, HttpMessage, direction};
use std::collections::BTreeMap;

detector! {
    /// # inline-revocation-check
    ///
    /// ## What it is
    /// In the middle of a TLS handshake one end asks a third party: for a list of revoked certificates (CRL), for the
    /// state of this one (OCSP), or for a missing issuer. The handshake, and the request behind it, waits for that
    /// party, however far or slow it is.
    ///
    /// ## Evidence
    /// The thread that shakes hands connects to another address between the first and the last message of the
    /// handshake, asks for something there over plain HTTP, and has the answer before the handshake goes on. The time
    /// from connecting to the answer is charged.
    ///
    /// ## What proves it
    /// Answering that question at once within the program, with 'not found': a program that goes on without an answer
    /// is faster by that time. One that insists on an answer fails, and then nothing is proved.
    ///
    /// ## Remedy
    /// Let the server staple the answer (nginx: ssl_stapling on), keep lists and answers for as long as they are valid,
    /// and fetch them ahead of time, outside the handshake.
    ///
    /// ## Not to be confused with
    /// connection-churn and no-resumption (the handshake's own cost); name-lookup (that of the party's name).
    "P15" "inline-revocation-check",
    needs: &[Tcp]
}

/// Something asked of a third party within a handshake.
struct Fetch<'r> {
    /// The call that connected, or the first that moved bytes.
    row: usize,
    slot: usize,
    tid: u32,
    start: u64,
    end: u64,
    asked: &'r HttpMessage,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let requests = requests(analysis);
    let fetches: Vec<Fetch> =
        analysis.recording.handshakes.iter().flat_map(|row| of_handshake(analysis, &requests, row)).collect();
    let first = fetches.first()?;
    let mut saving = PotentialSaving { affected: fetches.len() as u64, ..PotentialSaving::default() };
    for fetch in &fetches {
        let (inside, outside) = analysis.split(fetch.tid, fetch.start, fetch.end);
        saving.wall += inside;
        saving.outside += outside;
    }
    let count = analysis.exchanges.len().max(1) as u64;
    let place = costly_call(analysis, fetches.iter().map(|fetch| (fetch.row, fetch.end.saturating_sub(fetch.start))));
    let whole = saving.wall + saving.outside;
    let host =
        if first.asked.host.is_empty() { analysis.connections.remote(first.slot) } else { first.asked.host.clone() };
    let what = format!("TLS handshakes wait for an answer of {host}");
    Some(Found {
        title: format!(
            "{what} in the middle: {} of every {} request{}",
            Nanos(whole / count),
            Nanos(analysis.exchange_wall() / count),
            place.in_words(),
        ),
        what,
        mechanism: vec![
            format!(
                "{} times a thread that shook hands asked {host} over plain HTTP ({} {}) and waited for {}.",
                fetches.len(),
                first.asked.method,
                first.asked.target,
                Nanos(whole / fetches.len() as u64)
            ),
            "That is how lists of revoked certificates, OCSP and missing issuers are asked for.".to_string(),
        ],
        saving,
        place,
        remedy:
            "Let the server staple the answer, keep lists and answers while they are valid, and fetch them outside \
                 the handshake."
                .to_string(),
        rows: rows("calls", fetches.iter().map(|fetch| fetch.row)),
        stalls: fetches.iter().map(|fetch| (fetch.start, fetch.end)).collect(),
        ..Found::default()
    })
}

/// The requests in plain HTTP that each thread sent.
fn requests<'r>(analysis: &Analysis<'r>) -> BTreeMap<u32, Vec<&'r HttpMessage>> {
    let mut requests: BTreeMap<u32, Vec<&HttpMessage>> = BTreeMap::new();
    for row in &analysis.recording.http_messages {
        if row.direction == direction::OUT && !row.method.is_empty() {
            requests.entry(row.tid).or_default().push(row);
        }
    }
    for rows in requests.values_mut() {
        rows.sort_by_key(|row| row.time);
    }
    requests
}

/// What the thread of a handshake asked on connections that it opened within it, and got an answer to.
fn of_handshake<'r>(
    analysis: &Analysis<'r>,
    requests: &BTreeMap<u32, Vec<&'r HttpMessage>>,
    handshake: &Handshake,
) -> Vec<Fetch<'r>> {
    let Some(rows) = requests.get(&handshake.tid).filter(|_| handshake.end > handshake.start) else {
        return Vec::new();
    };
    let first = rows.partition_point(|row| row.time < handshake.start);
    let within = rows[first..].iter().take_while(|row| row.time < handshake.end);
    within.filter_map(|asked| fetch(analysis, handshake, asked)).collect()
}

fn fetch<'r>(analysis: &Analysis<'r>, handshake: &Handshake, asked: &'r HttpMessage) -> Option<Fetch<'r>> {
    let slot = analysis.connections.slot(asked.connection)?;
    let row = analysis.connections.row(slot);
    if asked.connection == handshake.connection || row.opened < handshake.start {
        return None;
    }
    let calls: Vec<usize> = analysis.connections.transfer_numbers(slot).iter().map(|&row| row as usize).collect();
    let answered = calls.iter().rev().map(|&row| call_end(analysis.call(row))).find(|&end| end <= handshake.end.0)?;
    let connect = analysis.connections.all()[slot].connect;
    let begun = connect.or(calls.first().copied())?;
    let start = analysis.call(begun).start.0;
    let is_waited_for = answered > asked.time.0 && waits_for_one_thing(analysis, handshake.tid, start, answered);
    is_waited_for.then_some(Fetch { row: begun, slot, tid: handshake.tid, start, end: answered, asked })
}

#[cfg(test)]
mod tests {
    use crate::fixture::{CLIENT, CONNECT, EPOLL_WAIT, Fixture, MS, READ, US, WRITE, request};
    use crate::tests::{answer, names};
    use case::tables::{Connection, HttpMessage, direction, role, transport};
    use case::{Nanos, Recording};

    #[derive(Clone, Copy, PartialEq)]
    enum Asks {
        Within,
        Before,
        NoHttp,
        InALoop,
    }

    /// Five connections of three requests each; the client asks another host for 20 ms.
    fn shaken(asks: Asks) -> Recording {
        let mut fixture = Fixture::new();
        let mut idle = fixture.now;
        for id in 1..=5 {
            if asks == Asks::Before {
                ask(&mut fixture, id, asks);
            }
            fixture.connect(id, CLIENT);
            let start = fixture.now;
            fixture.moves(CLIENT, id, WRITE, 300);
            fixture.now += 500 * US;
            fixture.moves(CLIENT, id, READ, 3000);
            if asks != Asks::Before {
                ask(&mut fixture, id, asks);
            }
            fixture.moves(CLIENT, id, WRITE, 80);
            fixture.handshake(id, CLIENT, start, |row| row.resumed = id > 1);
            for _ in 0..3 {
                request(&mut fixture, CLIENT, id, 200 * US, &mut idle);
            }
        }
        fixture.end()
    }

    fn ask(fixture: &mut Fixture, id: u32, asks: Asks) {
        let opened = Nanos(fixture.now);
        let id = 50 + id;
        fixture.waits(CLIENT, 60 * US, CONNECT, |call| (call.connection, call.fd, call.result) = (id, 9, 0));
        fixture.recording.connections.push(Connection {
            id,
            pid: CLIENT,
            transport: transport::TCP,
            role: role::CLIENT,
            remote_address: "10.0.0.9".into(),
            remote_port: 80,
            opened,
            established: Nanos(fixture.now),
            closed: Nanos(fixture.now + 30 * MS),
            ..Connection::default()
        });
        let time = Nanos(fixture.now);
        fixture.moves(CLIENT, id, WRITE, 120);
        if asks != Asks::NoHttp {
            fixture.recording.http_messages.push(HttpMessage {
                time,
                connection: id,
                tid: CLIENT,
                direction: direction::OUT,
                method: "GET".into(),
                target: "/authority.crl".into(),
                host: "crl.example".into(),
                ..HttpMessage::default()
            });
        }
        if asks == Asks::InALoop {
            fixture.waits(CLIENT, MS, EPOLL_WAIT, |call| call.result = 1);
        }
        fixture.waits_for(CLIENT, id, 20 * MS, 900);
    }

    #[test]
    fn a_handshake_that_waits_for_a_list_of_revoked_certificates_is_found_with_whom_it_asks() {
        let answer = answer(&shaken(Asks::Within));
        let finding = answer.findings.iter().find(|finding| finding.name == "inline-revocation-check").expect("found");
        assert!(finding.title.starts_with("TLS handshakes wait for an answer of crl.example"), "{}", finding.title);
        assert!(finding.mechanism[0].contains("GET /authority.crl"), "{:?}", finding.mechanism);
        assert_eq!(finding.cost.affected, 5);
    }

    #[test]
    fn what_is_asked_before_a_handshake_in_another_protocol_or_beside_it_by_an_event_loop_is_left_alone() {
        for asks in [Asks::Before, Asks::NoHttp, Asks::InALoop] {
            assert!(!names(&shaken(asks)).contains(&"inline-revocation-check".to_string()));
        }
    }
}
