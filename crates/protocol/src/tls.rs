//! TLS, read from the outside: record headers through the whole stream, and what the clear part of a handshake says.
//! Nothing is decrypted.

mod hello;
mod messages;
mod negotiation;
mod records;

use super::{Moved, Seen};
use case::tables::{Handshake, TlsRecord, content};
use messages::Messages;
use negotiation::Negotiation;
use records::{Piece, Records};

pub(super) use records::{HANDSHAKE, is_record_header};

/// A ClientHello without extensions and with one cipher suite takes so many bytes, its four of header included.
const SHORTEST_CLIENT_HELLO: u16 = 42;

/// Whether the first bytes of a turn, one of them at least, begin a ClientHello. Readers that fetch the record's header
/// on its own are why so little may be there.
pub(super) fn may_begin(captured: &[u8], bytes: u64) -> bool {
    let is_version = |low: &u8| (0..=4).contains(low);
    match captured {
        [HANDSHAKE, 3, low, high, length, rest @ ..] => {
            let length = u16::from_be_bytes([*high, *length]);
            let is_length = (SHORTEST_CLIENT_HELLO..=records::LONGEST_BODY as u16).contains(&length);
            is_version(low) && is_length && rest.first().is_none_or(|kind| *kind == hello::CLIENT_HELLO)
        }
        // Fewer bytes than a header: only where the call moved no more either.
        [HANDSHAKE, rest @ ..] if bytes < 5 => b"\x03".starts_with(&rest[..rest.len().min(1)]),
        _ => false,
    }
}

/// The TLS state of one connection end.
#[derive(Debug)]
pub(super) struct Tls {
    records: [Records; 2],
    messages: [Messages; 2],
    negotiation: Option<Negotiation>,
    any_record: bool,
}

impl Tls {
    /// A conversation whose next bytes are a ClientHello, on an end of the given connection.
    pub fn from_hello(connection: u32) -> Tls {
        Tls { negotiation: Some(Negotiation::new(connection)), ..Tls::under_way() }
    }

    /// A conversation that began before it was watched: its records are followed, its handshake is not known.
    pub fn under_way() -> Tls {
        Tls { records: Default::default(), messages: Default::default(), negotiation: None, any_record: false }
    }

    /// Whether it was no TLS after all: not one record was found where the first was expected.
    pub fn was_misread(&self) -> bool {
        !self.any_record && self.records.iter().any(Records::is_lost)
    }

    /// Takes one call.
    pub fn feed(&mut self, connection: u32, moved: &Moved, seen: &mut Seen) {
        let side = usize::from(moved.direction & 1);
        let (records, messages) = (&mut self.records[side], &mut self.messages[side]);
        if records.is_at_boundary() && is_record_header(moved.captured()) {
            seen.content = content::TLS;
        }
        let (any_record, negotiation) = (&mut self.any_record, &mut self.negotiation);
        records.advance(moved, |piece| {
            if let Piece::Began(header) = piece {
                *any_record = true;
                seen.records.push(TlsRecord {
                    time: header.time,
                    connection,
                    tid: header.tid,
                    direction: moved.direction,
                    content_type: header.content_type,
                    version: header.version,
                    length: header.length,
                });
            }
            if let Some(negotiation) = negotiation {
                follow(negotiation, messages, moved, &piece);
            }
        });
        if negotiation.as_ref().is_some_and(Negotiation::is_settled) {
            seen.handshake = negotiation.take().map(Negotiation::into_handshake);
            // Thousands of connections may be open: none keeps its hellos.
            self.messages = Default::default();
        } else if negotiation.as_ref().is_some_and(Negotiation::is_foreign) {
            *negotiation = None;
        }
    }

    /// The handshake as far as it got, where it was not given out yet.
    pub fn close(&mut self) -> Option<Handshake> {
        self.negotiation.take().filter(Negotiation::has_begun).map(Negotiation::into_handshake)
    }
}

/// Hands one piece of the record stream on to the handshake.
fn follow(negotiation: &mut Negotiation, messages: &mut Messages, moved: &Moved, piece: &Piece) {
    match piece {
        Piece::Began(header) => {
            if header.content_type == HANDSHAKE && negotiation.reads_clear(moved.direction) {
                messages.record_begins();
                negotiation.hello_may_begin(header, moved.direction);
            }
            negotiation.record_began(header, moved);
        }
        Piece::Body { content_type: HANDSHAKE, bytes, skipped } if negotiation.reads_clear(moved.direction) => {
            messages.advance(bytes, *skipped, |message| negotiation.message(&message, moved.direction));
        }
        Piece::Body { .. } => {}
        Piece::Ended { content_type, length } => negotiation.record_ended(*content_type, *length, moved),
        Piece::Lost => messages.lose(),
    }
}
