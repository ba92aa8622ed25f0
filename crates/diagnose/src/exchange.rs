//! Exchanges: one request's bytes out and its response's bytes back on one connection.
//!
//! At the client's end: from the first bytes written to the last bytes read before the next write. At the server's end:
//! from when the first bytes read had arrived to the last bytes written, or to when they left where Nagle's algorithm held
//! them: somebody waits for them all that time. Each is counted once, at the client's end where both were
//! recorded. A TLS handshake is no exchange of its own: it belongs, with the look-up of the name and the connect, to the
//! first exchange of the connection.

mod cut;
mod served;
mod set_up;
mod turns;

use crate::connections::{ConnectionRows, Connections, End, transfer_time};
use crate::spans;
use crate::syscall;
use crate::threads::{busy_part, call_end};
use crate::windows::Windows;
use case::Recording;
use case::tables::{Call, TlsRecord, direction, role, transport};
use cut::Cut;
use set_up::SetUps;
use std::collections::BTreeMap;
use std::ops::Range;
use turns::Turns;

pub use set_up::SetUp;

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
    pub set_up: Option<Box<SetUp>>,
    /// Its transfers: a part of [`Connections::transfers`].
    pub transfers: Range<u32>,
    /// Those of the server, where it was recorded: see [`Connections::served`].
    pub served: Range<u32>,
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

/// The exchanges of a recording, in order of their starts.
pub struct Exchanges {
    /// Those that count.
    pub counted: Vec<Exchange>,
    /// What a server asks others in order to answer, where the exchange that it answers was seen: a part of that one.
    pub inner: Vec<Exchange>,
    /// When there was one of which only a part has rows: merged, in order of time.
    pub cut: Vec<(u64, u64)>,
}

/// Finds the exchanges of a recording, so many steps behind the clients: 0 are the clients' own, 1 what the servers that they
/// ask have to ask other recorded servers in order to answer, and so on. None reaches into time without rows.
pub fn find(recording: &Recording, connections: &Connections, windows: &Windows, steps: usize) -> Exchanges {
    let wanted = wanted_transport(connections);
    let mut set_ups = SetUps::new(recording);
    let mut order: Vec<usize> = (0..connections.all().len()).collect();
    order.sort_by_key(|&slot| (connections.row(slot).opened, slot));
    let turns = Turns::new(recording, connections, windows);
    let (mut found, mut cut) = (Vec::new(), Vec::new());
    for slot in order {
        let row = connections.row(slot);
        // A proxy and the service behind it often share a Unix socket.
        let is_wanted = row.transport == wanted || (steps > 0 && row.transport == transport::UNIX);
        if is_wanted && row.role != role::LISTENER && !is_seen_from_the_peer(connections, slot) {
            on_connection((recording, windows, &turns), connections, slot, &mut set_ups, (&mut found, &mut cut));
        }
    }
    let (first, last) = (recording.manifest.start.0, recording.manifest.end.0.max(recording.manifest.start.0));
    for exchange in &mut found {
        // A damaged row can name any time; nothing that was watched lies outside the recording.
        exchange.start = exchange.start.clamp(first, last);
        exchange.end = exchange.end.clamp(first, last);
    }
    found.retain(|exchange| windows.is_whole(exchange.start, exchange.end));
    let cut = spans::merge(cut.into_iter().filter(|(from, to)| from < to).collect());
    let order = |exchange: &Exchange| (exchange.start, exchange.connection);
    if !found.is_sorted_by_key(order) {
        found.sort_by_key(order);
    }
    for exchange in &mut found {
        exchange.served = served::by_server(recording, connections, exchange);
    }
    let roles: BTreeMap<u32, &str> = recording.processes.iter().map(|row| (row.pid, row.role.as_str())).collect();
    let is_server = |exchange: &Exchange| {
        roles.get(&connections.row(exchange.connection).pid).is_some_and(|&role| role == "server")
    };
    let (mut counted, mut inner) = if found.iter().all(is_server) {
        // Servers alone, whose clients nobody watches: what they ask others for those is a part of it, watched or not.
        let asked = found.iter().filter(|exchange| exchange.end_seen == End::Server).cloned().collect::<Vec<_>>();
        let (inner, counted) = behind(recording, connections, &asked, found, |_| true);
        (counted, inner)
    } else {
        found.into_iter().partition(|exchange| !is_server(exchange))
    };
    for _ in 0..steps {
        let is_recorded = |exchange: &Exchange| !exchange.served.is_empty();
        (counted, inner) = behind(recording, connections, &counted, inner, is_recorded);
    }
    Exchanges { counted, inner, cut }
}

