//! The loop of one thread: works through the queues of its origins, as many connections at a time as it has.
//!
//! Origins belong to workers by their host, so that what is asked of one is in one place; a redirect to another worker's
//! origin goes there as a message.

mod answers;
mod asking;
mod queues;

use super::change::Change;
use super::clock;
use super::job::Job;
use super::names::Names;
use super::origin::Origin;
use super::plan::Plan;
use super::ports;
use super::store::Store;
use super::tally::{Cost, Counts, Outcome, Turn};
use crate::connection::{Connection, Stage};
use crate::protocol::Reader;
use crate::tally::Tally;
use case::{ContentFault, FeedFault, FeedPhase, LoadFault, PortUse};
use mio::{Events, Poll, Token, Waker};
use rustls::ClientConfig;
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender};
use std::time::{Duration, Instant};

/// Whether something takes too long is looked at this often.
const LOOK: Duration = Duration::from_millis(20);
/// Ports are counted this often.
const COUNT_PORTS: Duration = Duration::from_millis(500);
/// What one call reads at most.
const SCRATCH: usize = 64 << 10;
const EVENTS: usize = 1024;
/// Bodies of all connections of a worker together may take so much memory; the largest has to go where they take more.
const MOST_KEPT: usize = 64 << 20;
/// The token of the waker.
pub(super) const WAKER: Token = Token(usize::MAX);

/// What a worker is told.
pub(super) enum Message {
    LookedUp(String, Option<IpAddr>),
    Job(Box<Job>),
}

/// How others reach a worker.
pub(super) struct Mailbox {
    pub send: Sender<Message>,
    pub waker: Arc<Waker>,
}

impl Mailbox {
    pub(super) fn tell(&self, message: Message) {
        // A worker that has ended needs to know nothing.
        let _ = self.send.send(message);
        let _ = self.waker.wake();
    }
}

/// What is shown of a round while it goes on.
#[derive(Default)]
pub(super) struct Shown {
    pub settled: AtomicU64,
    pub unchanged: AtomicU64,
    pub failed: AtomicU64,
    pub new_entries: AtomicU64,
    pub received: AtomicU64,
}

/// What all workers have in common.
pub(super) struct Common<'a> {
    pub plan: &'a Plan,
    pub store: &'a Store,
    pub names: &'a Names<'a>,
    pub settings: &'a Arc<ClientConfig>,
    pub number: u64,
    /// Feeds that are still to be seen to.
    pub left: &'a AtomicUsize,
    pub stop: &'a AtomicBool,
    pub shown: &'a Shown,
    pub mailboxes: &'a [Mailbox],
}

/// Which worker a host belongs to.
pub(super) fn owner(host: &str, workers: usize) -> usize {
    (rustc_hash::FxBuildHasher.hash_one(host) % workers.max(1) as u64) as usize
}

/// What a worker has counted.
pub(super) struct Done {
    pub counts: Counts,
    pub tally: Tally,
    pub looked_up: u64,
    pub origins: u64,
    pub ports: PortUse,
    /// When it had nothing more to do.
    pub ended: Instant,
}

/// A place for a connection.
struct Slot {
    connection: Connection,
    origin: usize,
    job: Option<Job>,
    /// The request has failed when it is not answered by then.
    deadline: Instant,
}

/// One thread's share of a round.
pub(super) struct Worker<'a> {
    common: &'a Common<'a>,
    index: usize,
    poll: Poll,
    messages: Receiver<Message>,
    changes: SyncSender<Vec<Change>>,
    /// Changes that are still to be sent.
    gathered: Vec<Change>,
    origins: Vec<Origin>,
    by_name: HashMap<String, usize>,
    /// Origins that wait for the address of a host.
    waiting: HashMap<String, Vec<usize>>,
    /// Hosts with their addresses; none for those that have none.
    addresses: HashMap<String, Option<IpAddr>>,
    /// Origins that have something to do.
    line: VecDeque<usize>,
    slots: Vec<Slot>,
    free: Vec<usize>,
    scratch: Vec<u8>,
    done: Done,
    now_s: i64,
    /// When the turn of the loop began, by the clock and by this thread's CPU time.
    turn: (Instant, Duration),
    /// Until when time has gone to a phase.
    spent_until: Instant,
    told: u64,
}

