//! Gemini: a line with a status of two digits, and a body until the server closes.

use super::{Read, Reply, Search};
use crate::plan::Expected;
use case::LoadFault;

/// Status, blank, 1024 bytes of what it means, end of line: the protocol allows no more.
const LONGEST_LINE: usize = 1029;

/// Reads the line, and then until the end.
pub(crate) struct Reader {
    status: Option<u16>,
    expected: Option<u16>,
    search: Search,
}

impl Reader {
    pub(crate) fn of(expected: &Expected) -> Reader {
        Reader { status: None, expected: expected.status, search: Search::of(expected.body.as_ref()) }
    }

    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<Read, LoadFault> {
        if self.status.is_some() {
            self.search.read(bytes);
            return Ok(Read { taken: bytes.len(), reply: None });
        }
        match bytes.windows(2).take(LONGEST_LINE).position(|pair| pair == b"\r\n") {
            None if bytes.len() >= LONGEST_LINE => Err(LoadFault::HeadTooLong),
            None => Ok(Read { taken: 0, reply: None }),
            Some(end) => {
                self.status = Some(status(&bytes[..end]).ok_or(LoadFault::BadStatusLine)?);
                Ok(Read { taken: end + 2, reply: None })
            }
        }
    }

    pub(crate) fn closed(&mut self, left: usize) -> Result<Reply, LoadFault> {
        let without = if left == 0 { LoadFault::ClosedEarly } else { LoadFault::TruncatedHead };
        let status = self.status.ok_or(without)?;
        let unexpected = self.expected.is_some_and(|expected| expected != status);
        let fault = if unexpected { Some(LoadFault::UnexpectedStatus) } else { self.search.fault() };
        Ok(Reply { status, fault, keeps: false })
    }
}

fn status(line: &[u8]) -> Option<u16> {
    match line {
        [tens @ b'1'..=b'6', ones @ b'0'..=b'9'] | [tens @ b'1'..=b'6', ones @ b'0'..=b'9', b' ', ..] => {
            Some(u16::from(tens - b'0') * 10 + u16::from(ones - b'0'))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_and_the_body_ends_with_the_connection() {
        let mut reader = Reader::of(&Expected::default());
        assert_eq!(reader.read(b"20 text").expect("a part").taken, 0);
        assert_eq!(reader.closed(7), Err(LoadFault::TruncatedHead));
        assert_eq!(reader.read(b"20 text/gemini\r\n# Hello").expect("a line").taken, 16);
        assert_eq!(reader.closed(0).map(|reply| reply.status), Ok(20));
    }

    #[test]
    fn what_is_no_status_is_named() {
        assert_eq!(Reader::of(&Expected::default()).read(b"HTTP/1.1 400\r\n"), Err(LoadFault::BadStatusLine));
        assert_eq!(Reader::of(&Expected::default()).read(&[b'2'; 2000]), Err(LoadFault::HeadTooLong));
        assert_eq!(Reader::of(&Expected::default()).closed(0), Err(LoadFault::ClosedEarly));
    }
}