/// Of what servers ask others that which is wanted and the servers of some exchanges ask while they have one of these in hand, and the
/// rest.
fn behind(
    recording: &Recording,
    connections: &Connections,
    asked: &[Exchange],
    inner: Vec<Exchange>,
    is_wanted: impl Fn(&Exchange) -> bool,
) -> (Vec<Exchange>, Vec<Exchange>) {
    let mut in_hand: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
    for exchange in asked.iter().filter(|exchange| !exchange.served.is_empty()) {
        if let Some(&row) = connections.transfers().get(exchange.served.start as usize) {
            let server = recording.calls[row as usize].pid;
            in_hand.entry(server).or_default().push((exchange.start, exchange.end));
        }
    }
    let in_hand: BTreeMap<u32, Vec<(u64, u64)>> =
        in_hand.into_iter().map(|(pid, held)| (pid, spans::merge(held))).collect();
    inner.into_iter().partition(|exchange| {
        let held = in_hand.get(&connections.row(exchange.connection).pid).map_or(&[][..], Vec::as_slice);
        let is_for_one = spans::length(spans::within(held, exchange.start, exchange.end)) == exchange.length();
        exchange.end_seen == End::Client && is_wanted(exchange) && is_for_one
    })
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
    (recording, windows, turns): (&Recording, &Windows, &Turns),
    connections: &Connections,
    slot: usize,
    set_ups: &mut SetUps,
    (found, cut): (&mut Vec<Exchange>, &mut Vec<(u64, u64)>),
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
    let opened = connections.row(slot).opened.0;
    let mut since = opened;
    let (mut window, mut is_under_way) = (windows.number(opened), !windows.has_rows_at(opened));
    let mut cut_here = Cut::new(windows, opened);
    for position in rows.transfers.clone() {
        let call = &recording.calls[connections.transfers()[position] as usize];
        let mut arrived_after = std::mem::replace(&mut since, transfer_time(call));
        if windows.number(transfer_time(call)) != window {
            // Where one exchange ends and another begins is not known until it is the other end's turn again, unless a turn's
            // first or last call tells.
            (window, is_under_way) = (windows.number(transfer_time(call)), true);
            arrived_after = windows.around(transfer_time(call)).0;
            let over = current.take_if(|exchange| turns.is_over(connections, exchange));
            found.extend(over);
            cut_here.enters(transfer_time(call), current.take());
        }
        let is_read_request = end_seen == End::Server && asks(call, end_seen);
        let arrived = if is_read_request { arrived(connections, slot, arrived_after, call) } else { None };
        // What had arrived before the window began has waited for nobody knows how long.
        let is_seen = !is_read_request || arrived.is_some() || connections.segments(slot).is_empty();
        if is_under_way && asks(call, end_seen) && !(is_seen && turns.begins(connections, slot, call)) {
            cut_here.is_asked(transfer_time(call));
            continue;
        }
        is_under_way = false;
        match current {
            None if !asks(call, end_seen) => cut_here.is_answered(call_end(call)),
            _ => cut_here.begins(),
        }
        let handshaking = transfer_time(call) < application && !carries_more(recording, call, application);
        if handshaking || is_alert(recording, call) {
            last_before = if handshaking { call_end(call) } else { last_before };
            continue;
        }
        take(&mut current, found, (call, position, arrived), slot, end_seen, &mut last_before);
    }
    let closed = connections.closing(slot).min(recording.manifest.end.0);
    let is_whole =
        |exchange: &Exchange| windows.is_whole(exchange.start, closed) || turns.is_over(connections, exchange);
    cut.extend(cut_here.spans(current.as_ref().filter(|exchange| !is_whole(exchange)), &found[first_found..]));
    found.extend(current.filter(is_whole).and_then(|exchange| counted(exchange, closed)));
    if end_seen == End::Server {
        last_until_left(rows, &mut found[first_found..]);
    }
    if let Some(first) = found.get_mut(first_found)
        && windows.is_whole(opened, first.start)
    {
        set_ups.apply(recording, connections, first, last_before.max(application));
    }
    for exchange in &found[first_found..] {
        set_ups.ended(connections.row(slot).pid, exchange.end);
    }
}

