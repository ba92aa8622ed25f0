//! A connection that talks in lines or messages, in the clear or in TLS, and never waits for ever.

use crate::handed::PATIENCE;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long to wait for a connection; one that is far away takes a quarter of a second.
const CONNECTING: Duration = Duration::from_secs(10);

/// The connection.
pub(crate) enum Connection {
    Clear(TcpStream),
    Secured(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Connection {
    /// Connects, to the first address that answers.
    pub fn open(host: &str, port: u16) -> io::Result<Connection> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for address in (host, port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, CONNECTING) {
                Ok(stream) => {
                    stream.set_read_timeout(Some(PATIENCE))?;
                    stream.set_write_timeout(Some(PATIENCE))?;
                    return Ok(Connection::Clear(stream));
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Goes on in TLS.
    pub fn secured(self, host: &str, trusted: Option<&Path>) -> io::Result<Connection> {
        let Connection::Clear(stream) = self else { return Ok(self) };
        let settings = load::client_settings(trusted).map_err(io::Error::other)?;
        let name = ServerName::try_from(host.to_string()).map_err(io::Error::other)?;
        let session = ClientConnection::new(Arc::new(settings), name).map_err(io::Error::other)?;
        let mut stream = StreamOwned::new(session, stream);
        // The handshake first: what fails in it was not sent.
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        Ok(Connection::Secured(Box::new(stream)))
    }

    /// Everything is written, or an error.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Connection::Clear(stream) => stream.write_all(bytes).and_then(|()| stream.flush()),
            Connection::Secured(stream) => stream.write_all(bytes).and_then(|()| stream.flush()),
        }
    }

    /// Reads until what was read is enough, for a while and up to a size.
    pub fn read_until(&mut self, most: usize, is_enough: impl Fn(&[u8]) -> bool) -> io::Result<Vec<u8>> {
        let begun = Instant::now();
        let mut bytes = Vec::new();
        let mut part = [0; 4_096];
        while !is_enough(&bytes) {
            if bytes.len() > most || begun.elapsed() > PATIENCE {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "the answer does not end"));
            }
            let length = match self {
                Connection::Clear(stream) => stream.read(&mut part)?,
                Connection::Secured(stream) => stream.read(&mut part)?,
            };
            if length == 0 {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it closed the connection"));
            }
            bytes.extend_from_slice(&part[..length]);
        }
        Ok(bytes)
    }
}
