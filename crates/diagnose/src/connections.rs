//! What is known of each connection: its transfers in order of time, its segments, its peer, its handshake, who asks.

#[cfg(test)]
mod tests;

mod studied;
mod wire_stalls;

use crate::flights;
use crate::send_stalls::{Release, SendStall};
use crate::side_by_side::each;
use crate::syscall;
use crate::threads::{call_end, groups};
use crate::windows::Windows;
pub use case::End;
use case::Recording;
use case::tables::{Call, Connection, Handshake, Segment, TcpEvent, direction, flags, role, transport};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;
pub use wire_stalls::{Held, transfer_at};

/// One end of a connection and its rows.
#[derive(Clone, Debug)]
pub struct ConnectionRows {
    /// Which end it is; none for listeners and for sockets that moved nothing.
    pub end: Option<End>,
    /// The peer's place in [`Connections::all`], where it was recorded.
    pub peer: Option<usize>,
    /// Its part of [`Connections::transfers`].
    pub transfers: Range<usize>,
    /// Its rows in the table of segments.
    pub segments: Range<usize>,
    /// Its rows in the table of TCP events.
    pub events: Range<usize>,
    /// The `connect` that opened it: a row in the table of calls.
    pub connect: Option<usize>,
    /// The `accept` that took it from its listener's queue: a row in the table of calls.
    pub accept: Option<usize>,
    /// Its first finished handshake, or the first: a row in the table of handshakes.
    pub handshake: Option<usize>,
    /// When bytes waited in this end's kernel, in order of time.
    pub send_stalls: Vec<SendStall>,
    /// When bytes that this end had written had not all left yet, in order of time.
    pub unsent: Vec<(u64, u64)>,
    /// When bytes had arrived at a server that it had not read, in order of time; only where the client was recorded too.
    unread: Vec<(u64, u64)>,
    /// When it waited for a segment to be sent again: from the last segment before to the retransmission.
    pub repairs: Vec<(u64, u64)>,
    /// The shortest round trip that its segments show: from leaving to being acknowledged.
    pub round_trip: Option<u64>,
    /// When this end closed it; see [`Connections::closing`].
    closing: u64,
    /// When the other end held bytes until this one's acknowledgement, as the wire shows; only of captures.
    pub held_at_peer: Vec<Held>,
    /// When payload was under way to or from the other end, which was recorded; none where that is not known.
    pub under_way: Option<Arc<[(u64, u64)]>>,
}

/// All connections, in the order of the table.
pub struct Connections<'r> {
    recording: &'r Recording,
    rows: Vec<ConnectionRows>,
    slots: FxHashMap<u32, usize>,
    transfers: Vec<u32>,
}

