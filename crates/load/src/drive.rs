//! The loop: starts requests when they are due, and carries all connections of one thread as far as they go.

use crate::connection::{Connection, Peer, Stage};
use crate::flight::Flight;
use crate::plan::{Plan, Target};
use crate::protocol::Reader;
use crate::schedule::{Due, Schedule};
use crate::tally::Tally;
use case::LoadFault;
use fastrand::Rng;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeSpec, TimeValLike};
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Whether something takes too long is looked at this often.
const LOOK: Duration = Duration::from_millis(20);
/// A connection that has failed is tried again after this: a server that refuses is not asked in a loop.
const REST: Duration = Duration::from_millis(10);
/// What is under way at the end is waited for at most so long.
const GRACE: Duration = Duration::from_secs(2);
/// Requests that are due and wait for a connection, at most; more are counted as unsent.
const MOST_WAITING: usize = 1 << 20;
/// What one call reads at most.
const SCRATCH: usize = 64 << 10;
/// Events of one call.
const EVENTS: usize = 1024;
/// The token of the clock that says when the next request is due.
const CLOCK: Token = Token(usize::MAX);

/// What all threads have in common.
pub(crate) struct Common<'a> {
    pub plan: &'a Plan,
    pub targets: &'a [Target],
    pub peer: &'a Peer,
    pub begun: Instant,
    /// How many threads there are, and how many steps.
    pub threads: usize,
    pub steps: usize,
    /// Someone wants it to end.
    pub stop: &'a AtomicBool,
    /// Takes what is new since the last time.
    pub report: &'a (dyn Fn(&mut Tally) + Sync),
}

/// Drives the connections of one thread until the end, and returns what it has counted.
pub(crate) fn drive(common: &Common, thread: usize, connections: usize) -> io::Result<Tally> {
    let mut driver = Driver::new(common, thread, connections)?;
    driver.all()?;
    Ok(driver.tally)
}

struct Driver<'a> {
    common: &'a Common<'a>,
    poll: Poll,
    clock: Option<TimerFd>,
    schedule: Option<Schedule>,
    next: Option<Due>,
    /// Requests that are due, oldest first.
    waiting: VecDeque<Due>,
    connections: Vec<Connection>,
    /// Connections that have room, for requests that come by themselves.
    line: VecDeque<usize>,
    tally: Tally,
    random: Rng,
    scratch: Vec<u8>,
    /// Requests of this thread that are still to be started as soon as they can.
    left: u64,
    is_over: bool,
}

