use crate::fixture::{CLIENT, EPOLL_WAIT, Fixture, MS, READ, SERVER, US, WRITE, keep_alive, request};
use crate::tests::answer;
use crate::{Analysis, Exchange};
use case::tables::{TlsRecord, direction, role, transport};
use case::{Nanos, Recording};

fn exchanges(recording: &Recording) -> Vec<Exchange> {
    Analysis::new(recording).exchanges
}

#[test]
fn an_exchange_runs_from_the_first_byte_written_to_the_last_byte_read() {
    let recording = keep_alive(3, 300 * US).end();
    let exchanges = exchanges(&recording);
    assert_eq!(exchanges.len(), 3);
    let written = recording.calls.iter().filter(|call| call.tid == CLIENT && call.number == WRITE).nth(1);
    assert_eq!(Some(Nanos(exchanges[1].start)), written.map(|call| call.start));
    assert_eq!(exchanges[1].bytes, 1_200);
}

#[test]
fn the_first_exchange_begins_with_the_connect() {
    let exchanges = exchanges(&keep_alive(3, 300 * US).end());
    let set_up = exchanges[0].set_up.as_ref().expect("a set-up");
    assert_eq!((set_up.connect, exchanges[0].start), (MS, MS));
    assert!(exchanges[1].set_up.is_none());
}

#[test]
fn a_connection_that_stood_ready_early_does_not_lengthen_its_first_exchange() {
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    let mut idle = fixture.now;
    fixture.waits(CLIENT, 500 * MS, 35, |_| {});
    request(&mut fixture, CLIENT, 1, 300 * US, &mut idle);
    assert!(exchanges(&fixture.end())[0].length() < MS);
}

#[test]
fn a_handshake_is_no_exchange_of_its_own() {
    let mut fixture = Fixture::new();
    let mut idle = fixture.now;
    fixture.connect(1, CLIENT);
    let start = fixture.now;
    for _ in 0..2 {
        fixture.moves(CLIENT, 1, WRITE, 300);
        fixture.waits_for(CLIENT, 1, 2 * MS, 3000);
    }
    fixture.handshake(1, CLIENT, start, |_| {});
    request(&mut fixture, CLIENT, 1, 300 * US, &mut idle);
    let recording = fixture.end();
    let exchanges = exchanges(&recording);
    assert_eq!(exchanges.len(), 1);
    assert!(exchanges[0].length() > 4 * MS);
    let ledger = answer(&recording).ledger;
    let shaking = ledger.accounts.iter().filter(|row| matches!(row.account, case::Account::FullHandshake { .. }));
    assert!(shaking.map(|row| row.ns).sum::<u64>() > 3 * MS, "{ledger:?}");
}

#[test]
fn a_request_written_together_with_the_handshakes_end_is_a_request() {
    let mut fixture = Fixture::new();
    fixture.connect(1, CLIENT);
    let start = fixture.now;
    fixture.moves(CLIENT, 1, WRITE, 300);
    fixture.waits_for(CLIENT, 1, 2 * MS, 3000);
    let time = Nanos(fixture.now);
    for (content_type, length) in [(20, 1), (23, 69)] {
        let record = TlsRecord { time, connection: 1, tid: CLIENT, content_type, length, ..TlsRecord::default() };
        fixture.recording.tls_records.push(record);
    }
    fixture.moves(CLIENT, 1, WRITE, 6 + 74 + 92);
    fixture.handshake(1, CLIENT, start, |_| {});
    fixture.waits_for(CLIENT, 1, MS, 500);
    assert_eq!(exchanges(&fixture.end()).len(), 1);
}

#[test]
fn a_farewell_is_no_request() {
    let mut fixture = keep_alive(2, 300 * US);
    let time = Nanos(fixture.now);
    let record = TlsRecord { time, connection: 1, content_type: 21, length: 19, ..TlsRecord::default() };
    fixture.recording.tls_records.push(TlsRecord { direction: direction::OUT, ..record });
    fixture.moves(CLIENT, 1, WRITE, 24);
    fixture.now += 500 * MS;
    assert_eq!(exchanges(&fixture.end()).len(), 2);
}

#[test]
fn a_request_that_is_never_answered_counts_until_the_connection_closes() {
    let mut fixture = keep_alive(2, 300 * US);
    fixture.moves(CLIENT, 1, WRITE, 200);
    fixture.waits(CLIENT, 500 * MS, READ, |call| call.connection = 1);
    let exchanges = exchanges(&fixture.end());
    assert_eq!(exchanges.len(), 3);
    assert!(!exchanges[2].answered && exchanges[2].length() >= 500 * MS);
}

#[test]
fn a_server_alone_is_seen_from_its_own_end() {
    let mut recording = keep_alive(5, 300 * US).end();
    recording.connections.retain(|row| row.role == role::SERVER);
    recording.connections[0].peer = 0;
    recording.calls.retain(|call| call.tid == SERVER);
    let exchanges = exchanges(&recording);
    assert_eq!(exchanges.len(), 5);
    assert!((300 * US..330 * US).contains(&exchanges[0].length()), "{exchanges:?}");
}

