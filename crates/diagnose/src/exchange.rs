//! Exchanges: one request's bytes out and its response's bytes back on one connection.
//!
//! At the client's end: from the first bytes written to the last bytes read before the next write. At the server's end:
//! from the first bytes read to the last bytes written. Each is counted once, at the client's end where both were
//! recorded. A TLS handshake is no exchange of its own: it belongs, with the look-up of the name and the connect, to the
//! first exchange of the connection.

use crate::connections::{Connections, End, transfer_time};
use crate::syscall;
use crate::threads::{busy_part, call_end};
use case::Recording;
use case::tables::{Call, direction, role, transport};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A request that got no answer counts only if somebody waited this long for one: a farewell before closing does not.
const UNANSWERED: u64 = 10_000_000;

/// A connection that stood ready this long before its first request was opened ahead of time: nobody waited for it.
const EARLY_OPEN: u64 = 100_000_000;

/// The longest alert on the wire, with its header: 5 + 16 + 32 bytes with the longest usual padding and checksum.
const LONGEST_ALERT: i64 = 64;

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

/// The phases before the first request of a connection. Each begins where the one before ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetUp {
    /// When it began.
    pub start: u64,
    /// The look-up of the name, from the first query to the connect; empty where there was none.
    pub lookup: (u64, u64),
    /// When the connect was called.
    pub connect: u64,
    /// When the connection was there.
    pub connected: u64,
    /// When the TLS handshake began; equal to `application` where there was none.
    pub handshake: u64,
    /// When the first request could be written.
    pub application: u64,
}

impl Exchange {
    /// How long it took.
    pub fn length(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

/// All exchanges in order of their starts: those that count, and those inside them (a proxy's own requests).
pub struct Exchanges {
    /// The ones that count.
    pub counted: Vec<Exchange>,
    /// Made by a server in order to answer.
    pub inner: Vec<Exchange>,
}

/// Finds the exchanges of a recording.
pub fn find(recording: &Recording, connections: &Connections) -> Exchanges {
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
    let (inner, counted) = found.into_iter().partition(|exchange| has_outer && is_server(exchange));
    Exchanges { counted, inner }
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
        let handshaking = transfer_time(call) < application;
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
    if let Some(first) = found.get_mut(first_found) {
        set_ups.apply(recording, connections, first, last_before.max(application));
    }
    for exchange in &found[first_found..] {
        set_ups.ended(connections.row(slot).pid, exchange.end);
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

/// Whether a small transfer is a TLS alert: as a rule the farewell before closing.
fn is_alert(recording: &Recording, call: &Call) -> bool {
    if call.result > LONGEST_ALERT || recording.tls_records.is_empty() {
        return false;
    }
    let way = if syscall::is_write(call.number) { direction::OUT } else { direction::IN };
    let records = &recording.tls_records;
    let first = records.partition_point(|row| (row.connection, row.time) < (call.connection, call.start));
    let here = records[first..].iter().take_while(|row| row.connection == call.connection && row.time == call.start);
    let mut here = here.filter(|row| row.direction == way).peekable();
    // In TLS 1.3 an alert is application data of 2 bytes, its type and a 16-byte tag.
    here.peek().is_some() && here.all(|row| row.content_type == 21 || (row.content_type == 23 && row.length == 19))
}

/// What is needed to find how connections were set up, met in the order in which they were opened.
struct SetUps {
    /// For each process, its look-ups not yet claimed, latest last: rows of the table of look-ups.
    lookups: BTreeMap<u32, Vec<usize>>,
    /// For each process with look-ups, when its exchanges ended.
    ended: BTreeMap<u32, BTreeSet<u64>>,
}

impl SetUps {
    fn new(recording: &Recording) -> SetUps {
        let threads: rustc_hash::FxHashMap<u32, u32> = recording.threads.iter().map(|row| (row.tid, row.pid)).collect();
        let mut lookups: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (index, row) in recording.lookups.iter().enumerate() {
            lookups.entry(threads.get(&row.tid).copied().unwrap_or(row.tid)).or_default().push(index);
        }
        lookups.values_mut().for_each(|rows| rows.reverse());
        SetUps { lookups, ended: BTreeMap::new() }
    }

    fn ended(&mut self, pid: u32, end: u64) {
        if self.lookups.contains_key(&pid) {
            self.ended.entry(pid).or_default().insert(end);
        }
    }

    /// Lets the first exchange of a connection begin where the connection did.
    fn apply(&mut self, recording: &Recording, connections: &Connections, first: &mut Exchange, before: u64) {
        let slot = first.connection;
        let row = connections.row(slot);
        let rows = &connections.all()[slot];
        let handshake = connections.handshake(slot);
        if first.end_seen == End::Server {
            if let Some(handshake) = handshake {
                let application = first.start;
                let start = handshake.start.0.min(application);
                let lookup = (start, start);
                first.start = start;
                first.set_up =
                    Some(SetUp { start, lookup, connect: start, connected: start, handshake: start, application });
            }
            return;
        }
        let connect_call = rows.connect.map(|index| &recording.calls[index]);
        let opened_here = row.role == role::CLIENT && (connect_call.is_some() || row.opened > recording.manifest.start);
        if !opened_here {
            return;
        }
        let application = first.start;
        let connect = connect_call.map_or(row.opened.0, |call| call.start.0).min(application);
        let connected = match (row.established.0, connect_call) {
            (0, Some(call)) => call_end(call),
            (established, _) => established,
        };
        let connected = connected.clamp(connect, application);
        let lookup = self.claim_lookup(recording, row.pid, connect);
        let start = lookup.0.min(connect);
        let handshake = handshake.map_or(application, |row| row.start.0.clamp(connected, application));
        if application.saturating_sub(connected.max(before)) > EARLY_OPEN {
            return;
        }
        first.start = start;
        first.set_up = Some(SetUp { start, lookup, connect, connected, handshake, application });
    }

    /// The look-ups that a process made since its last exchange ended and before a connect; each is claimed once.
    fn claim_lookup(&mut self, recording: &Recording, pid: u32, connect: u64) -> (u64, u64) {
        let since = self.ended.get(&pid).and_then(|ends| ends.range(..=connect).next_back().copied());
        let since = since.unwrap_or_default();
        let mut start = connect;
        let Some(pending) = self.lookups.get_mut(&pid) else { return (connect, connect) };
        while let Some(row) = pending.last().map(|&index| &recording.lookups[index]) {
            if row.time.0 >= connect {
                break;
            }
            pending.pop();
            if row.time.0 >= since {
                start = start.min(row.time.0);
            }
        }
        (start, connect)
    }
}
