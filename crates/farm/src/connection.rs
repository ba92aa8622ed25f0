//! One connection to the farm.

use mio::net::TcpStream;
use rustls::{HandshakeKind, ServerConfig, ServerConnection};
use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;
use std::time::Instant;

/// What is answered to a request.
pub(crate) struct Answer {
    pub bytes: Vec<u8>,
    /// Not before this moment.
    pub due: Option<Instant>,
    /// The connection is closed behind it, without a word of TLS.
    pub closes: bool,
}

/// A request, as far as it matters.
#[derive(Clone)]
pub(crate) struct Request {
    pub path: String,
    pub if_none_match: String,
    pub accept_encoding: String,
}

/// A connection.
pub(crate) struct Connection {
    pub socket: TcpStream,
    tls: ServerConnection,
    held: Vec<u8>,
    /// An answer whose time has not come.
    pub waiting: Option<Answer>,
    closes: bool,
    is_counted: bool,
}

impl Connection {
    pub(crate) fn new(socket: TcpStream, settings: Arc<ServerConfig>) -> Result<Connection, rustls::Error> {
        let mut tls = ServerConnection::new(settings)?;
        tls.set_buffer_limit(None);
        Ok(Connection { socket, tls, held: Vec::new(), waiting: None, closes: false, is_counted: false })
    }

    /// Whether the handshake has just ended, and how.
    pub(crate) fn shaken(&mut self) -> Option<HandshakeKind> {
        if self.is_counted || self.tls.is_handshaking() {
            return None;
        }
        self.is_counted = true;
        self.tls.handshake_kind()
    }

    /// Reads all that is there; false where the other end has closed.
    pub(crate) fn receive(&mut self) -> io::Result<bool> {
        let mut scratch = [0; 4096];
        loop {
            match self.tls.read_tls(&mut self.socket) {
                Ok(0) => return Ok(false),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            if let Err(error) = self.tls.process_new_packets() {
                let _ = self.tls.write_tls(&mut self.socket);
                return Err(io::Error::other(error));
            }
            loop {
                match self.tls.reader().read(&mut scratch) {
                    Ok(0) => return Ok(false),
                    Ok(count) => self.held.extend_from_slice(&scratch[..count]),
                    Err(_) => break,
                }
            }
        }
    }

    /// The next request that is whole.
    pub(crate) fn request(&mut self) -> io::Result<Option<Request>> {
        let mut headers = [httparse::EMPTY_HEADER; 32];
        let mut request = httparse::Request::new(&mut headers);
        let httparse::Status::Complete(length) = request.parse(&self.held).map_err(io::Error::other)? else {
            return Ok(None);
        };
        let path = request.path.unwrap_or_default().to_string();
        let header = |name: &str| {
            let header = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
            header.map(|header| String::from_utf8_lossy(header.value).into_owned()).unwrap_or_default()
        };
        let (if_none_match, accept_encoding) = (header("if-none-match"), header("accept-encoding"));
        self.held.drain(..length);
        Ok(Some(Request { path, if_none_match, accept_encoding }))
    }

    /// Puts an answer into what is to be sent.
    pub(crate) fn answer(&mut self, answer: &Answer) -> io::Result<()> {
        self.closes |= answer.closes;
        self.tls.writer().write_all(&answer.bytes)
    }

    /// Sends what there is; false where it is to be closed now.
    pub(crate) fn send(&mut self) -> io::Result<bool> {
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut self.socket) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(!self.closes)
    }
}
