//! One connection of a capture, from its first packet to its last.
//!
//! It is told from one of its ends, as a recording tells it: from the one that the capture was taken near. Whose SYN was
//! answered at once by comparison is far away. What the end wrote and read is not in a capture; rows of calls stand for payload
//! that crossed the wire (see [`Call`]).

use super::heads::{Address, Head};
use super::rows::Rows;
use super::side::Side;
use super::stream::Brought;
use case::Nanos;
use case::tables::{Call, Connection, Segment, TcpEvent, content, direction, event, flags, role, transport};
use protocol::{Conversation, Moved, Seen};
use std::collections::HashMap;
use std::net::IpAddr;

/// Segments without payload that are kept back until it is known from which end the connection is told.
const MOST_HELD: usize = 8;

/// Payload in segments of this size and more, one behind the other, is one transfer; what a reader finds in its buffer is.
const LARGE: u32 = 1_000;
/// Up to this distance.
const NEAR: u64 = 1_000_000;

/// System calls that stand for payload in either direction (x86-64 Linux).
const READ: u16 = 0;
const WRITE: u16 = 1;

/// Room that timestamps take in each segment, with padding (RFC 7323, 3.2).
const TIMESTAMPS: u16 = 12;

/// So many servers and hosts are remembered.
const MOST_KNOWN: usize = 65_536;

/// What is remembered of all connections together.
#[derive(Debug, Default)]
pub struct Known {
    /// From which end connections to a server are told, the client's or not: decided by the first of them for all.
    from_client: HashMap<Address, bool>,
    /// A number for each host.
    hosts: HashMap<IpAddr, u32>,
}

impl Known {
    /// The number of a host; 0 for all beyond those that there is room for.
    fn host(&mut self, ip: IpAddr) -> u32 {
        let next = self.hosts.len() as u32 + 1;
        if self.hosts.len() >= MOST_KNOWN {
            return self.hosts.get(&ip).copied().unwrap_or_default();
        }
        *self.hosts.entry(ip).or_insert(next)
    }
}

/// Payload that goes one way.
#[derive(Debug)]
struct Transfer {
    start: u64,
    end: u64,
    direction: u8,
    bytes: u64,
    content: u8,
    /// Whether more may belong to it.
    is_open: bool,
}

/// A connection that may go on.
#[derive(Debug)]
pub struct Live {
    id: u32,
    /// Its two ends, the smaller address first.
    ends: [Address; 2],
    sides: [Side; 2],
    /// Which of them asked for the connection, and how certain that is.
    client: Option<usize>,
    saw_syn: bool,
    /// Which of them it is told from.
    own: Option<usize>,
    held: Vec<(usize, Segment)>,
    conversation: Option<Box<Conversation>>,
    transfer: Option<Transfer>,
    opened: u64,
    established: u64,
    /// When either end broke it off.
    reset: Option<u64>,
    round_trip: u64,
    /// When its last packet was seen.
    pub last_seen: u64,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is a row.
    Row,
    /// It had been captured already.
    Twice,
}

impl Live {
    /// A connection between two ends, the smaller one first.
    pub fn new(id: u32, ends: [Address; 2], time: u64) -> Live {
        Live {
            id,
            ends,
            sides: [Side::default(), Side::default()],
            client: None,
            saw_syn: false,
            own: None,
            held: Vec::new(),
            conversation: None,
            transfer: None,
            opened: time,
            established: 0,
            reset: None,
            round_trip: 0,
            last_seen: time,
        }
    }

    /// Its number among all.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Whether a packet begins another connection between the same ends.
    pub fn is_over_before(&self, head: &Head) -> bool {
        let begins = head.flags & (flags::SYN | flags::ACK) == flags::SYN;
        begins && self.is_closed()
    }

    /// Whether nothing more is expected.
    pub fn is_closed(&self) -> bool {
        self.reset.is_some() || self.sides.iter().all(|side| side.finished.is_some())
    }