impl<'a> Worker<'a> {
    pub(super) fn new(
        common: &'a Common<'a>,
        index: usize,
        poll: Poll,
        messages: Receiver<Message>,
        changes: SyncSender<Vec<Change>>,
    ) -> Worker<'a> {
        let connections = (common.plan.connections / common.mailboxes.len().max(1)).max(1);
        let now = Instant::now();
        let slot = |_| Slot {
            connection: Connection::new(Reader::keeping(common.plan.most_received), now),
            origin: 0,
            job: None,
            deadline: now,
        };
        Worker {
            common,
            index,
            poll,
            messages,
            changes,
            gathered: Vec::new(),
            origins: Vec::new(),
            by_name: HashMap::new(),
            waiting: HashMap::new(),
            addresses: HashMap::new(),
            line: VecDeque::new(),
            slots: (0..connections).map(slot).collect(),
            free: (0..connections).rev().collect(),
            scratch: vec![0; SCRATCH],
            done: Done {
                counts: Counts::default(),
                tally: Tally::new(0),
                looked_up: 0,
                origins: 0,
                ports: PortUse::default(),
                ended: now,
            },
            now_s: clock::now_s(),
            turn: (now, clock::used()),
            spent_until: now,
            told: 0,
        }
    }

    /// Works until all feeds, those of other workers included, are seen to, or someone wants it to end.
    pub(super) fn work(mut self, jobs: Vec<Job>) -> io::Result<Done> {
        for job in jobs {
            self.take(job);
        }
        // The longest queues first: they decide when the round is over.
        let origins = &self.origins;
        self.line.make_contiguous().sort_by_key(|index| std::cmp::Reverse(origins[*index].queue.len()));
        let mut events = Events::with_capacity(EVENTS);
        let (mut looked, mut counted) = (Instant::now(), None);
        while self.common.left.load(Ordering::Acquire) > 0 && !self.common.stop.load(Ordering::Relaxed) {
            self.fill();
            self.end_turn();
            let polled = Instant::now();
            match self.poll.poll(&mut events, Some(LOOK)) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => events.clear(),
                other => other?,
            }
            self.begin_turn();
            for event in &events {
                if event.token() != WAKER {
                    self.carry_on(event.token().0, event.is_read_closed() || event.is_error());
                }
            }
            self.hear();
            self.send_changes();
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                // What came while others were seen to has come in time.
                self.look(polled);
            }
            if self.index == 0 && counted.is_none_or(|last: Instant| last.elapsed() >= COUNT_PORTS) {
                counted = Some(Instant::now());
                self.done.ports = ports::worse(self.done.ports, ports::now());
            }
        }
        Ok(self.end())
    }

    fn hear(&mut self) {
        while let Ok(message) = self.messages.try_recv() {
            match message {
                Message::LookedUp(host, address) => self.looked_up(host, address),
                Message::Job(job) => self.take(*job),
            }
        }
    }

    /// Looks for what takes too long, or too much memory.
    fn look(&mut self, now: Instant) {
        self.now_s = clock::now_s();
        let mut kept = 0;
        let mut largest = (0, 0);
        for index in 0..self.slots.len() {
            let slot = &self.slots[index];
            if slot.job.is_some() && slot.deadline <= now {
                let has_begun = slot.connection.flights.front().is_some_and(|flight| flight.first.is_some());
                let fault = match slot.connection.stage {
                    Stage::Open if has_begun => FeedFault::Content(ContentFault::SlowDrip),
                    Stage::Open => FeedFault::Transfer(LoadFault::TimedOut),
                    Stage::Handshaking => FeedFault::Transfer(LoadFault::HandshakeTimedOut),
                    Stage::Connecting | Stage::Closed => FeedFault::Transfer(LoadFault::ConnectTimedOut),
                };
                self.fail(index, fault);
                continue;
            }
            let size = slot.connection.reader.kept();
            kept += size;
            largest = largest.max((size, index));
        }
        if kept > MOST_KEPT {
            self.fail(largest.1, FeedFault::Transfer(LoadFault::BodyTooLarge));
        }
        let received = self.done.tally.received;
        self.common.shown.received.fetch_add(received - self.told, Ordering::Relaxed);
        self.told = received;
    }

    /// The time since the last time goes to a phase.
    fn spend(&mut self, phase: FeedPhase) {
        let now = Instant::now();
        self.done.counts.spend(Cost { phase, time: now - self.spent_until });
        self.spent_until = now;
    }

    fn begin_turn(&mut self) {
        let now = Instant::now();
        (self.turn, self.spent_until) = ((now, clock::used()), now);
    }

    fn end_turn(&mut self) {
        let (begun, used) = self.turn;
        let turn = Turn { wall: begun.elapsed(), cpu: clock::used().saturating_sub(used) };
        self.done.counts.end_turn(turn);
    }

    /// A feed is seen to.
    fn settled(&mut self, outcome: Outcome, address: &str) {
        self.done.counts.settle(outcome, address);
        let shown = self.common.shown;
        match outcome {
            Outcome::Unchanged => shown.unchanged.fetch_add(1, Ordering::Relaxed),
            Outcome::WithNews(new) => shown.new_entries.fetch_add(new, Ordering::Relaxed),
            Outcome::Failed(_) => shown.failed.fetch_add(1, Ordering::Relaxed),
            _ => 0,
        };
        shown.settled.fetch_add(1, Ordering::Relaxed);
        if self.common.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            for one in self.common.mailboxes {
                // A worker that cannot be woken looks by itself soon.
                let _ = one.waker.wake();
            }
        }
    }

    /// A change goes to the database, with all others of this turn of the loop.
    fn change(&mut self, change: Change) {
        self.gathered.push(change);
    }

    /// Sends what has been gathered, at once: whoever writes is woken once. Where nobody writes any more, the round is over, and
    /// why is known there.
    fn send_changes(&mut self) {
        if !self.gathered.is_empty() && self.changes.send(std::mem::take(&mut self.gathered)).is_err() {
            self.common.stop.store(true, Ordering::Relaxed);
        }
    }

    fn end(mut self) -> Done {
        self.end_turn();
        self.send_changes();
        self.done.ended = Instant::now();
        for origin in &self.origins {
            if let Some(slow) = origin.slowness() {
                self.done.counts.add_slow(slow);
            }
        }
        self.done.origins = self.origins.len() as u64;
        self.done
    }
}
