//! HTTP/1.1 (RFC 9112): where an answer ends, and whether another can follow on its connection.

mod kept;

pub(crate) use kept::{Answered, Kept};

use super::{Read, Reply, Search};
use crate::plan::Expected;
use case::LoadFault;
use httparse::{EMPTY_HEADER, Error, Header, Response, Status};

/// A head longer than this has no end: servers limit theirs to a quarter of it.
const LONGEST_HEAD: usize = 64 << 10;
/// More headers than servers send.
const MOST_HEADERS: usize = 128;
/// The line before a chunk: sixteen digits, and extensions that nobody sends.
const LONGEST_CHUNK_LINE: usize = 1024;

/// Reads answers one after another.
pub(crate) struct Reader {
    has_no_body: bool,
    expected: Option<u16>,
    search: Search,
    /// Where answers are kept.
    kept: Option<Box<Kept>>,
    state: State,
    status: u16,
    keeps: bool,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Head,
    Body(u64),
    ChunkLine,
    Chunk(u64),
    ChunkEnd,
    Trailers,
    UntilClosed,
}

/// How long a body is.
enum Extent {
    Empty,
    Bytes(u64),
    Chunks,
    UntilClosed,
}

impl Reader {
    pub(crate) fn of(expected: &Expected) -> Reader {
        Reader {
            has_no_body: false,
            expected: expected.status,
            search: Search::of(expected.body.as_ref()),
            kept: None,
            state: State::Head,
            status: 0,
            keeps: true,
        }
    }

    /// The answer that comes next is one to HEAD, or is not.
    pub(crate) fn expect_body(&mut self, has_no_body: bool) {
        self.has_no_body = has_no_body;
    }

    /// One that keeps answers to GET, with bodies of up to `most` bytes.
    pub(crate) fn keeping(most: usize) -> Reader {
        Reader { kept: Some(Box::new(Kept::of(most))), ..Reader::of(&Expected::default()) }
    }

    /// The answer that was read last, where it is kept.
    pub(crate) fn answered(&mut self) -> Option<Answered> {
        self.kept.as_mut()?.whole.take()
    }

    /// How much is kept of the answer that is being read.
    pub(crate) fn kept(&self) -> usize {
        self.kept.as_ref().map_or(0, |kept| kept.len())
    }

    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<Read, LoadFault> {
        let mut taken = 0;
        loop {
            let rest = &bytes[taken..];
            let (more, is_whole) = match self.state {
                State::Head => self.head(rest)?,
                State::Body(length) => self.body(rest, length, State::Body)?,
                State::ChunkLine => (self.chunk_line(rest)?, false),
                State::Chunk(length) => (self.body(rest, length, State::Chunk)?.0, false),
                State::ChunkEnd => (self.chunk_end(rest)?, false),
                State::Trailers => Self::trailers(rest)?,
                State::UntilClosed => {
                    self.take(rest)?;
                    (rest.len(), false)
                }
            };
            taken += more;
            if is_whole {
                return Ok(Read { taken, reply: Some(self.reply()) });
            }
            if more == 0 {
                return Ok(Read { taken, reply: None });
            }
        }
    }

    pub(crate) fn closed(&mut self, left: usize) -> Result<Reply, LoadFault> {
        match self.state {
            State::Head if left == 0 => Err(LoadFault::ClosedEarly),
            State::Head => Err(LoadFault::TruncatedHead),
            State::UntilClosed => Ok(self.reply()),
            _ => Err(LoadFault::TruncatedBody),
        }
    }

    fn reply(&mut self) -> Reply {
        self.state = State::Head;
        if let Some(kept) = &mut self.kept {
            kept.end();
        }
        let body = self.search.fault();
        let unexpected = self.expected.is_some_and(|expected| expected != self.status);
        let fault = if unexpected { Some(LoadFault::UnexpectedStatus) } else { body };
        Reply { status: self.status, fault, keeps: self.keeps }
    }

