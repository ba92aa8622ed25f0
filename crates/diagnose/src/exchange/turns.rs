//! What a turn consists of: the calls that move one request, or one answer. In a recording with windows it tells where an
//! exchange begins or is over, though nobody saw whose turn it was before or after.

use super::{Exchange, asks};
use crate::connections::{Connections, End};
use crate::windows::Windows;
use case::Recording;
use case::tables::{Call, HttpMessage};
use rustc_hash::FxHashMap;

/// Turns of more calls than this are not told apart.
const MOST: usize = 64;
/// With fewer turns seen nothing is known of others.
const LEAST: u32 = 20;
/// So many of all consist of no more calls than are taken to be usual.
const NEARLY_ALL: f64 = 0.99;

/// What the whole turns of a recording consist of, for each end of each service.
pub(super) struct Turns<'r> {
    recording: &'r Recording,
    seen: FxHashMap<(bool, u16), Seen>,
}

/// How many turns consist of so many calls; those of [`MOST`] and more are the last.
#[derive(Clone, Debug)]
struct Seen {
    asks: [u32; MOST],
    answers: [u32; MOST],
}

impl<'r> Turns<'r> {
    /// Of a recording; without windows everything is known anyhow.
    pub fn new(recording: &'r Recording, connections: &Connections, windows: &Windows) -> Turns<'r> {
        let mut turns = Turns { recording, seen: FxHashMap::default() };
        if windows.is_thinned() {
            for slot in 0..connections.all().len() {
                turns.learn(connections, windows, slot);
            }
        }
        turns
    }

    /// Counts the turns of a connection that began after and ended before another one, in one window.
    fn learn(&mut self, connections: &Connections, windows: &Windows, slot: usize) {
        let Some(end) = connections.all()[slot].end else { return };
        let application = connections.handshake(slot).map_or(0, |row| row.end.0);
        let seen = self.seen.entry(service(connections, slot, end)).or_insert_with(Seen::none);
        let calls = connections.transfers_of(slot).filter(|call| call.start.0 >= application);
        let turns: Vec<(usize, bool)> = calls.map(|call| (windows.number(call.start.0), asks(call, end))).collect();
        let runs: Vec<&[(usize, bool)]> = turns.chunk_by(|one, next| one == next).collect();
        for three in runs.windows(3) {
            let (window, asks) = three[1][0];
            if three[0][0].0 == window && three[2][0].0 == window {
                let of = if asks { &mut seen.asks } else { &mut seen.answers };
                of[three[1].len().min(MOST - 1)] += 1;
            }
        }
    }

    /// Whether a call that moves bytes of a request moves its first ones.
    pub fn begins(&self, connections: &Connections, slot: usize, call: &Call) -> bool {
        let is_head = self.messages(call).iter().any(|message| !message.method.is_empty());
        is_head || self.of(connections, slot).and_then(|seen| usual(&seen.asks)) == Some(1)
    }

    /// Whether an exchange whose answer has begun is over: as many calls were made as answers take, or all was sent that the head
    /// of the answer announced.
    pub fn is_over(&self, connections: &Connections, exchange: &Exchange) -> bool {
        if !exchange.answered {
            return false;
        }
        let range = exchange.transfers.start as usize..exchange.transfers.end as usize;
        let calls = connections.transfers()[range].iter().map(|&row| &self.recording.calls[row as usize]);
        let answers: Vec<&Call> = calls.filter(|call| !asks(call, exchange.end_seen)).collect();
        let usual = self.of(connections, exchange.connection).and_then(|seen| usual(&seen.answers));
        let mut heads = answers.first().into_iter().flat_map(|call| self.messages(call));
        let announced =
            heads.find(|head| head.status >= 200 && head.content_length >= 0).map(|head| head.content_length);
        let moved: i64 = answers.iter().map(|call| call.result.max(0)).sum();
        usual.is_some_and(|usual| answers.len() >= usual) || announced.is_some_and(|length| moved > length)
    }

    fn of(&self, connections: &Connections, slot: usize) -> Option<&Seen> {
        let end = connections.all()[slot].end?;
        self.seen.get(&service(connections, slot, end))
    }

    /// The heads of messages that begin in a call.
    fn messages(&self, call: &Call) -> &'r [HttpMessage] {
        let rows = &self.recording.http_messages;
        let at = (call.connection, call.start);
        let first = rows.partition_point(|row| (row.connection, row.time) < at);
        let count = rows[first..].iter().take_while(|row| (row.connection, row.time) == at).count();
        &rows[first..first + count]
    }
}

impl Seen {
    fn none() -> Seen {
        Seen { asks: [0; MOST], answers: [0; MOST] }
    }
}

/// The port of the service, and the end it was seen from.
fn service(connections: &Connections, slot: usize, end: End) -> (bool, u16) {
    let row = connections.row(slot);
    let is_server = end == End::Server;
    (is_server, if is_server { row.local_port } else { row.remote_port })
}

/// How many calls nearly all turns consist of at most.
fn usual(turns: &[u32; MOST]) -> Option<usize> {
    let all: u32 = turns.iter().sum();
    let mut so_far = 0;
    let calls = turns.iter().position(|count| {
        so_far += count;
        f64::from(so_far) >= f64::from(all) * NEARLY_ALL
    })?;
    (all >= LEAST && calls < MOST - 1).then_some(calls)
}
