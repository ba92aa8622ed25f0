//! One end of a connection, from its first byte to its last.

use super::http::Http;
use super::tls::{self, Tls};
use super::{Moved, Seen, content_of};
use super::{resp, sql};
use case::tables::{Handshake, content, role};

/// What one end of a connection has said and heard so far, as far as it matters for the calls to come.
#[derive(Debug)]
pub struct Conversation {
    connection: u32,
    role: u8,
    kind: Kind,
}

/// What is spoken.
#[derive(Debug)]
enum Kind {
    /// Plain text, HTTP/1 or not; TLS may still begin at a turn (a proxy's tunnel, STARTTLS).
    Plain(Http),
    /// TLS.
    Tls(Box<Tls>),
    /// Something that is not looked into: HTTP/2 in plain text.
    Other,
}

impl Conversation {
    /// A conversation of which nothing was seen yet, for the socket `connection` (see `case::tables::role`).
    pub fn new(connection: u32, role: u8) -> Conversation {
        Conversation { connection, role, kind: Kind::Plain(Http::default()) }
    }

    /// Takes the next call; adds what it says to `seen`, whose `content` is set at each call.
    pub fn feed(&mut self, moved: &Moved, seen: &mut Seen) {
        seen.content = content::OTHER;
        if moved.bytes == 0 {
            return;
        }
        if let Kind::Plain(http) = &self.kind
            && http.is_turn(moved.direction)
        {
            self.judge(moved);
        }
        match &mut self.kind {
            Kind::Tls(tls) => tls.feed(self.connection, moved, seen),
            Kind::Plain(http) => {
                seen.content = http.feed(self.connection, moved, &mut seen.messages);
                let command = resp::command(self.connection, self.role, moved);
                seen.commands.extend(command.or_else(|| sql::command(self.connection, self.role, moved)));
            }
            Kind::Other => {}
        }
        if matches!(&self.kind, Kind::Tls(tls) if tls.was_misread()) {
            self.kind = Kind::Plain(Http::default());
        } else if matches!(self.kind, Kind::Other) {
            seen.content = content_of(moved.captured());
        }
    }

    /// The handshake as far as it got, where the connection ends before it was given out.
    pub fn close(&mut self) -> Option<Handshake> {
        match &mut self.kind {
            Kind::Tls(tls) => tls.close(),
            Kind::Plain(_) | Kind::Other => None,
        }
    }

    /// Decides at a turn whether TLS or something unreadable begins.
    fn judge(&mut self, moved: &Moved) {
        let captured = moved.captured();
        let Some(&first) = captured.first() else { return };
        if first == tls::HANDSHAKE && tls::may_begin(captured, moved.bytes) {
            self.kind = Kind::Tls(Box::new(Tls::from_hello(self.connection)));
        } else if self.role == role::UNKNOWN && tls::is_record_header(captured) {
            self.kind = Kind::Tls(Box::new(Tls::under_way()));
        } else if first == b'P' && content_of(captured) == content::HTTP2_PREFACE {
            self.kind = Kind::Other;
        }
    }
}

#[cfg(test)]
mod tests;
