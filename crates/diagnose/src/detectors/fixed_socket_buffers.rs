//! P22: a socket buffer of a fixed size is full before the peer answers.

#[cfg(test)]
mod tests;

use super::{Found, costly_call, detector, median, rows};
use crate::analysis::{Analysis, PotentialSaving};
use crate::exchange::Exchange;
use crate::number;
use crate::stops::{self, Stop};
use crate::syscall;
use case::tables::{role, transport};
use case::{Bytes, End, Nanos};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

detector! {
    /// # fixed-socket-buffers
    ///
    /// ## What it is
    /// A program sets the size of a socket's buffer (SO_SNDBUF, SO_RCVBUF), which otherwise grows as needed. Only so many
    /// bytes can be in flight at a time; then the sender waits for an acknowledgement, a round trip or, where the buffer holds
    /// less than two segments, until the receiver's delayed ACK.
    ///
    /// ## Evidence
    /// The option is set, the message is longer than the buffer, and in the middle of it a buffer's worth is in flight, the
    /// sender waits and the receiver waits for data, until an acknowledgement arrives and the sender goes on. Charged is the
    /// time from the last segment before to the next one.
    ///
    /// ## What proves it
    /// The option is left out: the kernel's own buffers take more, and the waits are gone.
    ///
    /// ## Remedy
    /// Do not set the option, or to no less than bandwidth times round trip, and never below a few segments (65,483 bytes each
    /// on the loopback).
    ///
    /// ## Not to be confused with
    /// A receiver that reads slowly (it does not wait for data then), Nagle's algorithm (little is in flight), a slow start. Where
    /// the sender was not recorded this is not looked for.
    "P22" "fixed-socket-buffers"
}

/// Fewer waits are chance.
const REPEATED: usize = 3;
/// What takes less of the requests' time than this is not what makes them slow.
const LEAST_SHARE: f64 = 0.1;
/// What a window holds at most without scaling (RFC 9293). A receiver with less is woken for each of few segments, so that it is on
/// CPU in its calls rather than blocked in them.
const SMALL: u64 = 65_535;
/// What a packet holds at most before it is cut into segments (GSO). A send buffer with any room left takes all of one, however
/// small the buffer is (`sk_stream_memory_free`, `tcp_sendmsg_locked`).
const LARGEST_PACKET: u64 = 65_536;
/// The level of options that all sockets have, SOL_SOCKET, and those that set the size of a buffer, also past the kernel's limit
/// (`asm-generic/socket.h`).
const SOCKET_LEVEL: u64 = 1;
const SO_SNDBUF: u64 = 7;
const SO_RCVBUF: u64 = 8;
const SO_SNDBUFFORCE: u64 = 32;
const SO_RCVBUFFORCE: u64 = 33;

/// Which of a socket's buffers was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Buffer {
    Send,
    Receive,
}

/// A buffer's size as it was asked for: the kernel takes twice as much and counts its own overhead against it.
#[derive(Clone, Copy)]
struct Limit {
    buffer: Buffer,
    bytes: u64,
    /// The `setsockopt`: a row of the table of calls.
    call: usize,
}

/// A wait of the sender for room.
struct Wait {
    limit: Limit,
    end: End,
    from: u64,
    to: u64,
    /// Bytes in flight meanwhile.
    under_way: u64,
}

fn detect(analysis: &Analysis) -> Option<Found> {
    let limits = Limits::new(analysis);
    if limits.of_socket.is_empty() && limits.of_listener.is_empty() {
        return None;
    }
    let mut waits = Vec::new();
    let (mut affected, mut wall) = (0, 0);
    for exchange in &analysis.exchanges {
        let before = waits.len();
        for slot in
            [Some(exchange.connection), analysis.connections.all()[exchange.connection].peer].into_iter().flatten()
        {
            for limit in limits.of(analysis, slot) {
                find_waits(analysis, exchange, slot, limit, &mut waits);
            }
        }
        affected += u64::from(waits.len() > before);
        let spans = waits[before..].iter().map(|wait: &Wait| (wait.from, wait.to)).collect();
        wall += crate::spans::merge(spans).iter().map(|(from, to)| to - from).sum::<u64>();
    }
    if waits.len() < REPEATED || (wall as f64) < LEAST_SHARE * analysis.exchange_wall() as f64 {
        return None;
    }
    let mut by_call: BTreeMap<usize, u64> = BTreeMap::new();
    for wait in &waits {
        *by_call.entry(wait.limit.call).or_default() += wait.to - wait.from;
    }
    let (&dearest, _) = by_call.iter().max_by_key(|(_, length)| **length)?;
    let top = waits.iter().find(|wait| wait.limit.call == dearest)?;
    let (of, option) = match top.limit.buffer {
        Buffer::Send => ("send buffer", "SO_SNDBUF"),
        Buffer::Receive => ("receive buffer", "SO_RCVBUF"),
    };
    let whose = if top.end == End::Server { "server" } else { "client" };
    let bytes = Bytes(top.limit.bytes);
    let what = format!("The {whose}'s {of} is fixed at {bytes} ({option}), too small for what it transfers");
    let requests = analysis.exchanges.len().max(1) as u64;
    let (part, each) = (Nanos(wall / requests), Nanos(analysis.exchange_wall() / requests));
    let place = costly_call(analysis, by_call.iter().map(|(&row, &length)| (row, length)));
    let usual = Nanos(median(waits.iter().map(|wait| wait.to - wait.from).collect()));
    let under_way = Bytes(median(waits.iter().map(|wait| wait.under_way).collect()));
    Some(Found {
        title: format!("{what}: the sender waits for {part} of every {each} request{}", place.in_words()),
        what,
        mechanism: vec![format!(
            "{} times the sender stopped in the middle of a message, with {under_way} in flight in half of them, until these \
             were acknowledged; half of the waits took {usual} or more. The receiver was waiting for data.",
            number::count(waits.len() as u64)
        )],
        saving: PotentialSaving { wall, affected, ..PotentialSaving::default() },
        place,
        remedy: format!("Leave the buffer to the kernel, which lets it grow as needed: do not set {option}."),
        rows: rows("calls", by_call.keys().copied()),
        stalls: waits.iter().map(|wait| (wait.from, wait.to)).collect(),
        ..Found::default()
    })
}

