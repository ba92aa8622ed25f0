//! Record headers, followed through one direction of a stream of which only the first bytes of each call are known.

use super::super::Moved;
use case::Nanos;

/// The content type of handshake records.
pub(in super::super) const HANDSHAKE: u8 = 22;

/// Longest body: 2^14 bytes and 256 of encryption's overhead (RFC 8446, 5.2); TLS 1.2 allows 2,048 (RFC 5246, 6.2.3),
/// which nothing uses.
pub(super) const LONGEST_BODY: u32 = 16_640;

/// Whether the bytes begin with a record's header.
pub(in super::super) fn is_record_header(bytes: &[u8]) -> bool {
    let Some(&[content_type, major, minor, high, low]) = bytes.first_chunk::<5>() else { return false };
    let length = u32::from(u16::from_be_bytes([high, low]));
    (20..=24).contains(&content_type) && major == 3 && minor <= 4 && (1..=LONGEST_BODY).contains(&length)
}

/// A record's header, and the call that brought its first byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub time: Nanos,
    pub tid: u32,
    pub content_type: u8,
    pub version: u16,
    pub length: u32,
}

/// What a call brings of the stream of records, in order.
#[derive(Debug)]
pub(super) enum Piece<'a> {
    /// A header is complete.
    Began(Header),
    /// Part of a body: `bytes` were captured, and `skipped` more moved.
    Body { content_type: u8, bytes: &'a [u8], skipped: u64 },
    /// A body is complete.
    Ended { content_type: u8, length: u32 },
    /// A boundary lies in bytes that were not captured: the position is not known any more.
    Lost,
}

/// The position in one direction's stream.
#[derive(Debug, Default)]
pub(super) struct Records {
    is_lost: bool,
    header: [u8; 5],
    header_length: u8,
    header_time: Nanos,
    header_tid: u32,
    /// Bytes of the current body still to come; the record's type and length are in `header`.
    left: u32,
}

impl Records {
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Whether the next byte is the first of a record, or may be.
    pub fn is_at_boundary(&self) -> bool {
        self.left == 0 && self.header_length == 0
    }

    /// Takes the bytes of one call.
    pub fn advance(&mut self, moved: &Moved, mut visit: impl FnMut(Piece)) {
        let captured = moved.captured();
        if self.is_lost {
            if !is_record_header(captured) {
                return;
            }
            *self = Records::default();
        }
        let mut at: u64 = 0;
        while at < moved.bytes {
            let known = captured.get(usize::try_from(at).unwrap_or(usize::MAX)..).unwrap_or_default();
            if self.left > 0 {
                at += self.pass_body(known, moved.bytes - at, &mut visit);
                continue;
            }
            let Some(&byte) = known.first() else {
                return self.lose(&mut visit);
            };
            self.add_to_header(byte, moved);
            at += 1;
            if usize::from(self.header_length) == self.header.len() && !self.begin(&mut visit) {
                return;
            }
        }
    }

    /// Passes over as much of the body as this call brings; says how much that was.
    fn pass_body(&mut self, known: &[u8], available: u64, visit: &mut impl FnMut(Piece)) -> u64 {
        let length = available.min(u64::from(self.left));
        let bytes = &known[..known.len().min(length as usize)];
        visit(Piece::Body { content_type: self.header[0], bytes, skipped: length - bytes.len() as u64 });
        self.left -= length as u32;
        if self.left == 0 {
            visit(Piece::Ended { content_type: self.header[0], length: self.body_length() });
        }
        length
    }

    fn add_to_header(&mut self, byte: u8, moved: &Moved) {
        if self.header_length == 0 {
            (self.header_time, self.header_tid) = (moved.start, moved.tid);
        }
        self.header[usize::from(self.header_length)] = byte;
        self.header_length += 1;
    }

    /// The header is complete: begins its record, or finds that it is none.
    fn begin(&mut self, visit: &mut impl FnMut(Piece)) -> bool {
        self.header_length = 0;
        if !is_record_header(&self.header) {
            self.lose(visit);
            return false;
        }
        self.left = self.body_length();
        visit(Piece::Began(Header {
            time: self.header_time,
            tid: self.header_tid,
            content_type: self.header[0],
            version: u16::from_be_bytes([self.header[1], self.header[2]]),
            length: self.left,
        }));
        true
    }

    fn body_length(&self) -> u32 {
        u32::from(u16::from_be_bytes([self.header[3], self.header[4]]))
    }

    fn lose(&mut self, visit: &mut impl FnMut(Piece)) {
        *self = Records { is_lost: true, ..Records::default() };
        visit(Piece::Lost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(calls: &[(&[u8], u64)]) -> (Vec<u32>, bool) {
        let (mut records, mut seen) = (Records::default(), Vec::new());
        for (head, bytes) in calls {
            let moved = Moved { start: Nanos(1), end: Nanos(2), tid: 1, direction: 0, bytes: *bytes, head };
            records.advance(&moved, |piece| {
                if let Piece::Began(header) = piece {
                    seen.push(header.length);
                }
            });
        }
        (seen, records.is_lost())
    }

    #[test]
    fn a_header_may_come_alone_or_in_two_pieces() {
        let (header, body) = (&b"\x17\x03\x03\x00\x40"[..], &[9; 64][..]);
        assert_eq!(lengths(&[(header, 5), (body, 64), (header, 5), (body, 64)]), (vec![64, 64], false));
        assert_eq!(lengths(&[(&header[..2], 2), (&header[2..], 3), (body, 64), (header, 5)]), (vec![64, 64], false));
    }

    #[test]
    fn several_records_of_one_call_are_all_seen() {
        let mut bytes = b"\x14\x03\x03\x00\x01\x01\x16\x03\x03\x00\x20".to_vec();
        bytes.extend([0; 32]);
        bytes.extend(b"\x17\x03\x03\x01\x00");
        assert_eq!(lengths(&[(&bytes, bytes.len() as u64 + 256)]), (vec![1, 32, 256], false));
    }

    #[test]
    fn a_boundary_beyond_the_captured_bytes_loses_the_position_until_a_call_begins_with_a_header() {
        let mut head = b"\x17\x03\x03\x00\x80".to_vec();
        head.extend([0; 59]);
        assert_eq!(lengths(&[(&head, 300)]), (vec![128], true));
        let body = [0x55; 64];
        assert_eq!(lengths(&[(&head, 300), (&body, 64), (&head, 133)]), (vec![128, 128], false));
    }
}