    /// Takes the next packet.
    pub fn take(&mut self, time: u64, head: &Head, known: &mut Known, rows: &mut Rows) -> Taken {
        let from = usize::from(head.from != self.ends[0]);
        if self.sides[from].is_twice(time, head) {
            return Taken::Twice;
        }
        self.last_seen = self.last_seen.max(time);
        let brought = self.note(time, from, head);
        self.decide(time, from, head, known);
        let segment = Segment {
            time: Nanos(time),
            connection: self.id,
            direction: direction::OUT,
            flags: head.flags,
            sequence: head.sequence,
            acknowledged: head.acknowledged,
            payload: head.payload,
            limit: 0,
        };
        match self.own {
            None => self.held.push((from, segment)),
            Some(own) => {
                for (held_from, held) in self.held.drain(..) {
                    rows.segment(Segment { direction: u8::from(held_from != own), ..held });
                }
                let direction = u8::from(from != own);
                rows.segment(Segment { direction, ..segment });
                if let Some(brought) = brought {
                    self.payload(time, direction, head, brought, rows);
                }
            }
        }
        if head.flags & flags::FIN != 0 {
            self.sides[from].finished.get_or_insert(time);
        }
        if head.flags & flags::RST != 0 {
            self.reset.get_or_insert(time);
        }
        if self.is_closed() {
            self.end_conversation(rows);
        }
        Taken::Row
    }

    /// Notes what the head says of the end that sent it; what its payload brings.
    fn note(&mut self, time: u64, from: usize, head: &Head) -> Option<Brought> {
        let side = &mut self.sides[from];
        if head.flags & flags::SYN != 0 {
            side.stream.begin(head.sequence);
            side.syn = Some(time);
            side.offer = head.offer;
            self.saw_syn = true;
            self.client = Some(if head.flags & flags::ACK == 0 { from } else { 1 - from });
        }
        (head.payload > 0).then(|| side.stream.take(head.sequence, head.payload))
    }

    /// Decides from which end the connection is told, as soon as that can be known, or must.
    fn decide(&mut self, time: u64, from: usize, head: &Head, known: &mut Known) {
        if self.own.is_some() {
            return;
        }
        let client = *self.client.get_or_insert_with(|| {
            // A server's port is the smaller one, as a rule.
            usize::from(self.ends[0].port < self.ends[1].port)
        });
        let server = 1 - client;
        let shaken = match (self.sides[client].syn, self.sides[server].syn) {
            (Some(asked), Some(answered)) if from == client && head.flags & flags::SYN == 0 => Some((asked, answered)),
            _ => None,
        };
        if shaken.is_none() && head.payload == 0 && self.held.len() < MOST_HELD {
            return;
        }
        let decided = known.from_client.get(&self.ends[server]).copied();
        let own_is_client = match (decided, shaken) {
            (Some(from_client), _) => from_client,
            (None, Some((asked, answered))) => {
                let there = answered.saturating_sub(asked);
                let back = time.saturating_sub(answered);
                is_one_machine(self.ends) || back <= there.saturating_mul(2)
            }
            (None, None) => true,
        };
        if decided.is_none() && shaken.is_some() && known.from_client.len() < MOST_KNOWN {
            known.from_client.insert(self.ends[server], own_is_client);
        }
        let own = if own_is_client { client } else { server };
        self.own = Some(own);
        if let Some((asked, answered)) = shaken {
            self.established = if own_is_client { answered } else { time };
            self.round_trip =
                if own_is_client { answered.saturating_sub(asked) } else { time.saturating_sub(answered) };
        }
        let role = if own_is_client { role::CLIENT } else { role::SERVER };
        let role = if self.saw_syn { role } else { role::UNKNOWN };
        self.conversation = Some(Box::new(Conversation::new(self.id, role)));
    }

    /// Takes payload.
    fn payload(&mut self, time: u64, way: u8, head: &Head, brought: Brought, rows: &mut Rows) {
        // A keep-alive's byte was there before, and is no loss.
        if brought.again && way == direction::OUT && head.payload > 1 {
            let (connection, event) = (self.id, event::RETRANSMIT);
            rows.tcp_event(TcpEvent { time: Nanos(time), connection, event, before: 0, after: 0 });
        }
        if brought.fresh == 0 {
            return;
        }
        let content = self.converse(time, way, head, brought, rows);
        match &mut self.transfer {
            Some(transfer)
                if transfer.direction == way && transfer.is_open && time.saturating_sub(transfer.end) < NEAR =>
            {
                transfer.end = time;
                transfer.bytes += u64::from(brought.fresh);
                transfer.is_open = head.payload >= LARGE;
            }
            _ => {
                self.end_transfer(rows);
                self.transfer = Some(Transfer {
                    start: time,
                    end: time,
                    direction: way,
                    bytes: u64::from(brought.fresh),
                    content,
                    is_open: head.payload >= LARGE,
                });
            }
        }
    }