impl<'r> Connections<'r> {
    /// Indexes every connection and works out when bytes were held in its kernel.
    pub fn new(recording: &'r Recording, windows: &Windows) -> Connections<'r> {
        let slots: FxHashMap<u32, usize> =
            recording.connections.iter().enumerate().map(|(slot, row)| (row.id, slot)).collect();
        let mut connections = Connections { recording, rows: Vec::new(), slots, transfers: Vec::new() };
        connections.rows = connections.bare_rows();
        connections.gather_transfers();
        connections.gather_tables();
        for slot in 0..connections.rows.len() {
            let end = connections.find_end(slot);
            connections.rows[slot].end = end;
            connections.rows[slot].closing = connections.find_closing(slot);
        }
        let slots: Vec<usize> = (0..connections.rows.len()).collect();
        let studied = each(&slots, |&slot| connections.studied_segments(slot, windows));
        for (rows, studied) in connections.rows.iter_mut().zip(studied) {
            (rows.send_stalls, rows.unsent, rows.unread) = (studied.send_stalls, studied.unsent, studied.unread);
            (rows.repairs, rows.round_trip) = (studied.repairs, studied.round_trip);
        }
        if !recording.manifest.source.is_recording() {
            connections.study_the_wire();
        }
        for slot in 0..connections.rows.len() {
            let peer = connections.rows[slot].peer.filter(|&peer| connections.rows[peer].peer == Some(slot));
            // What is under way between two ends is so for both.
            let known = peer.and_then(|peer| connections.rows[peer].under_way.clone());
            connections.rows[slot].under_way = known.or_else(|| connections.find_under_way(slot));
        }
        connections
    }

    fn bare_rows(&self) -> Vec<ConnectionRows> {
        let bare = |row: &Connection| ConnectionRows {
            end: None,
            peer: self.slots.get(&row.peer).copied().filter(|_| row.peer != 0 && row.peer != row.id),
            transfers: 0..0,
            segments: 0..0,
            events: 0..0,
            connect: None,
            accept: None,
            handshake: None,
            send_stalls: Vec::new(),
            unsent: Vec::new(),
            unread: Vec::new(),
            repairs: Vec::new(),
            round_trip: None,
            closing: row.closed.0,
            held_at_peer: Vec::new(),
            under_way: None,
        };
        self.recording.connections.iter().map(bare).collect()
    }

    /// Sorts transfers into one list, a range for each connection: counted first, so that no list of pairs is sorted.
    fn gather_transfers(&mut self) {
        let calls = &self.recording.calls;
        let mut next = vec![0usize; self.rows.len() + 1];
        let slots: Vec<u32> = calls.iter().map(|call| self.slot_of_transfer(call)).collect();
        for &slot in slots.iter().filter(|&&slot| slot != u32::MAX) {
            next[slot as usize + 1] += 1;
        }
        for slot in 0..self.rows.len() {
            next[slot + 1] += next[slot];
            self.rows[slot].transfers = next[slot]..next[slot + 1];
        }
        self.transfers = vec![0; next.last().copied().unwrap_or_default()];
        for (index, &slot) in slots.iter().enumerate().filter(|&(_, &slot)| slot != u32::MAX) {
            self.transfers[next[slot as usize]] = index as u32;
            next[slot as usize] += 1;
        }
        for row in &self.rows {
            let part = &mut self.transfers[row.transfers.clone()];
            if !part.is_sorted_by_key(|&index| transfer_time(&calls[index as usize])) {
                part.sort_by_key(|&index| transfer_time(&calls[index as usize]));
            }
        }
    }

    fn slot_of_transfer(&self, call: &Call) -> u32 {
        let moves_bytes = (1..=syscall::MOST_BYTES).contains(&call.result)
            && (syscall::is_read(call.number) || syscall::is_write(call.number));
        if call.connection == 0 || !moves_bytes {
            return u32::MAX;
        }
        self.slots.get(&call.connection).map_or(u32::MAX, |&slot| slot as u32)
    }

    fn gather_tables(&mut self) {
        let recording = self.recording;
        for (connection, range) in groups(&recording.segments, |row| row.connection) {
            if let Some(&slot) = self.slots.get(&connection) {
                self.rows[slot].segments = range;
            }
        }
        for (connection, range) in groups(&recording.tcp_events, |row| row.connection) {
            if let Some(&slot) = self.slots.get(&connection) {
                self.rows[slot].events = range;
            }
        }
        let opens =
            |call: &Call| call.number == syscall::CONNECT || syscall::is_accept(call.number) && call.result >= 0;
        for (index, call) in recording.calls.iter().enumerate().filter(|(_, call)| opens(call)) {
            if let Some(&slot) = self.slots.get(&call.connection) {
                let rows = &mut self.rows[slot];
                let opened = if call.number == syscall::CONNECT { &mut rows.connect } else { &mut rows.accept };
                opened.get_or_insert(index);
            }
        }
        for (index, handshake) in recording.handshakes.iter().enumerate() {
            if let Some(&slot) = self.slots.get(&handshake.connection) {
                let known = self.rows[slot].handshake;
                if known.is_none_or(|known| recording.handshakes[known].end.0 == 0 && handshake.end.0 > 0) {
                    self.rows[slot].handshake = Some(index);
                }
            }
        }
    }

    fn find_end(&self, slot: usize) -> Option<End> {
        match self.row(slot).role {
            role::CLIENT => Some(End::Client),
            role::SERVER => Some(End::Server),
            role::LISTENER => None,
            _ => {
                let first = self.transfers_of(slot).next()?;
                Some(if syscall::is_write(first.number) { End::Client } else { End::Server })
            }
        }
    }

    /// What bytes waited for is told apart window by window: of those in between nobody knows when they left.
    /// What a recording tells by calls, a capture has to tell by segments alone.
    fn study_the_wire(&mut self) {
        for (slot, [own, peer]) in wire_stalls::find(self).into_iter().enumerate() {
            let stall = |held: Held| {
                let write = transfer_at(self, slot, &self.recording.calls, held.end)?;
                let nagle = Some(Release { sent: held.start, acknowledged: held.acknowledged });
                Some(SendStall { start: held.start, end: held.end, write, bytes: u64::from(held.bytes), nagle })
            };
            let stalls = own.into_iter().filter_map(stall).collect();
            (self.rows[slot].send_stalls, self.rows[slot].held_at_peer) = (stalls, peer);
        }
    }

    fn find_under_way(&self, slot: usize) -> Option<Arc<[(u64, u64)]>> {
        // What is written to a Unix socket is at its other end.
        if self.row(slot).transport == transport::UNIX {
            return self.rows[slot].peer.map(|_| Arc::default());
        }
        let (own, peer) = (self.segments(slot), self.segments(self.rows[slot].peer?));
        (!own.is_empty() && !peer.is_empty()).then(|| flights::under_way(own, peer).into())
    }

    /// Every connection's rows, in the order of the table.
    pub fn all(&self) -> &[ConnectionRows] {
        &self.rows
    }

    /// A connection's place in [`Connections::all`].
    pub fn slot(&self, id: u32) -> Option<usize> {
        self.slots.get(&id).copied()
    }

    /// Its row.
    pub fn row(&self, slot: usize) -> &'r Connection {
        &self.recording.connections[slot]
    }

