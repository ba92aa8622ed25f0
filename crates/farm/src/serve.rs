//! The farm: a few threads that serve all feeds.

use crate::certificates::Authority;
use crate::connection::{Answer, Connection, Request};
use crate::content::{Coding, Content};
use crate::layout::{Kind, Layout};
use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token};
use rustls::{HandshakeKind, ServerConfig};
use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const LISTENER: Token = Token(usize::MAX);
/// Answers whose time has come are looked for this often.
const LOOK: Duration = Duration::from_millis(10);
/// One feed in so many has changed when it is asked for again.
const CHANGES: u64 = 20;
/// What a busy server asks for.
const RETRY_AFTER_S: u64 = 3600;

/// What was asked of the farm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Requests for each feed.
    pub of_feeds: Vec<u32>,
    /// TLS handshakes in full.
    pub full: u64,
    /// TLS handshakes that resumed a session.
    pub resumed: u64,
    /// Answers that said that nothing has changed.
    pub unchanged: u64,
}

struct Shared {
    layout: Layout,
    content: Content,
    slow: Duration,
    settings: Arc<ServerConfig>,
    versions: Vec<AtomicU32>,
    asked: Vec<AtomicU32>,
    full: AtomicU64,
    resumed: AtomicU64,
    unchanged: AtomicU64,
    is_over: AtomicBool,
}

/// A farm at work; it ends when this is dropped.
pub struct Farm {
    /// Its port, on every address of [`Layout::address`].
    pub port: u16,
    /// The certificate of its authority, as PEM.
    pub pem: String,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Farm {
    /// Starts it on so many threads. A slow feed takes up to twice as long as `slow` says.
    ///
    /// # Errors
    /// Where no port is left, or TLS cannot be set up.
    pub fn start(layout: Layout, threads: usize, slow: Duration, seed: u64) -> io::Result<Farm> {
        let authority = Authority::new().map_err(io::Error::other)?;
        let pem = authority.pem.clone();
        // Names are on thousands of loopback addresses: one listener hears all of them, and whoever comes from
        // elsewhere is turned away.
        let listener = std::net::TcpListener::bind(("0.0.0.0", 0))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let zeroes = |count: usize| (0..count).map(|_| AtomicU32::new(0)).collect::<Vec<_>>();
        let feeds = layout.kinds.len();
        let shared = Arc::new(Shared {
            layout,
            content: Content::make(seed),
            slow,
            settings: Arc::new(authority.settings()?),
            versions: zeroes(feeds),
            asked: zeroes(feeds),
            full: AtomicU64::new(0),
            resumed: AtomicU64::new(0),
            unchanged: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        });
        let mut started = Vec::new();
        for _ in 0..threads.max(1) {
            let server = Server::new(shared.clone(), TcpListener::from_std(listener.try_clone()?))?;
            started.push(std::thread::spawn(move || server.serve()));
        }
        Ok(Farm { port, pem, shared, threads: started })
    }

    /// What was asked of it so far.
    pub fn counted(&self) -> Counted {
        let shared = &self.shared;
        Counted {
            of_feeds: shared.asked.iter().map(|one| one.load(Ordering::Relaxed)).collect(),
            full: shared.full.load(Ordering::Relaxed),
            resumed: shared.resumed.load(Ordering::Relaxed),
            unchanged: shared.unchanged.load(Ordering::Relaxed),
        }
    }

    /// Begins to count anew.
    pub fn forget(&self) {
        for one in &self.shared.asked {
            one.store(0, Ordering::Relaxed);
        }
        for one in [&self.shared.full, &self.shared.resumed, &self.shared.unchanged] {
            one.store(0, Ordering::Relaxed);
        }
    }

    /// The list of its feeds, an address a line.
    pub fn list(&self) -> String {
        self.shared.layout.list(self.port)
    }

    /// Its feeds and names.
    pub fn layout(&self) -> &Layout {
        &self.shared.layout
    }

    /// How many entries a feed has.
    pub fn entries(feed: usize) -> u64 {
        Content::entries(feed)
    }
}

impl Drop for Farm {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // What went wrong in it was seen by whoever asked it.
            let _ = thread.join();
        }
    }
}

/// One thread of it.
struct Server {
    shared: Arc<Shared>,
    poll: Poll,
    listener: TcpListener,
    connections: HashMap<usize, Connection>,
    next: usize,
    /// Connections with an answer whose time has not come.
    waiting: Vec<(Instant, usize)>,
}

impl Server {
    fn new(shared: Arc<Shared>, mut listener: TcpListener) -> io::Result<Server> {
        let poll = Poll::new()?;
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        Ok(Server { shared, poll, listener, connections: HashMap::new(), next: 0, waiting: Vec::new() })
    }

    fn serve(mut self) {
        let mut events = Events::with_capacity(1024);
        while !self.shared.is_over.load(Ordering::Relaxed) {
            if self.poll.poll(&mut events, Some(LOOK)).is_err() {
                continue;
            }
            for event in &events {
                match event.token() {
                    LISTENER => self.accept(),
                    Token(number) => self.carry_on(number),
                }
            }
            self.send_due();
        }
    }

    fn accept(&mut self) {
        // An error is one of that connection, or nobody is waiting.
        while let Ok((mut socket, peer)) = self.listener.accept() {
            if !peer.ip().is_loopback() {
                continue;
            }
            let _ = socket.set_nodelay(true);
            let token = Token(self.next);
            let interest = Interest::READABLE | Interest::WRITABLE;
            let registered = self.poll.registry().register(&mut socket, token, interest);
            if let (Ok(()), Ok(connection)) = (registered, Connection::new(socket, self.shared.settings.clone())) {
                self.connections.insert(self.next, connection);
                self.next += 1;
            }
        }
    }

