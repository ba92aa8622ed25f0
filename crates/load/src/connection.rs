//! One connection after another to the server: a socket that never blocks, TLS over it where that is spoken, and the
//! requests under way on it.

use crate::fault;
use crate::flight::Flight;
use crate::plan::Target;
use crate::protocol::{Progress, Reader};
use crate::tally::Tally;
use case::LoadFault;
use mio::net::TcpStream;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, HandshakeKind, ProtocolVersion};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::mem;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Closed,
    Connecting,
    Handshaking,
    Open,
}

/// Where connections go.
pub(crate) struct Peer {
    pub address: SocketAddr,
    /// How TLS is spoken, and with whom; none without.
    pub tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
}

/// A connection.
pub(crate) struct Connection {
    pub socket: Option<TcpStream>,
    tls: Option<Box<ClientConnection>>,
    pub stage: Stage,
    /// When its stage began.
    since: Instant,
    /// What is still to be sent, and how much of it is.
    out: Vec<u8>,
    out_at: usize,
    /// What has come and is no whole part of an answer yet.
    held: Vec<u8>,
    pub reader: Reader,
    pub flights: VecDeque<Flight>,
    /// Requests since it was opened.
    pub asked: u64,
    /// The server is about to close it: no more requests.
    pub closes: bool,
    /// Not to be used before.
    pub resting_until: Option<Instant>,
    /// Whether it is in the line of those that have room.
    pub is_in_line: bool,
}

impl Connection {
    /// One that is not open yet.
    pub(crate) fn new(reader: Reader, now: Instant) -> Connection {
        Connection {
            socket: None,
            tls: None,
            stage: Stage::Closed,
            since: now,
            out: Vec::new(),
            out_at: 0,
            held: Vec::new(),
            reader,
            flights: VecDeque::new(),
            asked: 0,
            closes: false,
            resting_until: None,
            is_in_line: false,
        }
    }

    /// Begins to connect, and readies TLS.
    pub(crate) fn open(&mut self, peer: &Peer, tally: &mut Tally) -> Result<(), LoadFault> {
        self.connect(peer, tally)?;
        self.secure(peer)
    }

    /// Begins to connect.
    pub(crate) fn connect(&mut self, peer: &Peer, tally: &mut Tally) -> Result<(), LoadFault> {
        self.since = Instant::now();
        self.socket = Some(TcpStream::connect(peer.address).map_err(|error| fault::of_system(&error))?);
        tally.opened += 1;
        self.stage = Stage::Connecting;
        Ok(())
    }

    /// Readies TLS, where that is spoken.
    pub(crate) fn secure(&mut self, peer: &Peer) -> Result<(), LoadFault> {
        if let Some((settings, name)) = &peer.tls {
            let mut tls =
                ClientConnection::new(settings.clone(), name.clone()).map_err(|error| fault::of_tls(&error))?;
            // Requests are bounded already: each connection holds no more than its pipeline.
            tls.set_buffer_limit(None);
            self.tls = Some(Box::new(tls));
        }
        Ok(())
    }

    /// Closes it, with a new reader for the next one. Requests under way stay, for whoever closes to count.
    pub(crate) fn close(&mut self, reader: Reader) {
        (self.socket, self.tls, self.stage, self.reader) = (None, None, Stage::Closed, reader);
        self.out.clear();
        self.held.clear();
        (self.out_at, self.asked, self.closes) = (0, 0, false);
    }

    /// Whether it takes further requests, but for how many it has.
    pub(crate) fn takes_more(&self) -> bool {
        !self.closes && !matches!(&self.reader, Reader::Http2(reader) if reader.is_over())
    }

    /// Adds a request, in whatever its protocol makes of it.
    pub(crate) fn ask_for(&mut self, target: &Target, flight: Flight) -> Result<(), LoadFault> {
        let Some(streams) = self.reader.streams() else {
            self.ask(&target.request, flight);
            return Ok(());
        };
        self.flights.push_back(flight);
        self.asked += 1;
        streams.ask(target.message.as_ref().ok_or(LoadFault::Other)?, &mut self.out)
    }

    /// Adds a request. It is sent by the next [`Self::send`].
    pub(crate) fn ask(&mut self, request: &[u8], flight: Flight) {
        self.out.extend_from_slice(request);
        self.flights.push_back(flight);
        self.asked += 1;
    }

