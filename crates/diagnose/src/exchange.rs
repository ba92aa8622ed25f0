//! Exchanges: one request's bytes out and its response's bytes back on one connection.
//!
//! At the client's end: from the first bytes written to the last bytes read before the next write. At the server's end:
//! from the first bytes read to the last bytes written, or to when they left where Nagle's algorithm held them: somebody
//! waits for them until then. Each is counted once, at the client's end where both were
//! recorded. A TLS handshake is no exchange of its own: it belongs, with the look-up of the name and the connect, to the
//! first exchange of the connection.

use crate::connections::{ConnectionRows, Connections, End, transfer_time};
use crate::set_up::{SetUp, SetUps};
use crate::syscall;
use crate::threads::{busy_part, call_end};
use case::Recording;
use case::tables::{Call, TlsRecord, direction, role, transport};
use std::collections::BTreeMap;
use std::ops::Range;

/// A request that got no answer counts only if somebody waited this long for one: a farewell before closing does not.
const UNANSWERED: u64 = 10_000_000;

/// The longest alert on the wire, with its header: 5 + 16 + 32 bytes with the longest usual padding and checksum.
const LONGEST_ALERT: i64 = 64;

/// The head of a TLS record: type, version, length.
const RECORD_HEAD: i64 = 5;

/// Lengths of TLS 1.3's last handshake record: a head of 4, a digest of 32 or 48, a type and a tag of 16.
const FINISHED_LENGTHS: [u32; 2] = [53, 69];

/// One exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The connection's place in [`Connections::all`].
    pub connection: usize,
    /// Which end it was seen from.
    pub end_seen: End,
    /// Its start, nanoseconds since boot.
    pub start: u64,
    /// Its end.
    pub end: u64,
    /// How the connection was set up, for the first exchange of one.
    pub set_up: Option<SetUp>,
    /// Its transfers: a part of [`Connections::transfers`].
    pub transfers: Range<usize>,
    /// Bytes written and read.
    pub bytes: u64,
    /// Whether an answer came.
    pub answered: bool,
}