    /// How many bytes are the head's, and whether the answer is whole with them.
    fn head(&mut self, bytes: &[u8]) -> Result<(usize, bool), LoadFault> {
        if bytes.is_empty() {
            return Ok((0, false));
        }
        let mut headers = [EMPTY_HEADER; MOST_HEADERS];
        let mut response = Response::new(&mut headers);
        let length = match response.parse(bytes) {
            Ok(Status::Complete(length)) => length,
            Ok(Status::Partial) if bytes.len() > LONGEST_HEAD => return Err(LoadFault::HeadTooLong),
            Ok(Status::Partial) => return Ok((0, false)),
            Err(Error::TooManyHeaders) => return Err(LoadFault::HeadTooLong),
            Err(Error::Version | Error::Status) => return Err(LoadFault::BadStatusLine),
            Err(_) if response.code.is_none() => return Err(LoadFault::BadStatusLine),
            Err(_) => return Err(LoadFault::BadHeader),
        };
        self.status = response.code.unwrap_or_default();
        // Something to wait with; the answer follows.
        if (100..200).contains(&self.status) {
            return Ok((length, false));
        }
        let is_old = response.version == Some(0);
        let extent = extent(response.headers, self.has_no_body || matches!(self.status, 204 | 304))?;
        let says = |word| has_token(response.headers, "connection", word);
        self.keeps = if is_old { says("keep-alive") } else { !says("close") };
        if let Some(kept) = &mut self.kept {
            kept.begin(self.status, response.headers);
            if let Extent::Bytes(length) = extent {
                kept.expect(length)?;
            }
        }
        self.state = match extent {
            Extent::Empty => return Ok((length, true)),
            Extent::Bytes(length) => State::Body(length),
            Extent::Chunks => State::ChunkLine,
            Extent::UntilClosed => {
                self.keeps = false;
                State::UntilClosed
            }
        };
        Ok((length, false))
    }

    /// Takes what is there of so many bytes, and whether they are all there.
    fn body(&mut self, bytes: &[u8], length: u64, left: impl Fn(u64) -> State) -> Result<(usize, bool), LoadFault> {
        let taken = usize::try_from(length).unwrap_or(usize::MAX).min(bytes.len());
        self.take(&bytes[..taken])?;
        let rest = length - taken as u64;
        self.state = match left(rest) {
            State::Chunk(0) => State::ChunkEnd,
            state => state,
        };
        Ok((taken, rest == 0))
    }

    /// Looks at a part of a body.
    fn take(&mut self, bytes: &[u8]) -> Result<(), LoadFault> {
        self.search.read(bytes);
        self.kept.as_mut().map_or(Ok(()), |kept| kept.read(bytes))
    }

    fn chunk_line(&mut self, bytes: &[u8]) -> Result<usize, LoadFault> {
        let Some(line) = line(bytes, LONGEST_CHUNK_LINE).map_err(|()| LoadFault::BadChunk)? else { return Ok(0) };
        let text = std::str::from_utf8(line).map_err(|_| LoadFault::BadChunk)?;
        let digits = text.split(';').next().unwrap_or_default().trim();
        let is_hexadecimal = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let length = u64::from_str_radix(digits, 16).ok().filter(|_| is_hexadecimal).ok_or(LoadFault::BadChunk)?;
        self.state = if length == 0 { State::Trailers } else { State::Chunk(length) };
        Ok(line.len() + 1)
    }

    fn chunk_end(&mut self, bytes: &[u8]) -> Result<usize, LoadFault> {
        let Some(line) = line(bytes, 2).map_err(|()| LoadFault::BadChunk)? else { return Ok(0) };
        if !line.trim_ascii().is_empty() {
            return Err(LoadFault::BadChunk);
        }
        self.state = State::ChunkLine;
        Ok(line.len() + 1)
    }

    fn trailers(bytes: &[u8]) -> Result<(usize, bool), LoadFault> {
        let Some(line) = line(bytes, LONGEST_HEAD).map_err(|()| LoadFault::HeadTooLong)? else { return Ok((0, false)) };
        Ok((line.len() + 1, line.trim_ascii().is_empty()))
    }
}

/// The bytes before the first end of line, where it is there; an error where it should have been.
fn line(bytes: &[u8], longest: usize) -> Result<Option<&[u8]>, ()> {
    match bytes.iter().take(longest).position(|byte| *byte == b'\n') {
        Some(end) => Ok(Some(&bytes[..end])),
        None if bytes.len() >= longest => Err(()),
        None => Ok(None),
    }
}

fn extent(headers: &[Header], is_empty: bool) -> Result<Extent, LoadFault> {
    if is_empty {
        return Ok(Extent::Empty);
    }
    if has_token(headers, "transfer-encoding", "chunked") {
        return Ok(Extent::Chunks);
    }
    let mut length = None;
    for header in headers.iter().filter(|header| header.name.eq_ignore_ascii_case("content-length")) {
        let text = std::str::from_utf8(header.value).map_err(|_| LoadFault::BadHeader)?.trim();
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let value = text.parse::<u64>().ok().filter(|_| is_number).ok_or(LoadFault::BadHeader)?;
        if length.replace(value).is_some_and(|other| other != value) {
            return Err(LoadFault::BadHeader);
        }
    }
    Ok(match length {
        Some(0) => Extent::Empty,
        Some(length) => Extent::Bytes(length),
        None => Extent::UntilClosed,
    })
}