    /// Does all that can be done now. `is_ended` where the system says that the other end has closed.
    pub(crate) fn advance(&mut self, scratch: &mut [u8], is_ended: bool, tally: &mut Tally) -> Result<(), LoadFault> {
        if self.stage == Stage::Connecting && !self.is_connected(tally)? {
            return Ok(());
        }
        let ended = if self.stage == Stage::Closed { false } else { self.receive(scratch, is_ended, tally)? };
        if ended {
            return self.end(tally);
        }
        self.send(tally)
    }

    fn is_connected(&mut self, tally: &mut Tally) -> Result<bool, LoadFault> {
        let Some(socket) = &self.socket else { return Ok(false) };
        if let Ok(Some(error)) | Err(error) = socket.take_error() {
            return Err(fault::of_system(&error));
        }
        match socket.peer_addr() {
            Err(error) if error.kind() == ErrorKind::NotConnected => return Ok(false),
            Err(error) => return Err(fault::of_system(&error)),
            Ok(_) => {}
        }
        // What cannot be set is slower, and no failure.
        let _ = socket.set_nodelay(true);
        let now = Instant::now();
        tally.connect.add(now - self.since);
        self.since = now;
        self.stage = if self.tls.is_some() { Stage::Handshaking } else { Stage::Open };
        Ok(true)
    }

    /// Sends what there is to send.
    pub(crate) fn send(&mut self, tally: &mut Tally) -> Result<(), LoadFault> {
        let (Some(socket), Stage::Open | Stage::Handshaking) = (&mut self.socket, self.stage) else { return Ok(()) };
        match &mut self.tls {
            None => {
                while self.out_at < self.out.len() {
                    match socket.write(&self.out[self.out_at..]) {
                        Ok(count) => {
                            self.out_at += count;
                            tally.sent += count as u64;
                        }
                        Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                        Err(error) if error.kind() == ErrorKind::Interrupted => {}
                        Err(error) => return Err(fault::of_system(&error)),
                    }
                }
                self.out.clear();
                self.out_at = 0;
            }
            Some(tls) => {
                if self.stage == Stage::Open && !self.out.is_empty() {
                    tls.writer().write_all(&self.out).map_err(|error| fault::of_system(&error))?;
                    tally.sent += self.out.len() as u64;
                    self.out.clear();
                }
                while tls.wants_write() {
                    match tls.write_tls(socket) {
                        Ok(_) => {}
                        Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                        Err(error) if error.kind() == ErrorKind::Interrupted => {}
                        Err(error) => return Err(fault::of_system(&error)),
                    }
                }
            }
        }
        Ok(())
    }

