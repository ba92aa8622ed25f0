//! One handshake, from the ClientHello until nothing more can be learned about it.

use super::super::Moved;
use super::hello::{CLIENT_HELLO, ClientHello, SERVER_HELLO, ServerHello, TLS_1_2, TLS_1_3};
use super::messages::Message;
use super::records::{HANDSHAKE, Header};
use case::tables::{Handshake, direction};

/// Handshake messages that only a full handshake of TLS 1.2 and before has in the clear: the server's certificate, its
/// key exchange, its request for a certificate, its end of flight.
const FULL_MESSAGES: std::ops::RangeInclusive<u8> = 11..=14;

/// The message by which a server hands out a ticket.
const NEW_SESSION_TICKET: u8 = 4;

/// Content types.
const CHANGE_CIPHER_SPEC: u8 = 20;
const APPLICATION_DATA: u8 = 23;

/// Lengths of an encrypted TLS 1.3 record that holds a Finished alone: the hash (32 or 48 bytes), 4 of header, 1 of
/// content type and 16 of tag.
const FINISHED_LENGTHS: [u32; 2] = [53, 69];

/// An encrypted record shorter than this holds no ticket: 17 bytes of overhead, 19 of fixed fields, a nonce, and a ticket
/// or database key of 32. Alerts (19) and HTTP/2's SETTINGS (26 to 62) are shorter.
const SHORTEST_TICKET_RECORD: u32 = 70;

/// The records of a TLS 1.3 server's first encrypted flight take more than this where a certificate and a signature are
/// among them, and less where not.
const SHORTEST_CERTIFICATE_FLIGHT: u32 = 300;

/// Where a handshake is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// No answer yet.
    Asked,
    /// The ServerHello was there.
    Answered,
    /// The client's last message was there; the server may still hand out tickets (TLS 1.3).
    Finished,
    /// Nothing more to learn.
    Settled,
}

/// A handshake under way.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "independent observations, not states of one machine")]
pub(super) struct Negotiation {
    handshake: Handshake,
    stage: Stage,
    /// The direction in which the client speaks; none before its hello.
    client: Option<u8>,
    /// By speaker, the client first: whether its ChangeCipherSpec and its Finished (TLS 1.2) were there.
    changed_cipher: [bool; 2],
    finished: [bool; 2],
    server_changed_first: bool,
    saw_full_message: bool,
    /// The server wants another key share (HelloRetryRequest).
    is_asked_again: bool,
    /// What the ServerHello said of the offered key.
    takes_key: Option<bool>,
    /// Whether it named the session.
    names_session: Option<bool>,
    /// Encrypted records and bytes of the server before the client's last message (TLS 1.3).
    flight_records: u32,
    flight_bytes: u32,
    flight_has_finished: bool,
    is_foreign: bool,
}

impl Negotiation {
    pub fn new(connection: u32) -> Negotiation {
        Negotiation {
            handshake: Handshake { connection, ..Handshake::default() },
            stage: Stage::Asked,
            client: None,
            changed_cipher: [false; 2],
            finished: [false; 2],
            server_changed_first: false,
            saw_full_message: false,
            is_asked_again: false,
            takes_key: None,
            names_session: None,
            flight_records: 0,
            flight_bytes: 0,
            flight_has_finished: false,
            is_foreign: false,
        }
    }

    /// Whether nothing more can be learned.
    pub fn is_settled(&self) -> bool {
        self.stage == Stage::Settled
    }

    /// Whether the first message was no ClientHello.
    pub fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// Whether a ClientHello has begun.
    pub fn has_begun(&self) -> bool {
        self.client.is_some() && !self.is_foreign
    }

    /// The row of the case.
    pub fn into_handshake(self) -> Handshake {
        self.handshake
    }

    /// Whether handshake records in this direction are not encrypted yet.
    pub fn reads_clear(&self, direction: u8) -> bool {
        match self.stage {
            Stage::Asked => true,
            Stage::Answered => self.handshake.version != TLS_1_3 && !self.changed_cipher[self.speaker(direction)],
            Stage::Finished | Stage::Settled => false,
        }
    }

    /// 0 for the client, 1 for the server.
    fn speaker(&self, direction: u8) -> usize {
        usize::from(self.client.is_some_and(|client| client != direction))
    }

    /// Whether the client is watched, not the server.
    fn watches_client(&self) -> bool {
        self.client == Some(direction::OUT)
    }

    /// The first handshake record begins the handshake.
    pub fn hello_may_begin(&mut self, header: &Header, direction: u8) {
        if self.client.is_none() {
            self.client = Some(direction);
            (self.handshake.start, self.handshake.tid) = (header.time, header.tid);
        } else if self.is_asked_again && self.client == Some(direction) && self.handshake.second_hello.0 == 0 {
            self.handshake.second_hello = header.time;
        }
    }

    /// A message in the clear.
    pub fn message(&mut self, message: &Message, direction: u8) {
        match (self.speaker(direction), message.kind) {
            (0, CLIENT_HELLO) if self.stage == Stage::Asked => self.client_hello(message),
            (0, _) if self.handshake.client_hello_bytes == 0 => self.is_foreign = true,
            (1, SERVER_HELLO) if self.stage == Stage::Asked => self.server_hello(message),
            (1, NEW_SESSION_TICKET) if self.stage == Stage::Answered => self.handshake.ticket = true,
            (1, kind) if FULL_MESSAGES.contains(&kind) && self.stage == Stage::Answered => {
                self.saw_full_message = true;
                self.is_before_1_3();
            }
            _ => {}
        }
    }

