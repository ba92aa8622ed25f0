//! Handshake messages out of the bodies of handshake records.

use super::hello::{CLIENT_HELLO, SERVER_HELLO};

/// Most bytes kept of a hello while it is put together. Post-quantum key shares make hellos of up to 1,900 bytes.
const LONGEST_KEPT: usize = 2048;

/// One handshake message.
#[derive(Debug)]
pub(super) struct Message<'a> {
    pub kind: u8,
    /// Length of its body, as its header says.
    pub length: u32,
    /// The captured beginning of a hello's body; empty for other kinds.
    pub body: &'a [u8],
}

/// The position in one direction's stream of messages.
#[derive(Debug, Default)]
pub(super) struct Messages {
    is_lost: bool,
    header: [u8; 4],
    header_length: u8,
    left: u32,
    body: Vec<u8>,
    /// Bytes of the current body were not captured: what follows them cannot be appended.
    has_gap: bool,
}

impl Messages {
    /// A new record begins: its first byte begins a message, as a rule, where the position was lost before.
    pub fn record_begins(&mut self) {
        if self.is_lost {
            *self = Messages::default();
        }
    }

    /// The position is not known any more.
    pub fn lose(&mut self) {
        *self = Messages { is_lost: true, ..Messages::default() };
    }

    /// Takes captured bytes and then `skipped` ones; visits each message that ends in them.
    pub fn advance(&mut self, bytes: &[u8], skipped: u64, mut visit: impl FnMut(Message)) {
        let mut rest = bytes;
        while !rest.is_empty() && !self.is_lost {
            if usize::from(self.header_length) < self.header.len() {
                self.header[usize::from(self.header_length)] = rest[0];
                self.header_length += 1;
                rest = &rest[1..];
                if usize::from(self.header_length) == self.header.len() {
                    self.left = u32::from_be_bytes([0, self.header[1], self.header[2], self.header[3]]);
                    self.end_if_complete(&mut visit);
                }
                continue;
            }
            let (part, after) = rest.split_at(rest.len().min(self.left as usize));
            self.keep(part);
            self.left -= part.len() as u32;
            rest = after;
            self.end_if_complete(&mut visit);
        }
        self.skip(skipped, &mut visit);
    }

    /// Passes over bytes that were not captured.
    fn skip(&mut self, skipped: u64, visit: &mut impl FnMut(Message)) {
        if skipped == 0 || self.is_lost {
            return;
        }
        let in_body = usize::from(self.header_length) == self.header.len();
        if !in_body || skipped > u64::from(self.left) {
            if in_body {
                self.left = 0;
                self.end_if_complete(visit);
            }
            return self.lose();
        }
        self.has_gap = true;
        self.left -= skipped as u32;
        self.end_if_complete(visit);
    }

    fn keep(&mut self, part: &[u8]) {
        let is_hello = matches!(self.header[0], CLIENT_HELLO | SERVER_HELLO);
        if is_hello && !self.has_gap {
            let room = LONGEST_KEPT - self.body.len().min(LONGEST_KEPT);
            self.body.extend_from_slice(&part[..part.len().min(room)]);
            self.has_gap = part.len() > room;
        }
    }

    fn end_if_complete(&mut self, visit: &mut impl FnMut(Message)) {
        if self.left > 0 {
            return;
        }
        let length = u32::from_be_bytes([0, self.header[1], self.header[2], self.header[3]]);
        visit(Message { kind: self.header[0], length, body: &self.body });
        self.body.clear();
        (self.header_length, self.has_gap) = (0, false);
    }
}