/// What was set on which socket.
pub(super) struct Limits {
    of_socket: FxHashMap<u32, Vec<Limit>>,
    /// What is accepted inherits from the listener: by network namespace and port.
    of_listener: FxHashMap<(u64, u16), Vec<Limit>>,
}

impl Limits {
    pub(super) fn new(analysis: &Analysis) -> Limits {
        let mut limits = Limits { of_socket: FxHashMap::default(), of_listener: FxHashMap::default() };
        for (row, call) in analysis.calls_of(|number| number == syscall::SETSOCKOPT) {
            if call.result != 0 || call.argument_1 != SOCKET_LEVEL {
                continue;
            }
            let buffer = match call.argument_2 {
                SO_SNDBUF | SO_SNDBUFFORCE => Buffer::Send,
                SO_RCVBUF | SO_RCVBUFFORCE => Buffer::Receive,
                _ => continue,
            };
            let limit = Limit { buffer, bytes: call.argument_3, call: row };
            let Some(slot) = analysis.connections.slot(call.connection) else { continue };
            let connection = analysis.connections.row(slot);
            let set = match connection.role {
                role::LISTENER => {
                    let listener = (connection.network_namespace, connection.local_port);
                    limits.of_listener.entry(listener).or_default()
                }
                _ => limits.of_socket.entry(connection.id).or_default(),
            };
            set.retain(|earlier| earlier.buffer != buffer);
            set.push(limit);
        }
        limits
    }

    /// Whether the program sets the size of a buffer of a connection.
    pub(super) fn is_set(&self, analysis: &Analysis, slot: usize) -> bool {
        !self.of(analysis, slot).is_empty()
    }

    /// What holds for a connection: its own option, else its listener's.
    fn of(&self, analysis: &Analysis, slot: usize) -> Vec<Limit> {
        let row = analysis.connections.row(slot);
        if row.transport != transport::TCP {
            return Vec::new();
        }
        let mut found = self.of_socket.get(&row.id).cloned().unwrap_or_default();
        if row.role == role::SERVER
            && let Some(inherited) = self.of_listener.get(&(row.network_namespace, row.local_port))
        {
            let own = found.clone();
            found.extend(inherited.iter().filter(|one| own.iter().all(|other| other.buffer != one.buffer)));
        }
        found
    }
}

/// The waits for room within an exchange, where a limit holds for one of its ends.
fn find_waits(analysis: &Analysis, exchange: &Exchange, limited: usize, limit: Limit, waits: &mut Vec<Wait>) {
    let connections = &analysis.connections;
    let (Some(sender), receiver) = (match limit.buffer {
        Buffer::Send => (Some(limited), connections.all()[limited].peer),
        Buffer::Receive => (connections.all()[limited].peer, Some(limited)),
    }) else {
        return;
    };
    let beyond = match limit.buffer {
        Buffer::Send => LARGEST_PACKET.max(u64::from(connections.row(sender).mss)),
        Buffer::Receive => u64::from(connections.row(sender).mss),
    };
    let most = limit.bytes.saturating_mul(2).saturating_add(beyond);
    let is_small = limit.bytes <= SMALL;
    for stop in stops::within(analysis, exchange, sender) {
        let Stop { from, acknowledged, to, under_way, .. } = stop;
        if (limit.bytes / 2..=most).contains(&under_way)
            && stops::is_stuck(analysis, sender, from, acknowledged)
            && receiver.is_none_or(|receiver| stops::waits_for_data(analysis, receiver, is_small, from, acknowledged))
        {
            waits.push(Wait { limit, end: analysis.end(limited), from, to, under_way });
        }
    }
}
