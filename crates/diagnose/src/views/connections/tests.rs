//! Connections as a table: the busiest first, both ends, never more than a page can bear.

use super::*;
use crate::fixture::{CLIENT, Fixture, MS, US, WRITE, keep_alive};
use case::tables::Connection;
use case::{End, Nanos, Recording};

fn listed(recording: &Recording) -> (Vec<ConnectionView>, Rest) {
    sheet(&Analysis::new(recording))
}

#[test]
fn both_ends_of_a_connection_stand_side_by_side() {
    let (rows, rest) = listed(&keep_alive(3, 300 * US).end());
    assert_eq!(rest, Rest::default());
    let ends: Vec<_> = rows.iter().map(|row| (row.end, row.process.as_str(), row.exchanges)).collect();
    assert_eq!(ends, [(Some(End::Client), "client (100)", 3), (Some(End::Server), "server (200)", 3)]);
    assert_eq!((rows[0].bytes_out, rows[0].bytes_in), (600, 3_000));
    assert_eq!((rows[0].remote.as_str(), rows[0].transport), ("10.0.0.2:80", Transport::Tcp));
    assert!(rows[0].exchange_ns > 900 * US && rows[0].tls_version.is_empty() && rows[0].handshake.is_none());
}

#[test]
fn a_handshake_is_shown_by_its_names() {
    let mut fixture = keep_alive(1, 300 * US);
    fixture.handshake(1, CLIENT, MS, |row| (row.cipher, row.resumed, row.end) = (0x1301, true, Nanos(3 * MS)));
    fixture.handshake(1001, 200, MS, |row| row.end = Nanos(0));
    let (rows, _) = listed(&fixture.end());
    assert_eq!((rows[0].tls_version.as_str(), rows[0].cipher.as_str()), ("TLS 1.3", "TLS_AES_128_GCM_SHA256"));
    assert_eq!((rows[0].handshake, rows[0].handshake_ns), (Some(HandshakeState::Resumed), 2 * MS));
    assert_eq!((rows[1].handshake, rows[1].handshake_ns), (Some(HandshakeState::Unfinished), 0));
}

#[test]
fn addresses_of_ipv6_are_in_brackets() {
    assert_eq!(address("fe80::1", 443), "[fe80::1]:443");
    assert_eq!(address("10.0.0.1", 443), "10.0.0.1:443");
    assert_eq!(address("/run/socket", 0), "/run/socket");
}

#[test]
fn the_busiest_are_shown_and_the_rest_is_summed_up() {
    let mut fixture = Fixture::new();
    for id in 1..=300u32 {
        fixture.connect(id, CLIENT);
        // Nobody watched the other end: each row is a connection of its own.
        fixture.recording.connections.pop();
        fixture.recording.connections.last_mut().expect("a row").peer = 0;
        fixture.moves(CLIENT, id, WRITE, 100);
        fixture.waits_for(CLIENT, id, u64::from(id) * 10 * US, 50);
    }
    let (rows, rest) = listed(&fixture.end());
    assert_eq!(rows.len(), 200);
    assert!(rows.is_sorted_by_key(|row| Reverse(row.exchange_ns)));
    assert_eq!((rows[0].id, rows[199].id), (300, 101));
    assert_eq!(rest, Rest { rows: 100, exchanges: 100, bytes: 100 * 150 });
}

#[test]
fn sockets_that_listen_or_moved_nothing_are_no_connections() {
    let mut recording = keep_alive(0, 0).end();
    recording.connections = vec![
        Connection { id: 1, role: role::LISTENER, transport: transport::TCP, ..Connection::default() },
        Connection { id: 2, transport: transport::OTHER, ..Connection::default() },
    ];
    assert_eq!(listed(&recording), (Vec::new(), Rest::default()));
}