    fn carry_on(&mut self, number: usize) {
        if !self.advance(number).unwrap_or(false) {
            self.connections.remove(&number);
        }
    }

    fn advance(&mut self, number: usize) -> io::Result<bool> {
        let Some(connection) = self.connections.get_mut(&number) else { return Ok(true) };
        let is_open = connection.receive()?;
        match connection.shaken() {
            Some(HandshakeKind::Resumed) => self.shared.resumed.fetch_add(1, Ordering::Relaxed),
            Some(_) => self.shared.full.fetch_add(1, Ordering::Relaxed),
            None => 0,
        };
        while let Some(request) = connection.request()? {
            let answer = self.shared.answer(&request);
            match answer.due {
                Some(due) => {
                    self.waiting.push((due, number));
                    connection.waiting = Some(answer);
                }
                None => connection.answer(&answer)?,
            }
        }
        Ok(connection.send()? && is_open)
    }

    fn send_due(&mut self) {
        let now = Instant::now();
        let due = self.waiting.extract_if(.., |(due, _)| *due <= now).map(|(_, number)| number).collect::<Vec<_>>();
        for number in due {
            let Some(connection) = self.connections.get_mut(&number) else { continue };
            let Some(answer) = connection.waiting.take() else { continue };
            let sent = connection.answer(&answer).and_then(|()| connection.send());
            match sent {
                Ok(true) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                _ => drop(self.connections.remove(&number)),
            }
        }
    }
}

impl Shared {
    fn answer(&self, request: &Request) -> Answer {
        let feed = request.path.strip_prefix("/feed/").and_then(|rest| rest.parse::<usize>().ok());
        let moved = request.path.strip_prefix("/moved/").and_then(|rest| rest.parse::<usize>().ok());
        let at_once = |bytes: Vec<u8>| Answer { bytes, due: None, closes: false };
        let (feed, kind) = match (feed, moved) {
            (Some(feed), _) if feed < self.asked.len() => (feed, self.layout.kinds[feed]),
            (_, Some(feed)) if feed < self.asked.len() => (feed, Kind::Sound),
            _ => return at_once(plain("404 Not Found", "", b"")),
        };
        if moved.is_none() {
            self.asked[feed].fetch_add(1, Ordering::Relaxed);
        }
        let rss = |text: &str| plain("200 OK", "", text.as_bytes());
        at_once(match kind {
            Kind::Sound => self.current(feed, request),
            Kind::Slow => {
                let share = 0.5 + (mixed(feed as u64) % 1000) as f64 / 1000.0 * 1.5;
                let due = Some(Instant::now() + self.slow.mul_f64(share));
                return Answer { due, ..at_once(self.current(feed, request)) };
            }
            Kind::Moved => plain("301 Moved Permanently", &format!("Location: /moved/{feed}\r\n"), b""),
            Kind::Gone => plain("410 Gone", "", b""),
            Kind::Missing => plain("404 Not Found", "", b"no such feed"),
            Kind::Failing => plain("500 Internal Server Error", "", b"sorry"),
            Kind::Busy => plain("429 Too Many Requests", &format!("Retry-After: {RETRY_AFTER_S}\r\n"), b""),
            Kind::Malformed => rss("<rss><channel><item><guid>1</guid></channel></rss>"),
            Kind::Html => rss("<!DOCTYPE html><html><body>This domain is for sale.</body></html>"),
            Kind::Truncated => {
                let whole = self.current(feed, &Request { if_none_match: String::new(), ..request.clone() });
                return Answer { bytes: whole[..whole.len() / 2].to_vec(), due: None, closes: true };
            }
            Kind::Bomb => plain("200 OK", Coding::Gzip.header(), &self.content.bomb),
            Kind::Entities => {
                rss("<!DOCTYPE rss [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;&b;\">]>\
                 <rss><channel><item><guid>&c;</guid></item></channel></rss>")
            }
            Kind::Loop => plain("302 Found", &format!("Location: {}\r\n", request.path), b""),
        })
    }

    /// A feed as it is now: 304 where the one who asks has it already.
    fn current(&self, feed: usize, request: &Request) -> Vec<u8> {
        let if_none_match = &request.if_none_match;
        let mut version = self.versions[feed].load(Ordering::Relaxed);
        if *if_none_match == tag(feed, version) {
            if !mixed(feed as u64 ^ (u64::from(version) << 32)).is_multiple_of(CHANGES) {
                self.unchanged.fetch_add(1, Ordering::Relaxed);
                let head = format!("HTTP/1.1 304 Not Modified\r\nETag: {if_none_match}\r\n\r\n");
                return head.into_bytes();
            }
            version += 1;
            self.versions[feed].store(version, Ordering::Relaxed);
        }
        let coding = Coding::of(feed, &request.accept_encoding);
        let headers = format!(
            "ETag: {}\r\nLast-Modified: Mon, 06 Jan 2025 08:00:00 GMT\r\nContent-Type: application/rss+xml\r\n{}",
            tag(feed, version),
            coding.header()
        );
        plain("200 OK", &headers, self.content.body(feed, version as usize, coding))
    }
}

fn tag(feed: usize, version: u32) -> String {
    format!("\"{feed}-{version}\"")
}

fn plain(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    crate::bad::answer(status, headers, body)
}

/// A number that looks like chance and is always the same (the finaliser of SplitMix64).
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