impl Exchange {
    /// How long it took.
    pub fn length(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

/// Finds the exchanges of a recording, in order of their starts. What a server asks others in order to answer is no
/// exchange of its own where the one it answers was seen.
pub fn find(recording: &Recording, connections: &Connections) -> Vec<Exchange> {
    let wanted = wanted_transport(connections);
    let mut set_ups = SetUps::new(recording);
    let mut order: Vec<usize> = (0..connections.all().len()).collect();
    order.sort_by_key(|&slot| (connections.row(slot).opened, slot));
    let mut found = Vec::new();
    for slot in order {
        let row = connections.row(slot);
        if row.transport == wanted && row.role != role::LISTENER && !is_seen_from_the_peer(connections, slot) {
            on_connection(recording, connections, slot, &mut set_ups, &mut found);
        }
    }
    let (first, last) = (recording.manifest.start.0, recording.manifest.end.0.max(recording.manifest.start.0));
    for exchange in &mut found {
        // A damaged row can name any time; nothing that was watched lies outside the recording.
        exchange.start = exchange.start.clamp(first, last);
        exchange.end = exchange.end.clamp(first, last);
    }
    found.sort_by_key(|exchange| (exchange.start, exchange.connection));
    let roles: BTreeMap<u32, &str> = recording.processes.iter().map(|row| (row.pid, row.role.as_str())).collect();
    let is_server = |exchange: &Exchange| {
        roles.get(&connections.row(exchange.connection).pid).is_some_and(|&role| role == "server")
    };
    let has_outer = found.iter().any(|exchange| !is_server(exchange));
    found.retain(|exchange| !has_outer || !is_server(exchange));
    found
}

/// TCP, or Unix sockets where nothing went over TCP.
fn wanted_transport(connections: &Connections) -> u8 {
    let moved = |slot: &usize| !connections.transfer_numbers(*slot).is_empty();
    let tcp = |slot: usize| connections.row(slot).transport == transport::TCP;
    let any_tcp = (0..connections.all().len()).filter(moved).any(tcp);
    if any_tcp { transport::TCP } else { transport::UNIX }
}

/// Whether the other end is recorded and is the one to count at.
fn is_seen_from_the_peer(connections: &Connections, slot: usize) -> bool {
    let rows = &connections.all()[slot];
    let Some(peer) = rows.peer else {
        // A Unix socket whose other end nobody watched is a name service or a log as a rule.
        return connections.row(slot).transport == transport::UNIX;
    };
    let peer_rows = &connections.all()[peer];
    match (rows.end, peer_rows.end) {
        (Some(End::Server), Some(End::Client)) => !peer_rows.transfers.is_empty(),
        (Some(ours), Some(theirs)) if ours == theirs => peer < slot && !peer_rows.transfers.is_empty(),
        (None, Some(_)) => true,
        _ => false,
    }
}

fn on_connection(
    recording: &Recording,
    connections: &Connections,
    slot: usize,
    set_ups: &mut SetUps,
    found: &mut Vec<Exchange>,
) {
    let rows = &connections.all()[slot];
    let Some(end_seen) = rows.end else { return };
    let handshake = connections.handshake(slot);
    if handshake.is_some_and(|row| row.end.0 == 0) {
        return;
    }
    let application = handshake.map_or(0, |row| row.end.0);
    let first_found = found.len();
    let mut current: Option<Exchange> = None;
    let mut last_before = 0;
    for position in rows.transfers.clone() {
        let call = &recording.calls[connections.transfers()[position] as usize];
        let handshaking = transfer_time(call) < application && !carries_more(recording, call, application);
        if handshaking || is_alert(recording, call) {
            last_before = if handshaking { call_end(call) } else { last_before };
            continue;
        }
        take(&mut current, found, call, position, slot, end_seen, &mut last_before);
    }
    let closed = connections.row(slot).closed.0.min(recording.manifest.end.0);
    if let Some(mut exchange) = current {
        if !exchange.answered && closed.saturating_sub(exchange.end) >= UNANSWERED {
            exchange.end = closed;
            found.push(exchange);
        } else if exchange.answered {
            found.push(exchange);
        }
    }
    if end_seen == End::Server {
        last_until_left(rows, &mut found[first_found..]);
    }
    if let Some(first) = found.get_mut(first_found) {
        set_ups.apply(recording, connections, first, last_before.max(application));
    }
    for exchange in &found[first_found..] {
        set_ups.ended(connections.row(slot).pid, exchange.end);
    }
}

/// Lengthens the exchanges of a server's end whose last bytes Nagle's algorithm held, at most to the next one.
fn last_until_left(rows: &ConnectionRows, exchanges: &mut [Exchange]) {
    for at in 0..exchanges.len() {
        let next = exchanges.get(at + 1).map_or(u64::MAX, |next| next.start);
        let exchange = &mut exchanges[at];
        let begun = &rows.holds[..rows.holds.partition_point(|hold| hold.start <= exchange.end)];
        let held = begun.last().filter(|hold| hold.nagle.is_some() && hold.start > exchange.start);
        let left = held.map_or(0, |hold| hold.end.min(next));
        exchange.end = exchange.end.max(left);
    }
}

/// Adds a transfer to the exchange it belongs to, closing the one before where it begins another.
fn take(
    current: &mut Option<Exchange>,
    found: &mut Vec<Exchange>,
    call: &Call,
    position: usize,
    slot: usize,
    end_seen: End,
    last_before: &mut u64,
) {
    let asks = syscall::is_write(call.number) == (end_seen == End::Client);
    if asks && current.as_ref().is_none_or(|exchange| exchange.answered) {
        found.extend(current.take());
        let start =
            if syscall::is_write(call.number) { call.start.0 } else { call_end(call).saturating_sub(busy_part(call)) };
        *current = Some(Exchange {
            connection: slot,
            end_seen,
            start,
            end: start,
            set_up: None,
            transfers: position..position,
            bytes: 0,
            answered: false,
        });
    }
    match current {
        Some(exchange) => {
            exchange.answered |= !asks;
            exchange.end = exchange.end.max(call_end(call));
            exchange.transfers.end = position + 1;
            exchange.bytes += call.result.max(0) as u64;
        }
        // What is read before anything was asked: the end of a handshake, a ticket, a banner.
        None => *last_before = call_end(call),
    }
}

/// Whether the transfer that ends a handshake goes on with application data: some runtimes write the client's last
/// handshake record and its first request at once.
fn carries_more(recording: &Recording, call: &Call, handshake_end: u64) -> bool {
    if call_end(call) < handshake_end {
        return false;
    }
    let (mut position, mut changed_cipher) = (0, false);
    for row in records_of(recording, call) {
        position += i64::from(row.length) + RECORD_HEAD;
        // In TLS 1.2 the last handshake record follows the change of ciphers; in 1.3 it looks like application data
        // and is told by its length.
        let finished = (changed_cipher && row.content_type == 22)
            || (row.content_type == 23 && FINISHED_LENGTHS.contains(&row.length));
        if finished {
            return call.result > position;
        }
        changed_cipher |= row.content_type == 20;
    }
    false
}

/// Whether a small transfer is a TLS alert: as a rule the farewell before closing.
fn is_alert(recording: &Recording, call: &Call) -> bool {
    if call.result > LONGEST_ALERT || recording.tls_records.is_empty() {
        return false;
    }
    let mut here = records_of(recording, call).peekable();
    // In TLS 1.3 an alert is application data of 2 bytes, its type and a 16-byte tag.
    here.peek().is_some() && here.all(|row| row.content_type == 21 || (row.content_type == 23 && row.length == 19))
}

/// The TLS records that begin in a transfer.
fn records_of<'r>(recording: &'r Recording, call: &Call) -> impl Iterator<Item = &'r TlsRecord> + use<'r> {
    let way = if syscall::is_write(call.number) { direction::OUT } else { direction::IN };
    let (connection, start) = (call.connection, call.start);
    let records = &recording.tls_records;
    let first = records.partition_point(|row| (row.connection, row.time) < (connection, start));
    let here = records[first..].iter().take_while(move |row| row.connection == connection && row.time == start);
    here.filter(move |row| row.direction == way)
}

#[cfg(test)]
mod tests {
    use crate::scene::{CLIENT, EPOLL_WAIT, MS, READ, SERVER, Scene, US, WRITE, keep_alive, request};
    use crate::tests::answer;
    use crate::{Exchange, Options, study};
    use case::tables::{TlsRecord, direction, role, transport};
    use case::{Nanos, Recording};