    /// When this end closed a connection: when its FIN or RST left, which the peer acknowledges at leisure.
    pub fn closing(&self, slot: usize) -> u64 {
        self.rows[slot].closing
    }

    /// Found once: every exchange of a connection asks for it.
    fn find_closing(&self, slot: usize) -> u64 {
        let leaves = |row: &&Segment| row.direction == direction::OUT && row.flags & (flags::FIN | flags::RST) != 0;
        let left = self.segments(slot).iter().find(leaves).map(|row| row.time.0);
        left.unwrap_or(u64::MAX).min(self.row(slot).closed.0)
    }

    /// Its segments in order of time.
    pub fn segments(&self, slot: usize) -> &'r [Segment] {
        &self.recording.segments[self.rows[slot].segments.clone()]
    }

    /// Its TCP events in order of time.
    pub fn events(&self, slot: usize) -> &'r [TcpEvent] {
        &self.recording.tcp_events[self.rows[slot].events.clone()]
    }

    /// Its handshake.
    pub fn handshake(&self, slot: usize) -> Option<&'r Handshake> {
        self.rows[slot].handshake.map(|index| &self.recording.handshakes[index])
    }

    /// The calls that moved bytes on any connection: each connection's own are consecutive.
    pub fn transfers(&self) -> &[u32] {
        &self.transfers
    }

    /// The calls that moved its bytes, as rows of the table of calls.
    pub fn transfer_numbers(&self, slot: usize) -> &[u32] {
        &self.transfers[self.rows[slot].transfers.clone()]
    }

    /// The calls that moved its bytes.
    pub fn transfers_of(&self, slot: usize) -> impl Iterator<Item = &'r Call> + '_ {
        self.transfer_numbers(slot).iter().map(|&index| &self.recording.calls[index as usize])
    }

    /// The round trip to its peer: the shortest its segments show, else TCP's smoothed one.
    pub fn round_trip(&self, slot: usize) -> Option<u64> {
        let smoothed = self.row(slot).srtt.0;
        self.rows[slot].round_trip.or(Some(smoothed).filter(|&nanos| nanos > 0))
    }

    /// Whether bytes lay in a server's kernel, unread, at a time; false where that is not known.
    pub fn has_unread(&self, slot: usize, at: u64) -> bool {
        let unread = &self.rows[slot].unread;
        unread.get(unread.partition_point(|span| span.1 <= at)).is_some_and(|span| span.0 <= at)
    }

    /// When a server's end was there whose client had sent more than a SYN by then: what comes with the end of the three-way
    /// handshake, or makes a kernel that defers `accept` take the connection, is no segment of the connection's own yet.
    pub fn arrived_at_once(&self, slot: usize) -> Option<u64> {
        let established = self.row(slot).established.0;
        let sent = self.segments(self.all()[slot].peer?).iter();
        let mut sent = sent.filter(|segment| segment.direction == direction::OUT && segment.payload > 0);
        sent.next().is_some_and(|first| first.time.0 < established).then_some(established)
    }

    /// `address:port` of the remote end; the path or a blank description where it has none.
    pub fn remote(&self, slot: usize) -> String {
        self.remote_name(slot).unwrap_or_else(|| "a local socket".to_string())
    }

    /// `address:port` of the remote end, or the path; none where it has neither.
    pub fn remote_name(&self, slot: usize) -> Option<String> {
        let row = self.row(slot);
        if row.remote_port > 0 {
            let address = &row.remote_address;
            let bracketed = address.contains(':');
            let host = if bracketed { format!("[{address}]") } else { address.clone() };
            return Some(format!("{host}:{}", row.remote_port));
        }
        // A datagram socket that was never connected talks to anybody.
        if row.transport == transport::UDP {
            return None;
        }
        let path = if row.remote_address.is_empty() { &row.local_address } else { &row.remote_address };
        (!path.is_empty()).then(|| path.clone())
    }
}

/// When a transfer counts: bytes are written from the call's start, and read at its end.
pub fn transfer_time(call: &Call) -> u64 {
    if syscall::is_write(call.number) { call.start.0 } else { call_end(call) }
}
