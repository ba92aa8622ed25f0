//! What is counted while a load goes on: by one thread for itself, then all together.

use crate::flight::Flight;
use crate::histogram::Times;
use crate::protocol::Reply;
use case::{LoadError, LoadFault, LoadPhase, LoadStep, Phase, StatusCount};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Statuses have three digits at most.
const STATUSES: usize = 1000;

/// Everything that is counted.
pub(crate) struct Tally {
    pub latency: Times,
    pub uncorrected: Times,
    /// Since others last looked.
    pub recent: Times,
    pub connect: Times,
    pub tls_full: Times,
    pub tls_resumed: Times,
    first_byte: Times,
    last_byte: Times,
    steps: Vec<(Times, u64)>,
    statuses: Vec<u64>,
    faults: BTreeMap<LoadFault, u64>,
    pub requests: u64,
    pub answered: u64,
    pub failed: u64,
    pub unsent: u64,
    pub received: u64,
    pub sent: u64,
    pub opened: u64,
    pub tls_version: &'static str,
    pub processor: Duration,
    /// When the last thread ended.
    pub ended: Option<Instant>,
    /// Answered and failed since others last looked.
    pub told: (u64, u64),
}

impl Tally {
    pub(crate) fn new(steps: usize) -> Tally {
        Tally {
            latency: Times::new(),
            uncorrected: Times::new(),
            recent: Times::new(),
            connect: Times::new(),
            tls_full: Times::new(),
            tls_resumed: Times::new(),
            first_byte: Times::new(),
            last_byte: Times::new(),
            steps: vec![(Times::new(), 0); steps],
            statuses: vec![0; STATUSES],
            faults: BTreeMap::new(),
            requests: 0,
            answered: 0,
            failed: 0,
            unsent: 0,
            received: 0,
            sent: 0,
            opened: 0,
            tls_version: "",
            processor: Duration::ZERO,
            ended: None,
            told: (0, 0),
        }
    }

    /// A request is answered.
    pub(crate) fn answer(&mut self, flight: &Flight, now: Instant, reply: Reply) {
        if let Some(count) = self.statuses.get_mut(usize::from(reply.status)) {
            *count += 1;
        }
        if let Some(fault) = reply.fault {
            return self.fail(flight, fault);
        }
        self.answered += 1;
        self.told.0 += 1;
        let first = flight.first.unwrap_or(now);
        let latency = now.saturating_duration_since(flight.intended);
        self.latency.add(latency);
        self.recent.add(latency);
        self.uncorrected.add(now.saturating_duration_since(flight.started));
        self.first_byte.add(first.saturating_duration_since(flight.started));
        // What came in one piece has no time between its first and its last byte.
        if first < now {
            self.last_byte.add(now.saturating_duration_since(first));
        }
        if let Some((times, _)) = self.steps.get_mut(flight.step) {
            times.add(latency);
        }
    }

    /// A request has failed.
    pub(crate) fn fail(&mut self, flight: &Flight, fault: LoadFault) {
        self.failed += 1;
        self.told.1 += 1;
        self.count(fault);
        if let Some((_, failed)) = self.steps.get_mut(flight.step) {
            *failed += 1;
        }
    }

    /// Something has gone wrong that is no request's failure.
    pub(crate) fn count(&mut self, fault: LoadFault) {
        *self.faults.entry(fault).or_default() += 1;
    }

    /// Adds what another thread has counted.
    pub(crate) fn merge(&mut self, other: &Tally) {
        let ours = [
            &mut self.latency,
            &mut self.uncorrected,
            &mut self.connect,
            &mut self.tls_full,
            &mut self.tls_resumed,
            &mut self.first_byte,
            &mut self.last_byte,
        ];
        let theirs = [
            &other.latency,
            &other.uncorrected,
            &other.connect,
            &other.tls_full,
            &other.tls_resumed,
            &other.first_byte,
            &other.last_byte,
        ];
        ours.into_iter().zip(theirs).for_each(|(ours, theirs)| ours.merge(theirs));
        for ((times, failed), (more, also)) in self.steps.iter_mut().zip(&other.steps) {
            times.merge(more);
            *failed += also;
        }
        self.statuses.iter_mut().zip(&other.statuses).for_each(|(ours, theirs)| *ours += theirs);
        for (fault, count) in &other.faults {
            *self.faults.entry(*fault).or_default() += count;
        }
        self.requests += other.requests;
        self.answered += other.answered;
        self.failed += other.failed;
        self.unsent += other.unsent;
        self.received += other.received;
        self.sent += other.sent;
        self.opened += other.opened;
        self.processor += other.processor;
        self.ended = self.ended.max(other.ended);
        if !other.tls_version.is_empty() {
            self.tls_version = other.tls_version;
        }
    }

    /// The parts of requests, those that there were.
    pub(crate) fn phases(&self) -> Vec<LoadPhase> {
        let all = [
            (Phase::Connect, &self.connect),
            (Phase::TlsFull, &self.tls_full),
            (Phase::TlsResumed, &self.tls_resumed),
            (Phase::FirstByte, &self.first_byte),
            (Phase::LastByte, &self.last_byte),
        ];
        let some = all.into_iter().filter(|(_, times)| !times.is_empty());
        some.map(|(phase, times)| LoadPhase { phase, time: times.summary() }).collect()
    }

    /// Each rate in turn.
    pub(crate) fn steps(&self, rates: &[f64]) -> Vec<LoadStep> {
        let each = rates.iter().zip(&self.steps);
        each.map(|(rate, (times, failed))| LoadStep { rate: *rate, latency: times.summary(), failed: *failed })
            .collect()
    }

    /// Answers by status; a protocol without any has none.
    pub(crate) fn statuses(&self) -> Vec<StatusCount> {
        let some = self.statuses.iter().enumerate().skip(1).filter(|(_, count)| **count > 0);
        some.map(|(status, count)| StatusCount { status: status as u16, count: *count }).collect()
    }

    /// What went wrong, most frequent first.
    pub(crate) fn errors(&self) -> Vec<LoadError> {
        let mut all = self.faults.iter().map(|(fault, count)| LoadError { fault: *fault, count: *count });
        let mut all = all.by_ref().collect::<Vec<_>>();
        all.sort_by_key(|one| std::cmp::Reverse(one.count));
        all
    }
}
