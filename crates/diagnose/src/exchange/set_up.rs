//! How a connection was set up: the look-up of its name, the connect, the TLS handshake. All of it belongs to the first
//! exchange, unless the connection was opened ahead of time.

use crate::connections::{Connections, End};
use crate::exchange::Exchange;
use crate::lookups;
use crate::threads::call_end;
use case::Recording;
use case::tables::role;
use std::collections::{BTreeMap, BTreeSet};

/// A connection that stood ready this long before its first request was opened ahead of time: nobody waited for it.
const EARLY_OPEN: u64 = 100_000_000;

/// The phases before the first request of a connection, in order. Between them the program may do something of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetUp {
    /// When it began.
    pub start: u64,
    /// The look-up of the name, from the first query to the last answer, or to the connect where one never came; empty
    /// where there was none.
    pub lookup: (u64, u64),
    /// When the connect was called.
    pub connect: u64,
    /// When the connection was there.
    pub connected: u64,
    /// When the TLS handshake began; equal to `application` where there was none.
    pub handshake: u64,
    /// When the connection was ready for a request: the handshake over, or the greeting read.
    pub ready: u64,
    /// When the first request was written.
    pub application: u64,
}

impl SetUp {
    /// When the connection itself was waited for: the connect, then the handshake or the greeting. What lies between, and
    /// before the first request, is the program's own.
    pub fn stretches(&self) -> [(u64, u64); 2] {
        let greeting = if self.handshake < self.application { self.handshake } else { self.connected };
        [(self.connect, self.connected), (greeting.min(self.ready), self.ready)]
    }
}

/// What is needed to find how connections were set up, met in the order in which they were opened.
pub struct SetUps {
    /// For each process, its look-ups not yet claimed, latest last: rows of the table of look-ups.
    lookups: BTreeMap<u32, Vec<usize>>,
    /// For each process with look-ups, when its exchanges ended.
    ended: BTreeMap<u32, BTreeSet<u64>>,
}

impl SetUps {
    /// Sorts the look-ups by process.
    pub fn new(recording: &Recording) -> SetUps {
        let threads: rustc_hash::FxHashMap<u32, u32> = recording.threads.iter().map(|row| (row.tid, row.pid)).collect();
        let mut lookups: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (index, row) in recording.lookups.iter().enumerate() {
            lookups.entry(threads.get(&row.tid).copied().unwrap_or(row.tid)).or_default().push(index);
        }
        for rows in lookups.values_mut() {
            rows.reverse();
        }
        SetUps { lookups, ended: BTreeMap::new() }
    }

    /// Notes that an exchange of a process ended.
    pub fn ended(&mut self, pid: u32, end: u64) {
        if self.lookups.contains_key(&pid) {
            self.ended.entry(pid).or_default().insert(end);
        }
    }

    /// Lets the first exchange of a connection begin where the connection did. `ready` is when its handshake was over.
    pub fn apply(&mut self, recording: &Recording, connections: &Connections, first: &mut Exchange, ready: u64) {
        let slot = first.connection;
        let row = connections.row(slot);
        let rows = &connections.all()[slot];
        let handshake = connections.handshake(slot);
        if first.end_seen == End::Server {
            if let Some(handshake) = handshake {
                let application = first.start;
                let start = handshake.start.0.min(application);
                let lookup = (start, start);
                let ready = handshake.end.0.clamp(start, application);
                let (connect, connected, handshake) = (start, start, start);
                first.start = start;
                first.set_up =
                    Some(Box::new(SetUp { start, lookup, connect, connected, handshake, ready, application }));
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
        let ready = ready.clamp(connected, application);
        if application - ready > EARLY_OPEN {
            return;
        }
        first.start = start;
        first.set_up = Some(Box::new(SetUp { start, lookup, connect, connected, handshake, ready, application }));
    }

    /// The look-ups that a process made since its last exchange ended and before a connect; each is claimed once.
    fn claim_lookup(&mut self, recording: &Recording, pid: u32, connect: u64) -> (u64, u64) {
        let since = self.ended.get(&pid).and_then(|ends| ends.range(..=connect).next_back().copied());
        let since = since.unwrap_or_default();
        let Some(pending) = self.lookups.get_mut(&pid) else { return (connect, connect) };
        let mut claimed = Vec::new();
        while let Some(&row) = pending.last().filter(|&&row| recording.lookups[row].time.0 < connect) {
            pending.pop();
            claimed.extend((recording.lookups[row].time.0 >= since).then_some(row));
        }
        let waits = lookups::waits(recording, claimed.iter().copied(), connect);
        let start = claimed.first().map_or(connect, |&row| recording.lookups[row].time.0);
        (start, waits.last().map_or(start, |wait| wait.end))
    }
}