    /// Reads what is said; gives the content of the payload's first bytes.
    fn converse(&mut self, time: u64, way: u8, head: &Head, brought: Brought, rows: &mut Rows) -> u8 {
        let Some(conversation) = self.conversation.as_mut().filter(|_| brought.ahead > 0) else {
            return content::OTHER;
        };
        let mut seen = Seen::default();
        let moved = |bytes: u64, head| Moved {
            start: Nanos(time),
            // A call ends after it began.
            end: Nanos(time + 1),
            tid: 0,
            direction: way,
            bytes,
            head,
        };
        if brought.gap > 0 {
            conversation.feed(&moved(brought.gap, &[]), &mut seen);
        }
        let skipped = (head.payload - brought.ahead) as usize;
        let bytes = head.bytes.get(skipped..).unwrap_or_default();
        conversation.feed(&moved(u64::from(brought.ahead), bytes), &mut seen);
        rows.seen(&mut seen);
        seen.content
    }

    /// Nothing more is said: many connections may be closed and not yet given up.
    fn end_conversation(&mut self, rows: &mut Rows) {
        if let Some(handshake) = self.conversation.take().and_then(|mut conversation| conversation.close()) {
            rows.handshake(handshake);
        }
    }

    fn end_transfer(&mut self, rows: &mut Rows) {
        let Some(transfer) = self.transfer.take() else { return };
        rows.call(Call {
            start: Nanos(transfer.start),
            duration: Nanos(transfer.end - transfer.start + 1),
            number: if transfer.direction == direction::OUT { WRITE } else { READ },
            fd: -1,
            result: i64::try_from(transfer.bytes).unwrap_or(i64::MAX),
            connection: self.id,
            content: transfer.content,
            finished: true,
            ..Call::default()
        });
    }

    /// Nothing more comes: writes down what is left of it. `start` and `end` are the capture's.
    pub fn end(mut self, start: u64, end: u64, known: &mut Known, rows: &mut Rows) {
        let client = self.client.unwrap_or_else(|| usize::from(self.ends[0].port < self.ends[1].port));
        let own = self.own.unwrap_or(client);
        for (from, held) in std::mem::take(&mut self.held) {
            rows.segment(Segment { direction: u8::from(from != own), ..held });
        }
        self.end_transfer(rows);
        self.end_conversation(rows);
        let closed = self.sides[own].finished.into_iter().chain(self.reset).min();
        let [local, remote] = [self.ends[own], self.ends[1 - own]];
        rows.connection(Connection {
            id: self.id,
            pid: known.host(local.ip),
            network_namespace: 0,
            transport: transport::TCP,
            role: if own == client { role::CLIENT } else { role::SERVER },
            local_address: local.ip.to_string(),
            local_port: local.port,
            remote_address: remote.ip.to_string(),
            remote_port: remote.port,
            // One that was there before the capture began has no beginning in it.
            opened: Nanos(if self.saw_syn { self.opened } else { start }),
            established: Nanos(if self.saw_syn { self.established } else { self.opened }),
            closed: Nanos(closed.unwrap_or(end)),
            peer: 0,
            mss: u32::from(self.segment_size()),
            srtt: Nanos(self.round_trip),
            nodelay: false,
        });
    }

    /// The largest payload of a segment: what both ends take, without what timestamps need. 0 where no SYN told.
    fn segment_size(&self) -> u16 {
        let [Some((one, one_has)), Some((other, other_has))] = [self.sides[0].offer, self.sides[1].offer] else {
            return 0;
        };
        one.min(other).saturating_sub(if one_has && other_has { TIMESTAMPS } else { 0 })
    }
}

fn is_one_machine(ends: [Address; 2]) -> bool {
    ends[0].ip == ends[1].ip || ends.iter().all(|end| end.ip.is_loopback())
}
