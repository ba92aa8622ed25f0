//! The protocols, one file each: how the bytes of a server are read as answers. Pure: bytes go in, answers and faults come
//! out. A reader holds nothing of what it has read but what it was told to look for.

mod echo;
mod gemini;
mod gopher;
mod http;
mod http2;

pub(crate) use http::Answered;
pub(crate) use http2::Progress;

use crate::address::Scheme;
use crate::plan::Plan;
use case::LoadFault;

/// The end of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    /// Its status; 0 where the protocol has none.
    pub status: u16,
    /// What is wrong with it, though it is whole.
    pub fault: Option<LoadFault>,
    /// Whether the connection stays open.
    pub keeps: bool,
}

/// What a reader made of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    /// How many it has taken.
    pub taken: usize,
    /// An answer that ends with them.
    pub reply: Option<Reply>,
}

/// Reads the answers on one connection.
pub(crate) enum Reader {
    Http(http::Reader),
    Http2(Box<http2::Reader>),
    Echo(echo::Reader),
    Gopher(gopher::Reader),
    Gemini(gemini::Reader),
}

impl Reader {
    /// One for what is spoken.
    pub(crate) fn of(plan: &Plan) -> Reader {
        match plan.scheme() {
            Scheme::Http | Scheme::Https => Reader::Http(http::Reader::of(&plan.expected)),
            Scheme::H2c | Scheme::H2 => Reader::Http2(Box::new(http2::Reader::of(&plan.expected))),
            Scheme::Tcp | Scheme::Tls => Reader::Echo(echo::Reader::of(&plan.body)),
            Scheme::Gopher => Reader::Gopher(gopher::Reader::of(&plan.expected)),
            Scheme::Gemini => Reader::Gemini(gemini::Reader::of(&plan.expected)),
        }
    }

    /// One that keeps answers of HTTP, with bodies of up to `most` bytes.
    pub(crate) fn keeping(most: usize) -> Reader {
        Reader::Http(http::Reader::keeping(most))
    }

    /// The answer that was read last, where it is kept.
    pub(crate) fn answered(&mut self) -> Option<Answered> {
        if let Reader::Http(reader) = self { reader.answered() } else { None }
    }

    /// How many bytes are kept of the answer that is being read.
    pub(crate) fn kept(&self) -> usize {
        if let Reader::Http(reader) = self { reader.kept() } else { 0 }
    }

    /// The requests of a connection whose answers come in any order.
    pub(crate) fn streams(&mut self) -> Option<&mut http2::Reader> {
        if let Reader::Http2(reader) = self { Some(reader) } else { None }
    }

    /// Reads as far as one answer goes. `has_no_body` where it is one to a request that gets a head alone.
    pub(crate) fn read(&mut self, bytes: &[u8], has_no_body: bool) -> Result<Read, LoadFault> {
        match self {
            Reader::Http(reader) => {
                reader.expect_body(has_no_body);
                reader.read(bytes)
            }
            // Its answers are read by [`Self::streams`].
            Reader::Http2(_) => Err(LoadFault::Unasked),
            Reader::Echo(reader) => reader.read(bytes),
            Reader::Gopher(reader) => Ok(reader.read(bytes)),
            Reader::Gemini(reader) => reader.read(bytes),
        }
    }

    /// The server has closed the connection; `left` bytes were not taken.
    pub(crate) fn closed(&mut self, left: usize) -> Result<Reply, LoadFault> {
        match self {
            Reader::Http(reader) => reader.closed(left),
            Reader::Http2(reader) => Err(reader.closed()),
            Reader::Echo(reader) => Err(reader.closed()),
            Reader::Gopher(reader) => reader.closed(),
            Reader::Gemini(reader) => reader.closed(left),
        }
    }
}

/// Looks for a text in a body.
pub(crate) struct Search {
    wanted: Option<Vec<u8>>,
    seen: Vec<u8>,
}

/// What is looked for is within so many bytes: a body may have no end.
const SEARCHED: usize = 64 << 10;

impl Search {
    pub(crate) fn of(wanted: Option<&Vec<u8>>) -> Search {
        Search { wanted: wanted.cloned(), seen: Vec::new() }
    }

    pub(crate) fn read(&mut self, bytes: &[u8]) {
        if self.wanted.is_some() {
            let room = SEARCHED - self.seen.len();
            self.seen.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }

    /// Whether it was there, at the end of a body; the next body begins.
    pub(crate) fn fault(&mut self) -> Option<LoadFault> {
        let wanted = self.wanted.as_ref()?;
        let found = wanted.is_empty() || self.seen.windows(wanted.len()).any(|window| window == wanted.as_slice());
        self.seen.clear();
        (!found).then_some(LoadFault::UnexpectedBody)
    }
}
