//! The rows that a capture gives, on their way to the case: so many and no more, the rest counted.

use case::tables::{Call, Command, Connection, Handshake, HttpMessage, Loss, Segment, TcpEvent, TlsRecord};
use case::{CaseWriter, Nanos};
use protocol::Seen;
use std::collections::BTreeMap;

/// Rows that are gathered before they are handed over.
const BATCH: usize = 8_192;

/// Rows of one kind.
#[derive(Debug)]
pub enum Batch {
    /// Segments.
    Segments(Vec<Segment>),
    /// What else TCP did.
    TcpEvents(Vec<TcpEvent>),
    /// Payload as transfers.
    Calls(Vec<Call>),
    /// TLS records.
    TlsRecords(Vec<TlsRecord>),
    /// HTTP/1 heads.
    HttpMessages(Vec<HttpMessage>),
    /// Commands.
    Commands(Vec<Command>),
    /// Handshakes.
    Handshakes(Vec<Handshake>),
    /// Connections.
    Connections(Vec<Connection>),
    /// What there was no room for.
    Losses(Vec<Loss>),
}

impl Batch {
    /// Writes the rows. What a full disk refuses the case counts by itself.
    pub fn write(self, case: &mut CaseWriter) {
        let _ = match self {
            Batch::Segments(rows) => case.append(rows),
            Batch::TcpEvents(rows) => case.append(rows),
            Batch::Calls(rows) => case.append(rows),
            Batch::TlsRecords(rows) => case.append(rows),
            Batch::HttpMessages(rows) => case.append(rows),
            Batch::Commands(rows) => case.append(rows),
            Batch::Handshakes(rows) => case.append(rows),
            Batch::Connections(rows) => case.append(rows),
            Batch::Losses(rows) => case.append(rows),
        };
    }
}

/// Gathers rows and hands them over.
pub struct Rows<'t> {
    to: &'t mut dyn FnMut(Batch),
    left: u64,
    lost: BTreeMap<&'static str, u64>,
    segments: Vec<Segment>,
    tcp_events: Vec<TcpEvent>,
    calls: Vec<Call>,
    tls_records: Vec<TlsRecord>,
    http_messages: Vec<HttpMessage>,
    commands: Vec<Command>,
    handshakes: Vec<Handshake>,
    connections: Vec<Connection>,
}

macro_rules! gather {
    ($($(#[doc = $doc:literal])+ $name:ident: $row:ident into $list:ident as $variant:ident in $table:literal;)+) => {
        impl Rows<'_> {
            $(
                $(#[doc = $doc])+
                pub fn $name(&mut self, row: $row) {
                    if self.left == 0 {
                        *self.lost.entry($table).or_default() += 1;
                        return;
                    }
                    self.left -= 1;
                    self.$list.push(row);
                    if self.$list.len() >= BATCH {
                        (self.to)(Batch::$variant(std::mem::take(&mut self.$list)));
                    }
                }
            )+

            /// Hands over what is left, and how much there was no room for between two times.
            pub fn finish(mut self, from: Nanos, until: Nanos) {
                $(
                    if !self.$list.is_empty() {
                        (self.to)(Batch::$variant(std::mem::take(&mut self.$list)));
                    }
                )+
                let loss = |(table, count): (&&str, &u64)| Loss {
                    start: from,
                    end: until,
                    table: (*table).to_string(),
                    reason: "size limit".to_string(),
                    count: *count,
                };
                let losses: Vec<Loss> = self.lost.iter().map(loss).collect();
                if !losses.is_empty() {
                    (self.to)(Batch::Losses(losses));
                }
            }
        }
    };
}

gather! {
    /// Adds a segment.
    segment: Segment into segments as Segments in "segments";
    /// Adds something else that TCP did.
    tcp_event: TcpEvent into tcp_events as TcpEvents in "tcp_events";
    /// Adds a transfer.
    call: Call into calls as Calls in "calls";
    /// Adds a TLS record.
    tls_record: TlsRecord into tls_records as TlsRecords in "tls_records";
    /// Adds an HTTP/1 head.
    http_message: HttpMessage into http_messages as HttpMessages in "http_messages";
    /// Adds a command.
    command: Command into commands as Commands in "commands";
    /// Adds a handshake.
    handshake: Handshake into handshakes as Handshakes in "handshakes";
    /// Adds a connection.
    connection: Connection into connections as Connections in "connections";
}

impl<'t> Rows<'t> {
    /// Room for so many rows, which go to `to`.
    pub fn new(most: u64, to: &'t mut dyn FnMut(Batch)) -> Rows<'t> {
        Rows {
            to,
            left: most,
            lost: BTreeMap::new(),
            segments: Vec::new(),
            tcp_events: Vec::new(),
            calls: Vec::new(),
            tls_records: Vec::new(),
            http_messages: Vec::new(),
            commands: Vec::new(),
            handshakes: Vec::new(),
            connections: Vec::new(),
        }
    }

    /// Whether there is room.
    pub fn has_room(&self) -> bool {
        self.left > 0
    }

    /// Makes room for what is left at the end, which is bounded by what is followed at a time.
    pub fn make_room(&mut self) {
        self.left = u64::MAX;
    }

    /// Adds what a conversation has learned.
    pub fn seen(&mut self, seen: &mut Seen) {
        seen.records.drain(..).for_each(|row| self.tls_record(row));
        seen.messages.drain(..).for_each(|row| self.http_message(row));
        seen.commands.drain(..).for_each(|row| self.command(row));
        if let Some(handshake) = seen.handshake.take() {
            self.handshake(handshake);
        }
    }
}
