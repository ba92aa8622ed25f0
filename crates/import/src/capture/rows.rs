//! The rows that a capture gives: so many and no more, the rest counted.

use case::tables::{Call, Command, Connection, Handshake, HttpMessage, Loss, Segment, TcpEvent, TlsRecord};
use case::{Nanos, Recording};
use protocol::Seen;
use std::collections::BTreeMap;

/// Gathers rows.
pub struct Rows {
    recording: Recording,
    left: u64,
    lost: BTreeMap<&'static str, u64>,
}

macro_rules! gather {
    ($($(#[doc = $doc:literal])+ $name:ident: $row:ident into $list:ident in $table:literal;)+) => {
        impl Rows {
            $(
                $(#[doc = $doc])+
                pub fn $name(&mut self, row: $row) {
                    if self.left == 0 {
                        *self.lost.entry($table).or_default() += 1;
                        return;
                    }
                    self.left -= 1;
                    self.recording.$list.push(row);
                }
            )+
        }
    };
}

gather! {
    /// Adds a segment.
    segment: Segment into segments in "segments";
    /// Adds something else that TCP did.
    tcp_event: TcpEvent into tcp_events in "tcp_events";
    /// Adds a transfer.
    call: Call into calls in "calls";
    /// Adds a TLS record.
    tls_record: TlsRecord into tls_records in "tls_records";
    /// Adds an HTTP/1 head.
    http_message: HttpMessage into http_messages in "http_messages";
    /// Adds a command.
    command: Command into commands in "commands";
    /// Adds a handshake.
    handshake: Handshake into handshakes in "handshakes";
    /// Adds a connection.
    connection: Connection into connections in "connections";
}

impl Rows {
    /// Room for so many rows.
    pub fn new(most: u64) -> Rows {
        Rows { recording: Recording::default(), left: most, lost: BTreeMap::new() }
    }

    /// Whether there is room for more.
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

    /// All rows, and how many there was no room for between two times.
    pub fn finish(mut self, from: Nanos, until: Nanos) -> Recording {
        let loss = |(table, count): (&&str, &u64)| Loss {
            start: from,
            end: until,
            table: (*table).to_string(),
            reason: "size limit".to_string(),
            count: *count,
        };
        self.recording.losses.extend(self.lost.iter().map(loss));
        self.recording
    }
}