impl<'a> Driver<'a> {
    fn new(common: &'a Common<'a>, thread: usize, connections: usize) -> io::Result<Driver<'a>> {
        let plan = common.plan;
        let share =
            |whole: u64| whole / common.threads as u64 + u64::from((thread as u64) < whole % common.threads as u64);
        let left = plan.requests.map_or(u64::MAX, share);
        let mut schedule = Schedule::of(plan, thread, common.threads, left);
        let poll = Poll::new()?;
        let clock = match schedule {
            None => None,
            Some(_) => {
                Some(TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?)
            }
        };
        if let Some(clock) = &clock {
            poll.registry().register(&mut SourceFd(&clock.as_fd().as_raw_fd()), CLOCK, Interest::READABLE)?;
        }
        Ok(Driver {
            common,
            poll,
            clock,
            next: schedule.as_mut().and_then(Schedule::next),
            schedule,
            waiting: VecDeque::new(),
            connections: (0..connections).map(|_| Connection::new(Reader::of(plan), common.begun)).collect(),
            line: VecDeque::new(),
            tally: Tally::new(common.steps),
            random: Rng::with_seed(plan.seed ^ thread as u64),
            scratch: vec![0; SCRATCH],
            left,
            is_over: false,
        })
    }

    fn all(&mut self) -> io::Result<()> {
        let end = self.common.begun + self.common.plan.duration;
        let mut events = Events::with_capacity(EVENTS);
        let mut looked = Instant::now();
        let mut last_moment = end + GRACE;
        (0..self.connections.len()).for_each(|index| self.refill(index));
        loop {
            let now = Instant::now();
            if !self.is_over && (now >= end || self.common.stop.load(Ordering::Relaxed)) {
                (self.is_over, last_moment) = (true, last_moment.min(now + GRACE));
                self.take_due(now);
                self.next = None;
            }
            self.take_due(now);
            self.start_due();
            if self.is_over && now >= last_moment || (self.is_over || self.has_ended()) && self.is_idle() {
                break;
            }
            self.wait(&mut events, now, if self.is_over { last_moment } else { end })?;
            for event in &events {
                if event.token() != CLOCK {
                    self.carry_on(event.token().0, event.is_read_closed() || event.is_error());
                }
            }
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                self.look(looked);
            }
        }
        self.settle();
        Ok(())
    }

    fn wait(&mut self, events: &mut Events, now: Instant, end: Instant) -> io::Result<()> {
        let mut longest = LOOK.min(end.saturating_duration_since(now));
        if let (Some(due), Some(clock)) = (self.next, &self.clock) {
            // The clock is exact to some microseconds; what poll is told is rounded up to milliseconds.
            let left = (self.common.begun + due.at).saturating_duration_since(Instant::now());
            if left.is_zero() {
                longest = Duration::ZERO;
            } else if left < longest {
                let left = TimeSpec::nanoseconds(left.as_nanos() as i64);
                clock.set(Expiration::OneShot(left), TimerSetTimeFlags::empty())?;
            }
        }
        match self.poll.poll(events, Some(longest)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                events.clear();
                Ok(())
            }
            other => other,
        }
    }

    /// Puts what is due in line.
    fn take_due(&mut self, now: Instant) {
        while let Some(due) = self.next.filter(|due| self.common.begun + due.at <= now) {
            if self.waiting.len() < MOST_WAITING {
                self.waiting.push_back(due);
            } else {
                self.tally.unsent += 1;
            }
            self.next = self.schedule.as_mut().and_then(Schedule::next);
        }
    }

    /// Starts what is due on connections that have room.
    fn start_due(&mut self) {
        while !self.waiting.is_empty() {
            let Some(index) = self.line.pop_front() else { return };
            self.connections[index].is_in_line = false;
            if !self.has_room(index, Instant::now()) {
                continue;
            }
            if let Some(due) = self.waiting.pop_front() {
                self.start(index, Some(due));
                self.refill(index);
            }
        }
    }

    /// Whether nothing more is to be started, of a load that ends by itself.
    fn has_ended(&self) -> bool {
        let has_all = if self.schedule.is_some() { self.next.is_none() } else { self.left == 0 };
        has_all && self.common.plan.has_an_end()
    }

    fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.connections.iter().all(|one| one.flights.is_empty())
    }

    fn has_room(&self, index: usize, now: Instant) -> bool {
        let (plan, one) = (self.common.plan, &self.connections[index]);
        let is_used_up = plan.requests_each.is_some_and(|most| one.asked >= most);
        one.flights.len() < plan.pipeline
            && one.takes_more()
            && (!is_used_up || one.flights.is_empty())
            && one.resting_until.is_none_or(|until| until <= now)
    }

    /// Gives a connection that has room more to do, or puts it in the line of those that wait for something to do.
    fn refill(&mut self, index: usize) {
        let now = Instant::now();
        if self.schedule.is_some() {
            if !self.connections[index].is_in_line && self.has_room(index, now) {
                self.connections[index].is_in_line = true;
                self.line.push_back(index);
            }
            return;
        }
        while !self.is_over && self.left > 0 && self.has_room(index, now) {
            self.left -= 1;
            self.add(index, None, now);
        }
        self.push(index);
    }

    fn start(&mut self, index: usize, due: Option<Due>) {
        self.add(index, due, Instant::now());
        self.push(index);
    }

    /// Adds a request to what a connection has to send.
    fn add(&mut self, index: usize, due: Option<Due>, now: Instant) {
        let intended = due.map_or(now, |due| self.common.begun + due.at);
        let target = due.and_then(|due| due.target).unwrap_or_else(|| self.choose());
        let common = self.common;
        let target = &common.targets[target];
        let step = due.map_or(0, |due| due.step);
        let flight = Flight { intended, started: now, first: None, step, has_no_body: target.has_no_body };
        if self.connections[index].flights.is_empty()
            && common.plan.requests_each.is_some_and(|most| self.connections[index].asked >= most)
        {
            self.close(index);
        }
        self.tally.requests += 1;
        if let Err(fault) = self.connections[index].ask_for(target, flight) {
            self.fail(index, fault);
        }
    }

    /// Which of the requests, by their weights.
    fn choose(&mut self) -> usize {
        let targets = self.common.targets;
        if targets.len() < 2 {
            return 0;
        }
        let mut at = self.random.u32(..targets.iter().map(|target| target.weight).sum::<u32>());
        for (index, target) in targets.iter().enumerate() {
            match at.checked_sub(target.weight) {
                Some(rest) => at = rest,
                None => return index,
            }
        }
        0
    }

    /// Sends what a connection has to send; opens it where it is not.
    fn push(&mut self, index: usize) {
        let one = &mut self.connections[index];
        if one.flights.is_empty() {
            return;
        }
        let done = match one.stage {
            Stage::Closed => self.open(index),
            _ => one.send(&mut self.tally),
        };
        if let Err(fault) = done {
            self.fail(index, fault);
        }
    }

    fn open(&mut self, index: usize) -> Result<(), LoadFault> {
        let one = &mut self.connections[index];
        one.open(self.common.peer, &mut self.tally)?;
        let Some(socket) = &mut one.socket else { return Ok(()) };
        let interest = Interest::READABLE | Interest::WRITABLE;
        self.poll.registry().register(socket, Token(index), interest).map_err(|_| LoadFault::Exhausted)
    }

    /// Something has happened on a connection.
    fn carry_on(&mut self, index: usize, is_ended: bool) {
        let Some(one) = self.connections.get_mut(index).filter(|one| one.stage != Stage::Closed) else { return };
        let done = one.advance(&mut self.scratch, is_ended, &mut self.tally);
        let closes = one.closes;
        match done {
            Err(fault) => self.fail(index, fault),
            // What was sent behind the last answer is not going to be answered.
            Ok(()) if closes => self.drop_rest(index, LoadFault::ClosedEarly),
            Ok(()) => {}
        }
        self.refill(index);
    }

    fn close(&mut self, index: usize) {
        let reader = Reader::of(self.common.plan);
        let one = &mut self.connections[index];
        if let Some(socket) = &mut one.socket {
            // It leaves the poll with its descriptor at the latest.
            let _ = self.poll.registry().deregister(socket);
        }
        one.close(reader);
    }

    /// Closes a connection; what is under way on it has failed.
    fn drop_rest(&mut self, index: usize, fault: LoadFault) {
        for flight in std::mem::take(&mut self.connections[index].flights) {
            self.tally.fail(&flight, fault);
        }
        self.close(index);
    }

    /// The same, with a rest.
    fn fail(&mut self, index: usize, fault: LoadFault) {
        if self.connections[index].flights.is_empty() && fault == LoadFault::Unasked {
            self.tally.count(fault);
        }
        self.drop_rest(index, fault);
        self.connections[index].resting_until = Some(Instant::now() + REST);
    }

    /// Looks for what takes too long, and for connections that have rested; says how far it is.
    fn look(&mut self, now: Instant) {
        for index in 0..self.connections.len() {
            let one = &mut self.connections[index];
            let oldest = one.flights.front().map(|flight| flight.started);
            if oldest.is_some_and(|started| now.saturating_duration_since(started) >= self.common.plan.timeout) {
                let fault = match one.stage {
                    Stage::Handshaking => LoadFault::HandshakeTimedOut,
                    Stage::Open => LoadFault::TimedOut,
                    Stage::Connecting | Stage::Closed => LoadFault::ConnectTimedOut,
                };
                self.fail(index, fault);
            }
            if self.connections[index].resting_until.is_some_and(|until| until <= now) {
                self.connections[index].resting_until = None;
                self.refill(index);
            }
        }
        (self.common.report)(&mut self.tally);
    }

    /// Counts what is left at the end.
    fn settle(&mut self) {
        self.tally.ended = Some(Instant::now());
        self.tally.unsent += self.waiting.len() as u64;
        for index in 0..self.connections.len() {
            self.drop_rest(index, LoadFault::TimedOut);
        }
        (self.common.report)(&mut self.tally);
        if let Ok(usage) = getrusage(UsageWho::RUSAGE_THREAD) {
            let nanos = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
            self.tally.processor = Duration::from_micros(u64::try_from(nanos).unwrap_or_default());
        }
    }
}