/// Whether a list in a header has a word.
fn has_token(headers: &[Header], name: &str, word: &str) -> bool {
    let values = headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value);
    values.into_iter().any(|value| {
        value.split(|byte| *byte == b',').any(|one| one.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader() -> Reader {
        Reader::of(&Expected::default())
    }

    /// Whatever the pieces in which bytes come, they are read as the same answers.
    fn in_pieces(bytes: &[u8], size: usize) -> Result<Vec<(u16, bool)>, LoadFault> {
        let (mut reader, mut held, mut replies) = (reader(), Vec::new(), Vec::new());
        for piece in bytes.chunks(size) {
            held.extend_from_slice(piece);
            loop {
                let read = reader.read(&held)?;
                held.drain(..read.taken);
                let Some(reply) = read.reply else { break };
                replies.push((reply.status, reply.keeps));
            }
        }
        Ok(replies)
    }

    #[test]
    fn answers_end_where_they_say_in_any_pieces() {
        let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc\
            HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nab\r\nA\r\n0123456789\r\n0\r\nT: u\r\n\r\n\
            HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n\
            HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n";
        for size in [1, 2, 3, 7, 1000] {
            let replies = in_pieces(bytes, size);
            assert_eq!(replies, Ok(vec![(200, true), (404, true), (304, true), (200, false)]), "{size}");
        }
    }

    #[test]
    fn an_answer_without_a_length_ends_with_the_connection() {
        let mut reader = reader();
        let bytes = b"HTTP/1.1 200 OK\r\n\r\nabc";
        assert_eq!(reader.read(bytes), Ok(Read { taken: bytes.len(), reply: None }));
        assert_eq!(reader.closed(0), Ok(Reply { status: 200, fault: None, keeps: false }));
    }

    #[test]
    fn an_answer_to_head_has_no_body() {
        let mut reader = reader();
        reader.expect_body(true);
        assert!(reader.read(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n").expect("an answer").reply.is_some());
    }

    #[test]
    fn what_breaks_the_protocol_is_named() {
        let wrong: [(&[u8], LoadFault); 9] = [
            (b"SSH-2.0-OpenSSH\r\n", LoadFault::BadStatusLine),
            (b"HTTP/1.1 abc\r\n\r\n", LoadFault::BadStatusLine),
            (b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", LoadFault::BadHeader),
            (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", LoadFault::BadHeader),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", LoadFault::BadHeader),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", LoadFault::BadChunk),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", LoadFault::BadChunk),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc", LoadFault::BadChunk),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", LoadFault::BadChunk),
        ];
        for (bytes, fault) in wrong {
            assert_eq!(in_pieces(bytes, 1000), Err(fault), "{}", String::from_utf8_lossy(bytes));
        }
        let endless = [b"HTTP/1.1 200 OK\r\nX: ".to_vec(), vec![b'x'; LONGEST_HEAD]].concat();
        assert_eq!(in_pieces(&endless, 4096), Err(LoadFault::HeadTooLong));
    }

    #[test]
    fn where_a_connection_is_closed_is_told_apart() {
        let at = |bytes: &[u8]| {
            let mut reader = reader();
            let taken = reader.read(bytes).expect("sound so far").taken;
            reader.closed(bytes.len() - taken)
        };
        assert_eq!(at(b""), Err(LoadFault::ClosedEarly));
        assert_eq!(at(b"HTTP/1.1 200"), Err(LoadFault::TruncatedHead));
        assert_eq!(at(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc"), Err(LoadFault::TruncatedBody));
    }

    #[test]
    fn an_answer_that_is_kept_is_kept_up_to_its_length() {
        let bytes = b"HTTP/1.1 200 OK\r\nETag: W/\"a\"\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n\
            3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
        let mut reader = Reader::keeping(5);
        assert!(reader.read(bytes).expect("an answer").reply.is_some());
        let answered = reader.answered().expect("it is kept");
        assert_eq!((answered.status, answered.etag.as_str(), answered.coding.as_str()), (200, "W/\"a\"", "gzip"));
        assert_eq!((answered.body.as_slice(), reader.answered()), (b"abcde".as_slice(), None));
        assert_eq!(Reader::keeping(4).read(bytes), Err(LoadFault::BodyTooLarge));
        let announced = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
        assert_eq!(Reader::keeping(4).read(announced), Err(LoadFault::BodyTooLarge));
    }

    #[test]
    fn answers_are_checked_against_what_is_expected() {
        let expected = Expected { status: Some(200), body: Some(b"ello w".to_vec()) };
        let mut reader = Reader::of(&expected);
        let fault =
            |reader: &mut Reader, bytes: &[u8]| reader.read(bytes).map(|read| read.reply.and_then(|one| one.fault));
        let right = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n8\r\nlo world\r\n0\r\n\r\n";
        assert_eq!(fault(&mut reader, right), Ok(None));
        let other = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        assert_eq!(fault(&mut reader, other), Ok(Some(LoadFault::UnexpectedBody)));
        let status = b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n";
        assert_eq!(fault(&mut reader, status), Ok(Some(LoadFault::UnexpectedStatus)));
    }
}