    /// Reads what is there, and whether that was all there ever will be.
    fn receive(&mut self, scratch: &mut [u8], is_ended: bool, tally: &mut Tally) -> Result<bool, LoadFault> {
        if self.tls.is_some() {
            return self.receive_tls(scratch, is_ended, tally);
        }
        loop {
            let Some(socket) = &mut self.socket else { return Ok(false) };
            match socket.read(scratch) {
                Ok(0) => return Ok(true),
                Ok(count) => {
                    self.take_in(&scratch[..count], tally)?;
                    // Less than there is room for was all there is: the next bytes are an event of their own.
                    if self.socket.is_none() || (count < scratch.len() && !is_ended) {
                        return Ok(false);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(fault::of_system(&error)),
            }
        }
    }

    fn receive_tls(&mut self, scratch: &mut [u8], is_ended: bool, tally: &mut Tally) -> Result<bool, LoadFault> {
        loop {
            let (Some(socket), Some(tls)) = (&mut self.socket, &mut self.tls) else { return Ok(false) };
            let mut drained = Drained { socket, was_short: false };
            match tls.read_tls(&mut drained) {
                Ok(0) => return Ok(true),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(fault::of_system(&error)),
            }
            let is_drained = drained.was_short && !is_ended;
            if let Err(error) = tls.process_new_packets() {
                // So that the server learns why: whether that still arrives matters to nobody here.
                let _ = tls.write_tls(socket);
                return Err(fault::of_tls(&error));
            }
            if self.stage == Stage::Handshaking && !tls.is_handshaking() {
                shaken(tls, self.since, tally);
                self.stage = Stage::Open;
            }
            if self.take_in_tls(scratch, tally)? {
                return Ok(true);
            }
            if is_drained {
                return Ok(false);
            }
        }
    }

    /// Takes in what TLS has opened, and whether the server has said that nothing follows.
    fn take_in_tls(&mut self, scratch: &mut [u8], tally: &mut Tally) -> Result<bool, LoadFault> {
        loop {
            let Some(tls) = &mut self.tls else { return Ok(false) };
            match tls.reader().read(scratch) {
                Ok(0) => return Ok(true),
                Ok(count) => self.take_in(&scratch[..count], tally)?,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(_) => return Ok(true),
            }
        }
    }

    /// Reads answers from what has come.
    fn take_in(&mut self, bytes: &[u8], tally: &mut Tally) -> Result<(), LoadFault> {
        tally.received += bytes.len() as u64;
        if let Reader::Http2(_) = self.reader {
            return self.take_in_streams(bytes, tally);
        }
        if self.held.is_empty() {
            let taken = self.answers(bytes, tally)?;
            self.held.extend_from_slice(&bytes[taken..]);
        } else {
            let mut held = mem::take(&mut self.held);
            held.extend_from_slice(bytes);
            let taken = self.answers(&held, tally)?;
            held.drain(..taken);
            self.held = held;
        }
        Ok(())
    }

    /// The same where answers come in any order. Requests and their streams are in the same order, without those that
    /// have ended.
    fn take_in_streams(&mut self, bytes: &[u8], tally: &mut Tally) -> Result<(), LoadFault> {
        let Some(streams) = self.reader.streams() else { return Ok(()) };
        let now = Instant::now();
        let read = streams.read(bytes);
        let mut place = 0;
        while let Some(flight) = self.flights.get_mut(place) {
            match streams.progress(place) {
                Progress::Asked => place += 1,
                Progress::Begun => {
                    flight.first.get_or_insert(now);
                    place += 1;
                }
                Progress::Ended(outcome) => {
                    let Some(flight) = self.flights.remove(place) else { break };
                    match outcome {
                        Ok(reply) => tally.answer(&flight, now, reply),
                        Err(fault) => tally.fail(&flight, fault),
                    }
                }
            }
        }
        read?;
        streams.write(&mut self.out)?;
        self.closes = streams.is_over() && self.flights.is_empty();
        Ok(())
    }

    fn answers(&mut self, bytes: &[u8], tally: &mut Tally) -> Result<usize, LoadFault> {
        let now = Instant::now();
        let mut taken = 0;
        while taken < bytes.len() && !self.closes {
            let Some(flight) = self.flights.front_mut() else { return Err(LoadFault::Unasked) };
            flight.first.get_or_insert(now);
            let read = self.reader.read(&bytes[taken..], flight.has_no_body)?;
            taken += read.taken;
            let Some(reply) = read.reply else { return Ok(taken) };
            if let Some(flight) = self.flights.pop_front() {
                tally.answer(&flight, now, reply);
            }
            self.closes = !reply.keeps;
        }
        Ok(bytes.len().max(taken))
    }

    /// The other end has closed.
    fn end(&mut self, tally: &mut Tally) -> Result<(), LoadFault> {
        if self.stage == Stage::Handshaking {
            return Err(LoadFault::HandshakeClosed);
        }
        self.closes = true;
        // One that waits for nothing may be closed at any time.
        if self.flights.is_empty() {
            return Ok(());
        }
        let reply = self.reader.closed(self.held.len())?;
        if let Some(flight) = self.flights.pop_front() {
            tally.answer(&flight, Instant::now(), reply);
        }
        Ok(())
    }
}

/// A socket that knows whether there was less in it than there was room for: the next bytes are an event of their own then.
struct Drained<'a> {
    socket: &'a mut TcpStream,
    was_short: bool,
}

impl Read for Drained<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.socket.read(into)?;
        self.was_short = count < into.len();
        Ok(count)
    }
}

fn shaken(tls: &ClientConnection, since: Instant, tally: &mut Tally) {
    let times = match tls.handshake_kind() {
        Some(HandshakeKind::Resumed) => &mut tally.tls_resumed,
        _ => &mut tally.tls_full,
    };
    times.add(since.elapsed());
    tally.tls_version = match tls.protocol_version() {
        Some(ProtocolVersion::TLSv1_2) => "1.2",
        _ => "1.3",
    };
}
