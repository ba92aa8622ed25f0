//! What comes of answers: feeds settled, redirects followed, robots.txt read.

use super::super::change::Change;
use super::super::job::{Job, Purpose};
use super::super::origin::Robots;
use super::super::robots;
use super::super::state::OriginState;
use super::super::tally::Outcome;
use super::super::verdict::{Redirect, Settled, Step, decide};
use super::{Message, Worker, owner};
use crate::address::Url;
use crate::protocol::Answered;
use std::time::Duration;

/// Of robots.txt so much is read (RFC 9309, 2.5).
const LONGEST_ROBOTS: usize = 500 << 10;

impl Worker<'_> {
    /// The request on a connection is answered.
    pub(super) fn answer(&mut self, slot: usize, answered: &Answered) {
        let one = &mut self.slots[slot];
        let origin = one.origin;
        let Some(job) = one.job.take() else { return };
        let Purpose::Feed(feed) = job.purpose else { return self.read_robots(origin, answered) };
        let (plan, store) = (self.common.plan, self.common.store);
        let seen = || store.seen(&plan.addresses[feed]).unwrap_or_default();
        let bounds = (plan.most_inflated, self.now_s);
        match decide(answered, &job, job.state.clone(), bounds, seen, &mut self.done.counts) {
            Step::Follow(url, redirect) => self.follow(job, url, redirect),
            Step::Settled(settled) => self.settle(origin, &job, settled),
        }
    }

    /// A feed is seen to, and what is known of it changes.
    fn settle(&mut self, origin: usize, job: &Job, settled: Settled) {
        let Purpose::Feed(feed) = job.purpose else { return };
        let address = &self.common.plan.addresses[feed];
        self.origins[origin].took(job.begun.map_or(Duration::ZERO, |begun| begun.elapsed()));
        if let Some(until) = settled.rests_until_s {
            self.origins[origin].state.not_before_s = until;
            self.keep_origin(origin);
        }
        let state = Some(settled.state).filter(|state| *state != job.state);
        let (address, round) = (address.clone(), self.common.number);
        self.change(Change::Feed { address, round, state, seen: settled.seen });
        self.settled(settled.outcome, &self.common.plan.addresses[feed]);
    }

    /// A job is settled without having been asked for.
    pub(super) fn give_up(&mut self, origin: usize, job: &Job, outcome: Outcome) {
        match (job.purpose, outcome) {
            (Purpose::Robots, Outcome::Failed(_)) => self.open_robots(origin),
            (Purpose::Robots, _) => {}
            (Purpose::Feed(_), outcome) => {
                self.settle(origin, job, Settled::with(outcome, job.state.clone()));
            }
        }
    }

    fn follow(&mut self, job: Job, url: Url, redirect: Redirect) {
        let mut hops = job.hops;
        hops.push(job.url.text);
        let is_permanent = job.is_permanent && redirect == Redirect::ForGood;
        let job = Job { url, hops, is_permanent, is_retried: false, ..job };
        match owner(&job.url.host, self.common.mailboxes.len()) {
            ours if ours == self.index => self.take(job),
            other => self.common.mailboxes[other].tell(Message::Job(Box::new(job))),
        }
    }

    /// What cannot be had forbids nothing: the feeds fail by themselves where the server is not there.
    fn open_robots(&mut self, origin: usize) {
        self.origins[origin].robots = Robots::Known(Vec::new());
    }

    fn read_robots(&mut self, origin: usize, answered: &Answered) {
        let rules = match answered.status {
            200 => {
                let length = answered.body.len().min(LONGEST_ROBOTS);
                robots::rules(&String::from_utf8_lossy(&answered.body[..length]))
            }
            // A server in trouble is to be left alone (RFC 9309, 2.3.1.4); it is asked again in the next round.
            500..=599 => {
                let nothing = robots::Rule { allows: false, pattern: "/".into() };
                self.origins[origin].robots = Robots::Known(vec![nothing]);
                return;
            }
            _ => Vec::new(),
        };
        let one = &mut self.origins[origin];
        one.state =
            OriginState { robots_read_s: self.now_s, robots: rules.clone(), not_before_s: one.state.not_before_s };
        one.robots = Robots::Known(rules);
        self.keep_origin(origin);
    }

    fn keep_origin(&mut self, origin: usize) {
        let one = &self.origins[origin];
        let change = Change::Origin { name: one.name.clone(), state: one.state.clone() };
        self.change(change);
    }
}