/// The last exchange of a connection that was closed then, where it counts.
fn counted(mut exchange: Exchange, closed: u64) -> Option<Exchange> {
    if !exchange.answered {
        if closed.saturating_sub(exchange.end) < UNANSWERED {
            return None;
        }
        exchange.end = closed;
    }
    Some(exchange)
}

/// Lengthens the exchanges of a server's end whose last bytes Nagle's algorithm held, at most to the next one.
fn last_until_left(rows: &ConnectionRows, exchanges: &mut [Exchange]) {
    for at in 0..exchanges.len() {
        let next = exchanges.get(at + 1).map_or(u64::MAX, |next| next.start);
        let exchange = &mut exchanges[at];
        let begun = &rows.send_stalls[..rows.send_stalls.partition_point(|stall| stall.start <= exchange.end)];
        let held = begun.last().filter(|stall| stall.nagle.is_some() && stall.start > exchange.start);
        let left = held.map_or(0, |stall| stall.end.min(next));
        exchange.end = exchange.end.max(left);
    }
}

/// Whether a transfer is of a request: written by a client, or read by a server.
fn asks(call: &Call, end_seen: End) -> bool {
    syscall::is_write(call.number) == (end_seen == End::Client)
}

/// When the bytes of a read had arrived, as far as they came since a time; none where that was not recorded.
pub fn arrived(connections: &Connections, slot: usize, since: u64, read: &Call) -> Option<u64> {
    let segments = connections.segments(slot);
    let first = segments.partition_point(|segment| segment.time.0 <= since);
    let mut later = segments[first..].iter().take_while(|segment| segment.time.0 < call_end(read));
    later.find(|segment| segment.direction == direction::IN && segment.payload > 0).map(|segment| segment.time.0)
}

/// Adds a transfer to the exchange it belongs to, closing the one before where it begins another.
fn take(
    current: &mut Option<Exchange>,
    found: &mut Vec<Exchange>,
    (call, position, arrived): (&Call, usize, Option<u64>),
    slot: usize,
    end_seen: End,
    last_before: &mut u64,
) {
    let asks = asks(call, end_seen);
    if asks && current.as_ref().is_none_or(|exchange| exchange.answered) {
        let before = current.take();
        let earliest = before.as_ref().map_or(0, |exchange| exchange.end);
        found.extend(before);
        let read = || call_end(call).saturating_sub(busy_part(call));
        let start = match arrived {
            _ if syscall::is_write(call.number) => call.start.0,
            Some(arrived) => arrived.max(earliest).min(read()),
            None => read(),
        };
        *current = Some(Exchange {
            connection: slot,
            end_seen,
            start,
            end: start,
            set_up: None,
            transfers: position as u32..position as u32,
            served: 0..0,
            bytes: 0,
            answered: false,
        });
    }
    match current {
        Some(exchange) => {
            exchange.answered |= !asks;
            exchange.end = exchange.end.max(call_end(call));
            exchange.transfers.end = position as u32 + 1;
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
        // and only its length gives it away.
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
pub fn records_of<'r>(recording: &'r Recording, call: &Call) -> impl Iterator<Item = &'r TlsRecord> + use<'r> {
    let way = if syscall::is_write(call.number) { direction::OUT } else { direction::IN };
    let (connection, start) = (call.connection, call.start);
    let records = &recording.tls_records;
    let first = records.partition_point(|row| (row.connection, row.time) < (connection, start));
    let here = records[first..].iter().take_while(move |row| row.connection == connection && row.time == start);
    here.filter(move |row| row.direction == way)
}

#[cfg(test)]
mod tests;
