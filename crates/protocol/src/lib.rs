//! Wire formats read from the first bytes of the buffers that calls moved: TLS records and hellos, HTTP/1 heads, RESP
//! commands, statements to databases, DNS messages. Nothing here does I/O, keeps payload, or panics on any bytes; what cannot be known stays unknown.
//!
//! Each end of a connection has one [`Conversation`], fed with every call that moved bytes (not with peeks, which move
//! none), in order.

mod content;
mod conversation;
mod dns;
#[doc(hidden)]
pub mod fuzz;
mod http;
mod reader;
mod resp;
mod sql;
mod tls;

pub use content::content_of;
pub use conversation::Conversation;
pub use dns::dns;

use case::Nanos;
use case::tables::{Command, Handshake, HttpMessage, TlsRecord};

/// One call that moved bytes on a connection.
#[derive(Clone, Copy, Debug)]
pub struct Moved<'a> {
    /// When the call began.
    pub start: Nanos,
    /// When it ended.
    pub end: Nanos,
    /// The thread that made it.
    pub tid: u32,
    /// Which way the bytes went; see `case::tables::direction`.
    pub direction: u8,
    /// How many bytes it moved.
    pub bytes: u64,
    /// The first of them, as far as they were captured.
    pub head: &'a [u8],
}

impl<'a> Moved<'a> {
    /// The captured bytes, never more than were moved.
    fn captured(&self) -> &'a [u8] {
        let length = usize::try_from(self.bytes).unwrap_or(usize::MAX).min(self.head.len());
        &self.head[..length]
    }
}

/// What a conversation learned from the calls it was fed; the caller empties the lists.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// TLS records that began.
    pub records: Vec<TlsRecord>,
    /// HTTP/1 heads.
    pub messages: Vec<HttpMessage>,
    /// Commands of protocols that name what is asked for.
    pub commands: Vec<Command>,
    /// The TLS handshake, once nothing more can be learned about it.
    pub handshake: Option<Handshake>,
    /// What the last call's first bytes are; see `case::tables::content`.
    pub content: u8,
}