/// A server, watched alone, that sleeps so long while each of five requests, on connections of their own, has arrived.
fn read_late(sleep: u64) -> Recording {
    const NANOSLEEP: u16 = 35;
    let mut fixture = Fixture::new();
    for client in 1..=5 {
        let server = client + 1000;
        fixture.connect(client, CLIENT);
        for _ in 0..2 {
            fixture.waits(SERVER, 5 * MS, EPOLL_WAIT, |_| {});
            fixture.travels(fixture.now, client, server, 100);
            fixture.now += 6 * US;
            fixture.waits(SERVER, sleep, NANOSLEEP, |_| {});
            fixture.moves(SERVER, server, READ, 100);
            fixture.now += 300 * US;
            fixture.moves(SERVER, server, WRITE, 200);
        }
    }
    let mut recording = fixture.end();
    recording.connections.retain(|row| row.role == role::SERVER);
    recording.connections.iter_mut().for_each(|row| row.peer = 0);
    recording.calls.retain(|call| call.tid == SERVER);
    recording.segments.retain(|segment| segment.connection > 1000);
    recording
}

#[test]
fn a_request_to_a_server_alone_begins_when_it_has_arrived() {
    let recording = read_late(20 * MS);
    let exchanges = exchanges(&recording);
    assert_eq!(exchanges.len(), 10);
    assert!(exchanges.iter().all(|one| (20 * MS..21 * MS).contains(&one.length())), "{exchanges:?}");
    let answer = answer(&recording);
    let asleep = |row: &&case::AccountTime| row.name.contains("asleep in nanosleep");
    let asleep: u64 = answer.ledger.accounts.iter().filter(asleep).map(|row| row.ns).sum();
    assert!(asleep > 195 * MS && answer.ledger.unexplained < MS, "{:?}", answer.ledger);
    let queue = answer.queue.expect("a server");
    assert_eq!(queue.waited, 0, "it slept, and was with no other request");
}

#[test]
fn where_segments_were_not_recorded_it_begins_when_it_is_read() {
    let mut recording = read_late(20 * MS);
    recording.segments.clear();
    assert!(exchanges(&recording).iter().all(|one| one.length() < MS));
}

/// A server, watched alone, that writes head and body one after the other; the client acknowledges the head so late.
fn head_and_body(delay: u64) -> Recording {
    let (client, server) = (1, 1001);
    let mut fixture = Fixture::new();
    fixture.connect(client, CLIENT);
    for _ in 0..5 {
        fixture.travels(fixture.now, client, server, 100);
        fixture.moves(SERVER, server, READ, 100);
        let head = fixture.now + 2 * US;
        fixture.moves(SERVER, server, WRITE, 80);
        fixture.travels(head, server, client, 80);
        fixture.moves(SERVER, server, WRITE, 20);
        fixture.acknowledges(head + delay, client, server);
        fixture.travels(head + delay + 10 * US, server, client, 20);
        fixture.acknowledges(head + delay + 20 * US, client, server);
        fixture.waits(SERVER, delay + MS, EPOLL_WAIT, |_| {});
    }
    let mut recording = fixture.end();
    recording.connections.retain(|row| row.role == role::SERVER);
    recording.connections[0].peer = 0;
    recording.calls.retain(|call| call.tid == SERVER);
    recording.segments.retain(|segment| segment.connection == server);
    recording
}

#[test]
fn a_server_has_answered_when_what_nagles_algorithm_held_has_left() {
    let recording = head_and_body(40 * MS);
    assert!(exchanges(&recording).iter().all(|exchange| (40 * MS..41 * MS).contains(&exchange.length())));
    let answer = answer(&recording);
    assert_eq!(answer.findings.iter().map(|found| found.id.as_str()).collect::<Vec<_>>(), ["P01"]);
    let held = answer.ledger.accounts.iter().find(|row| row.name.contains("held by Nagle")).expect("an account");
    assert!(held.ns > 5 * 39 * MS, "{:?}", answer.ledger);
}

#[test]
fn a_body_that_leaves_with_a_prompt_acknowledgement_is_no_stall() {
    let recording = head_and_body(60 * US);
    assert!(exchanges(&recording).iter().all(|exchange| exchange.length() < 100 * US));
    assert!(answer(&recording).findings.is_empty());
}

#[test]
fn what_a_server_asks_others_is_not_counted_beside_what_it_is_asked() {
    let mut fixture = keep_alive(5, 300 * US);
    fixture.connect(7, SERVER);
    fixture.recording.connections.pop();
    fixture.moves(SERVER, 7, WRITE, 100);
    fixture.waits_for(SERVER, 7, 500 * US, 100);
    assert_eq!(exchanges(&fixture.end()).len(), 5);
}

#[test]
fn a_datagram_socket_has_no_exchanges() {
    let mut recording = keep_alive(5, 300 * US).end();
    recording.connections.iter_mut().for_each(|row| row.transport = transport::UDP);
    assert_eq!(exchanges(&recording), []);
}

#[test]
fn a_wait_before_an_own_write_is_not_the_networks() {
    let mut fixture = keep_alive(1, 300 * US);
    fixture.moves(CLIENT, 1, WRITE, 100);
    fixture.waits(CLIENT, 400 * MS, EPOLL_WAIT, |call| (call.connection, call.result) = (1, 0));
    fixture.moves(CLIENT, 1, WRITE, 100);
    fixture.waits_for(CLIENT, 1, 300 * US, 100);
    let ledger = answer(&fixture.end()).ledger;
    assert!(ledger.accounts[0].name.starts_with("blocked in epoll_wait"), "{ledger:?}");
}
