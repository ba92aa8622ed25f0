//! Jobs on their way to connections: into the queue of their origin, whose address is looked up first.

use super::super::address;
use super::super::job::{Job, Purpose};
use super::super::names::Asked;
use super::super::origin::{Address, Origin, Robots};
use super::super::robots;
use super::super::state::FeedState;
use super::super::tally::Outcome;
use super::Worker;
use case::{ContentFault, FeedFault};
use std::net::IpAddr;

/// robots.txt is read anew after a day (RFC 9309, 2.4).
const ROBOTS_HOLD_S: i64 = 86_400;

impl Worker<'_> {
    /// Puts a job into the queue of its origin.
    pub(super) fn take(&mut self, job: Job) {
        let name = address::origin(&job.url);
        let index = match self.by_name.get(&name) {
            Some(index) => *index,
            None => self.add_origin(name, &job),
        };
        let origin = &mut self.origins[index];
        origin.queue.push_back(job);
        if self.common.plan.robots && origin.robots == Robots::Unknown {
            self.ask_for_robots(index);
        }
        self.line_up(index);
    }

    fn add_origin(&mut self, name: String, job: &Job) -> usize {
        let state = self.common.store.origin(&name).unwrap_or_default();
        let robots = match (self.common.plan.robots, self.now_s - state.robots_read_s < ROBOTS_HOLD_S) {
            (false, _) => Robots::Ignored,
            (true, true) => Robots::Known(state.robots.clone()),
            (true, false) => Robots::Unknown,
        };
        let index = self.origins.len();
        self.origins.push(Origin::of(name.clone(), &job.url, state, robots));
        self.by_name.insert(name, index);
        index
    }

    fn ask_for_robots(&mut self, index: usize) {
        let origin = &mut self.origins[index];
        if let Some(url) = origin.queue.front().and_then(|job| address::join(&job.url, "/robots.txt")) {
            origin.queue.push_front(Job::of(Purpose::Robots, url, FeedState::default()));
            origin.robots = Robots::Asked;
        }
    }

    /// Puts an origin into the line, where it has something to do that can be done now.
    pub(super) fn line_up(&mut self, index: usize) {
        let origin = &mut self.origins[index];
        if matches!(origin.address, Address::Unknown) && !origin.queue.is_empty() {
            origin.address = Address::Asked;
            let host = origin.host.clone();
            self.look_up(index, host);
            return;
        }
        let origin = &mut self.origins[index];
        if !origin.is_in_line && origin.wants_connection(self.common.plan.per_origin) {
            origin.is_in_line = true;
            self.line.push_back(index);
        }
    }

    fn look_up(&mut self, index: usize, host: String) {
        let known = self.addresses.get(&host).copied().or_else(|| self.common.names.known(&host).map(Some));
        if let Some(address) = known {
            return self.found(index, address);
        }
        let waiting = self.waiting.entry(host.clone()).or_default();
        waiting.push(index);
        if waiting.len() == 1 {
            self.done.looked_up += 1;
            self.common.names.ask(Asked { host, worker: self.index });
        }
    }

    pub(super) fn looked_up(&mut self, host: String, address: Option<IpAddr>) {
        let waiting = self.waiting.remove(&host).unwrap_or_default();
        self.addresses.insert(host, address);
        for index in waiting {
            self.found(index, address);
        }
    }

    fn found(&mut self, index: usize, address: Option<IpAddr>) {
        let origin = &mut self.origins[index];
        let fault = match address {
            None => Some(ContentFault::LookUp),
            Some(address) if !origin.found(address, self.common.settings) => Some(ContentFault::BadUrl),
            Some(_) => None,
        };
        let Some(fault) = fault else { return self.line_up(index) };
        // So that feeds that are redirected here later fail as well.
        origin.address = Address::Unknown;
        for job in std::mem::take(&mut origin.queue) {
            self.give_up(index, &job, Outcome::Failed(FeedFault::Content(fault)));
        }
    }

    /// Opens connections to origins that wait in line.
    pub(super) fn fill(&mut self) {
        while let Some(slot) = self.free.pop() {
            let Some(index) = self.line.pop_front() else {
                self.free.push(slot);
                return;
            };
            self.origins[index].is_in_line = false;
            let Some(job) = self.next_job(index) else {
                self.free.push(slot);
                continue;
            };
            self.begin(slot, index, job);
            self.line_up(index);
        }
    }

    /// The next job of an origin that its server can be asked for; those that it does not want to be asked for are settled.
    pub(super) fn next_job(&mut self, index: usize) -> Option<Job> {
        loop {
            let origin = &mut self.origins[index];
            if origin.robots == Robots::Asked && origin.queue.front()?.purpose != Purpose::Robots {
                return None;
            }
            let job = origin.queue.pop_front()?;
            if job.purpose == Purpose::Robots {
                return Some(job);
            }
            if origin.rests(self.now_s) {
                self.give_up(index, &job, Outcome::PutOff);
                continue;
            }
            match &origin.robots {
                Robots::Known(rules) if !robots::allow(rules, &job.url.path) => {
                    self.give_up(index, &job, Outcome::Disallowed);
                }
                _ => return Some(job),
            }
        }
    }
}