    fn exchanges(recording: &Recording) -> Vec<Exchange> {
        study(recording, "case", &Options::default()).exchanges
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
        let set_up = exchanges[0].set_up.expect("a set-up");
        assert_eq!((set_up.connect, exchanges[0].start), (MS, MS));
        assert!(exchanges[1].set_up.is_none());
    }

    #[test]
    fn a_connection_that_stood_ready_early_does_not_lengthen_its_first_exchange() {
        let mut scene = Scene::new();
        scene.connect(1, CLIENT);
        let mut idle = scene.now;
        scene.waits(CLIENT, 500 * MS, 35, |_| {});
        request(&mut scene, CLIENT, 1, 300 * US, &mut idle);
        assert!(exchanges(&scene.end())[0].length() < MS);
    }

    #[test]
    fn a_handshake_is_no_exchange_of_its_own() {
        let mut scene = Scene::new();
        let mut idle = scene.now;
        scene.connect(1, CLIENT);
        let start = scene.now;
        for _ in 0..2 {
            scene.moves(CLIENT, 1, WRITE, 300);
            scene.waits_for(CLIENT, 1, 2 * MS, 3000);
        }
        scene.handshake(1, CLIENT, start, |_| {});
        request(&mut scene, CLIENT, 1, 300 * US, &mut idle);
        let recording = scene.end();
        let exchanges = exchanges(&recording);
        assert_eq!(exchanges.len(), 1);
        assert!(exchanges[0].length() > 4 * MS);
        let ledger = answer(&recording).ledger;
        let shaking = ledger.accounts.iter().find(|row| row.name == "TLS handshake (full)").expect("an account");
        assert!(shaking.ns > 3 * MS, "{ledger:?}");
    }

