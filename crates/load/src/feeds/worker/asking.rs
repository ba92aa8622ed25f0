//! Connections at work: opened, asked on, carried on with, and closed.

use super::super::job::{Job, Purpose};
use super::super::origin::Address;
use super::super::request;
use super::super::tally::Outcome;
use super::Worker;
use crate::connection::Stage;
use crate::flight::Flight;
use crate::protocol::Reader;
use case::{FeedFault, FeedPhase, LoadFault};
use mio::{Interest, Token};
use std::time::Instant;

impl Worker<'_> {
    /// Opens a connection for a job.
    pub(super) fn begin(&mut self, slot: usize, origin: usize, job: Job) {
        self.slots[slot].origin = origin;
        self.origins[origin].open += 1;
        self.ask(slot, job);
        if let Err(fault) = self.open(slot) {
            self.fail(slot, FeedFault::Transfer(fault));
        }
    }

    fn open(&mut self, slot: usize) -> Result<(), LoadFault> {
        let one = &mut self.slots[slot];
        let Address::Known(peer) = &self.origins[one.origin].address else { return Err(LoadFault::Other) };
        let connected = one.connection.connect(peer, &mut self.done.tally);
        let registered = match &mut one.connection.socket {
            Some(socket) => self.poll.registry().register(socket, Token(slot), Interest::READABLE | Interest::WRITABLE),
            None => Ok(()),
        };
        self.spend(FeedPhase::Connect);
        connected.and(registered.map_err(|_| LoadFault::Exhausted))?;
        let one = &mut self.slots[slot];
        let Address::Known(peer) = &self.origins[one.origin].address else { return Err(LoadFault::Other) };
        let secured = one.connection.secure(peer);
        self.spend(FeedPhase::Tls);
        secured
    }

    /// Adds the request of a job to what a connection has to send.
    fn ask(&mut self, slot: usize, mut job: Job) {
        let (plan, now) = (self.common.plan, Instant::now());
        let bytes = match job.purpose {
            Purpose::Robots => request::robots(&job.url, &plan.agent),
            Purpose::Feed(_) => request::feed(&job.url, &plan.agent, &job.state),
        };
        job.begun.get_or_insert(now);
        let one = &mut self.slots[slot];
        one.connection.ask(&bytes, Flight { intended: now, started: now, first: None, step: 0, has_no_body: false });
        (one.job, one.deadline) = (Some(job), now + plan.timeout);
        self.done.tally.requests += 1;
        // Putting it together is nobody's phase.
        self.spent_until = Instant::now();
    }

    /// Something has happened on a connection.
    pub(super) fn carry_on(&mut self, slot: usize, is_ended: bool) {
        let Some(one) = self.slots.get_mut(slot).filter(|one| one.job.is_some()) else { return };
        let before = one.connection.stage;
        let done = one.connection.advance(&mut self.scratch, is_ended, &mut self.done.tally);
        let answered = one.connection.reader.answered();
        self.spend(match before {
            Stage::Closed | Stage::Connecting => FeedPhase::Connect,
            Stage::Handshaking => FeedPhase::Tls,
            Stage::Open => FeedPhase::Transfer,
        });
        match (answered, done) {
            // What comes behind an answer is nobody's.
            (Some(answered), done) => {
                self.origins[self.slots[slot].origin].refusals = 0;
                self.answer(slot, &answered);
                self.spent_until = Instant::now();
                self.go_on(slot, done.is_ok());
            }
            (None, Err(fault)) => self.fail(slot, FeedFault::Transfer(fault)),
            (None, Ok(())) if self.slots[slot].connection.closes => {
                self.fail(slot, FeedFault::Transfer(LoadFault::ClosedEarly));
            }
            (None, Ok(())) => {}
        }
    }

    /// Asks for the next thing on a connection, or closes it.
    fn go_on(&mut self, slot: usize, is_sound: bool) {
        let origin = self.slots[slot].origin;
        let can_ask = is_sound && !self.slots[slot].connection.closes;
        let job = if can_ask { self.next_job(origin) } else { None };
        let Some(job) = job else { return self.close(slot) };
        self.ask(slot, job);
        let sent = self.slots[slot].connection.send(&mut self.done.tally);
        self.spend(FeedPhase::Transfer);
        if let Err(fault) = sent {
            self.fail(slot, FeedFault::Transfer(fault));
        }
        self.line_up(origin);
    }

    /// Closes a connection. Its place is free.
    pub(super) fn close(&mut self, slot: usize) {
        let reader = Reader::keeping(self.common.plan.most_received);
        let one = &mut self.slots[slot];
        if let Some(socket) = &mut one.connection.socket {
            // It leaves the poll with its descriptor at the latest.
            let _ = self.poll.registry().deregister(socket);
        }
        one.connection.flights.clear();
        one.connection.close(reader);
        one.job = None;
        let origin = one.origin;
        self.free.push(slot);
        self.origins[origin].open -= 1;
        self.line_up(origin);
        self.spend(FeedPhase::Connect);
    }

    /// The request on a connection has failed.
    pub(super) fn fail(&mut self, slot: usize, fault: FeedFault) {
        let one = &mut self.slots[slot];
        let (origin, was_open) = (one.origin, one.connection.stage == Stage::Open);
        let has_begun = one.connection.flights.front().is_some_and(|flight| flight.first.is_some());
        let was_reused = one.connection.asked > 1;
        let job = one.job.take();
        self.close(slot);
        let Some(mut job) = job else { return };
        let closed = matches!(fault, FeedFault::Transfer(LoadFault::ClosedEarly | LoadFault::Reset));
        if closed && was_reused && !has_begun && !job.is_retried {
            // A server may close a connection that is kept while the next request is on its way to it.
            job.is_retried = true;
            self.origins[origin].queue.push_front(job);
            return self.line_up(origin);
        }
        let rest = if was_open { Vec::new() } else { self.origins[origin].refuse(fault) };
        for (job, fault) in [(job, fault)].into_iter().chain(rest) {
            self.give_up(origin, &job, Outcome::Failed(fault));
        }
        self.line_up(origin);
    }
}