    fn client_hello(&mut self, message: &Message) {
        let hello = ClientHello::parse(message.body, message.length);
        let handshake = &mut self.handshake;
        // After a HelloRetryRequest the second hello repeats the first, with another key share.
        if handshake.client_hello_bytes == 0 {
            handshake.client_hello_bytes = message.length + 4;
            (handshake.server_name, handshake.protocols) = (hello.server_name, hello.protocols);
            handshake.takes_no_ticket = hello.takes_no_ticket;
            handshake.offers_1_3 = hello.offers_1_3;
        }
        handshake.offered |= hello.offers_session;
    }

    fn server_hello(&mut self, message: &Message) {
        let hello = ServerHello::parse(message.body, message.length);
        if hello.is_retry {
            self.is_asked_again = true;
            return;
        }
        self.handshake.version = hello.version;
        self.handshake.cipher = hello.cipher;
        self.takes_key = hello.takes_key;
        self.names_session = hello.names_session;
        self.stage = Stage::Answered;
    }

    /// Records tell the version where the ServerHello was not captured far enough.
    fn is_before_1_3(&mut self) {
        if self.handshake.version == 0 {
            self.handshake.version = TLS_1_2;
        }
    }

    /// A record's header is complete.
    pub fn record_began(&mut self, header: &Header, moved: &Moved) {
        let speaker = self.speaker(moved.direction);
        match (self.stage, header.content_type) {
            (Stage::Answered, CHANGE_CIPHER_SPEC) => {
                self.server_changed_first |= speaker == 1 && !self.changed_cipher[0];
                self.changed_cipher[speaker] = true;
            }
            (Stage::Answered, HANDSHAKE) => self.is_before_1_3(),
            (Stage::Answered, APPLICATION_DATA) => {
                // Before both Finished no server of TLS 1.2 sends application data.
                if self.handshake.version == 0 && speaker == 1 {
                    self.handshake.version = TLS_1_3;
                }
                if self.handshake.version == TLS_1_3 && speaker == 1 && self.handshake.end.0 != 0 {
                    self.finish();
                    self.after_finished(speaker, header.length);
                }
            }
            (Stage::Finished, APPLICATION_DATA) => self.after_finished(speaker, header.length),
            _ => {}
        }
    }

    /// The first record after the client's last message tells whether tickets follow it. Where the client's request was
    /// read together with that message, the answer to it may be next: nothing is claimed then.
    fn after_finished(&mut self, speaker: usize, length: u32) {
        self.handshake.ticket |= speaker == 1 && length >= SHORTEST_TICKET_RECORD;
        self.stage = Stage::Settled;
    }

    /// A record's body is complete.
    pub fn record_ended(&mut self, content_type: u8, length: u32, moved: &Moved) {
        if self.stage != Stage::Answered {
            return;
        }
        let speaker = self.speaker(moved.direction);
        let is_1_3 = self.handshake.version == TLS_1_3;
        match content_type {
            HANDSHAKE if !is_1_3 && self.changed_cipher[speaker] => {
                self.finished[speaker] = true;
                if self.finished == [true, true] {
                    self.handshake.end = moved.end;
                    self.handshake.resumed = self.server_changed_first && !self.saw_full_message;
                    let gives_none = self.names_session == Some(false) && !self.handshake.ticket;
                    self.handshake.gives_none = gives_none && self.saw_full_message;
                    self.stage = Stage::Settled;
                }
            }
            APPLICATION_DATA if is_1_3 && speaker == 0 => {
                self.handshake.end = moved.end;
                if FINISHED_LENGTHS.contains(&length) {
                    self.finish();
                }
            }
            APPLICATION_DATA if is_1_3 => self.server_flight(length),
            _ => {}
        }
    }

    /// An encrypted record of the server's first flight. What follows its Finished there can only be tickets: some
    /// servers send them before they hear from the client again.
    fn server_flight(&mut self, length: u32) {
        // A Finished follows EncryptedExtensions, and in a full handshake a certificate and a signature as well.
        let before_finished = if self.takes_key == Some(true) { 1 } else { 3 };
        let may_be_finished = self.flight_records >= before_finished && FINISHED_LENGTHS.contains(&length);
        self.handshake.ticket |= self.flight_has_finished && !self.watches_client() && length >= SHORTEST_TICKET_RECORD;
        self.flight_has_finished |= may_be_finished;
        self.flight_records += 1;
        self.flight_bytes = self.flight_bytes.saturating_add(length);
    }

    /// The client's last message was there (TLS 1.3).
    fn finish(&mut self) {
        let is_short_flight = self.flight_records > 0 && self.flight_bytes < SHORTEST_CERTIFICATE_FLIGHT;
        self.handshake.resumed = self.takes_key.unwrap_or(is_short_flight && self.handshake.offered);
        // Tickets are claimed only where the server is watched, so that its writes are in order with its reads.
        self.stage = if self.watches_client() { Stage::Settled } else { Stage::Finished };
    }
}