    #[test]
    fn a_request_written_together_with_the_handshakes_end_is_a_request() {
        let mut scene = Scene::new();
        scene.connect(1, CLIENT);
        let start = scene.now;
        scene.moves(CLIENT, 1, WRITE, 300);
        scene.waits_for(CLIENT, 1, 2 * MS, 3000);
        let time = Nanos(scene.now);
        for (content_type, length) in [(20, 1), (23, 69)] {
            let record = TlsRecord { time, connection: 1, tid: CLIENT, content_type, length, ..TlsRecord::default() };
            scene.recording.tls_records.push(record);
        }
        scene.moves(CLIENT, 1, WRITE, 6 + 74 + 92);
        scene.handshake(1, CLIENT, start, |_| {});
        scene.waits_for(CLIENT, 1, MS, 500);
        assert_eq!(exchanges(&scene.end()).len(), 1);
    }

    #[test]
    fn a_farewell_is_no_request() {
        let mut scene = keep_alive(2, 300 * US);
        let time = Nanos(scene.now);
        let record = TlsRecord { time, connection: 1, content_type: 21, length: 19, ..TlsRecord::default() };
        scene.recording.tls_records.push(TlsRecord { direction: direction::OUT, ..record });
        scene.moves(CLIENT, 1, WRITE, 24);
        scene.now += 500 * MS;
        assert_eq!(exchanges(&scene.end()).len(), 2);
    }

    #[test]
    fn a_request_that_is_never_answered_counts_until_the_connection_closes() {
        let mut scene = keep_alive(2, 300 * US);
        scene.moves(CLIENT, 1, WRITE, 200);
        scene.waits(CLIENT, 500 * MS, READ, |call| call.connection = 1);
        let exchanges = exchanges(&scene.end());
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

    /// A server, watched alone, that writes head and body one after the other; the client acknowledges the head so late.
    fn head_and_body(delay: u64) -> Recording {
        let (client, server) = (1, 1001);
        let mut scene = Scene::new();
        scene.connect(client, CLIENT);
        for _ in 0..5 {
            scene.travels(scene.now, client, server, 100);
            scene.moves(SERVER, server, READ, 100);
            let head = scene.now + 2 * US;
            scene.moves(SERVER, server, WRITE, 80);
            scene.travels(head, server, client, 80);
            scene.moves(SERVER, server, WRITE, 20);
            scene.acknowledges(head + delay, client, server);
            scene.travels(head + delay + 10 * US, server, client, 20);
            scene.acknowledges(head + delay + 20 * US, client, server);
            scene.waits(SERVER, delay + MS, EPOLL_WAIT, |_| {});
        }
        let mut recording = scene.end();
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
        let mut scene = keep_alive(5, 300 * US);
        scene.connect(7, SERVER);
        scene.recording.connections.pop();
        scene.moves(SERVER, 7, WRITE, 100);
        scene.waits_for(SERVER, 7, 500 * US, 100);
        assert_eq!(exchanges(&scene.end()).len(), 5);
    }

    #[test]
    fn a_datagram_socket_has_no_exchanges() {
        let mut recording = keep_alive(5, 300 * US).end();
        recording.connections.iter_mut().for_each(|row| row.transport = transport::UDP);
        assert_eq!(exchanges(&recording), []);
    }

    #[test]
    fn a_wait_before_an_own_write_is_not_the_networks() {
        let mut scene = keep_alive(1, 300 * US);
        scene.moves(CLIENT, 1, WRITE, 100);
        scene.waits(CLIENT, 400 * MS, EPOLL_WAIT, |call| (call.connection, call.result) = (1, 0));
        scene.moves(CLIENT, 1, WRITE, 100);
        scene.waits_for(CLIENT, 1, 300 * US, 100);
        let ledger = answer(&scene.end()).ledger;
        assert!(ledger.accounts[0].name.starts_with("blocked in epoll_wait"), "{ledger:?}");
    }
}
