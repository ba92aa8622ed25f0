//! Rows of some stretches of time are given up while a case is being recorded, so that a recording may last.

use crate::row::Row;
use crate::tables::{Call, Command, HttpMessage, Sample, Segment, Switch, TlsRecord, reason};
use crate::units::Nanos;
use std::any::Any;
use std::collections::BTreeMap;

/// How many rows of a thread were given up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfThread {
    /// Calls.
    pub calls: u64,
    /// Times off the processor to wait.
    pub waits: u64,
    /// Other times off the processor.
    pub preemptions: u64,
}

/// What was given up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenUp {
    /// Rows of all tables.
    pub rows: u64,
    /// By thread, those that the scheduler's own sums are compared with.
    pub of_threads: BTreeMap<u32, OfThread>,
}

impl GivenUp {
    /// Adds what was given up another time.
    pub fn add(&mut self, other: GivenUp) {
        self.rows += other.rows;
        for (tid, more) in other.of_threads {
            let sum = self.of_threads.entry(tid).or_default();
            sum.calls += more.calls;
            sum.waits += more.waits;
            sum.preemptions += more.preemptions;
        }
    }

    fn count(&mut self, row: &dyn Any) {
        self.rows += 1;
        if let Some(call) = row.downcast_ref::<Call>() {
            self.of_threads.entry(call.tid).or_default().calls += 1;
        } else if let Some(switch) = row.downcast_ref::<Switch>() {
            let sum = self.of_threads.entry(switch.tid).or_default();
            *if switch.reason == reason::PREEMPTED { &mut sum.preemptions } else { &mut sum.waits } += 1;
        }
    }
}

/// Takes the rows away that lie within one of some stretches, which are in order of time. What reaches out of them
/// stays: of the time with rows nothing may be missing.
pub(super) fn take_away<R: Row>(rows: &mut Vec<R>, stretches: &[(Nanos, Nanos)], given_up: &mut GivenUp) {
    rows.retain(|row| {
        let is_within = lasted(row).is_some_and(|(start, end)| {
            let next = stretches.partition_point(|stretch| stretch.1 <= start);
            stretches.get(next).is_some_and(|stretch| stretch.0 <= start && end <= stretch.1)
        });
        if is_within {
            given_up.count(row);
        }
        !is_within
    });
}

/// Whether rows of a table are ever given up.
pub(super) fn is_thinned<R: Row>() -> bool {
    let tables = [Call::TABLE, Switch::TABLE, Sample::TABLE, Segment::TABLE];
    let of_calls = [TlsRecord::TABLE, HttpMessage::TABLE, Command::TABLE];
    tables.contains(&R::TABLE) || of_calls.contains(&R::TABLE)
}

/// From when to when a row lasted; none where its table is not thinned.
fn lasted(row: &dyn Any) -> Option<(Nanos, Nanos)> {
    let call = || row.downcast_ref::<Call>().map(|row| (row.start, row.start + row.duration));
    let switch = || row.downcast_ref::<Switch>().map(|row| (row.start, row.end));
    let moment = || {
        let segment = || row.downcast_ref::<Segment>().map(|row| row.time);
        let sample = || row.downcast_ref::<Sample>().map(|row| row.time);
        let record = || row.downcast_ref::<TlsRecord>().map(|row| row.time);
        let message = || row.downcast_ref::<HttpMessage>().map(|row| row.time);
        let command = || row.downcast_ref::<Command>().map(|row| row.time);
        let time = segment().or_else(sample).or_else(record).or_else(message).or_else(command)?;
        Some((time, time))
    };
    call().or_else(switch).or_else(moment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_within_is_given_up_and_counted_and_what_reaches_out_stays() {
        let call = |start, duration| Call { start: Nanos(start), duration: Nanos(duration), tid: 7, ..Call::default() };
        let (mut given_up, stretches) = (GivenUp::default(), [(Nanos(10), Nanos(20)), (Nanos(40), Nanos(50))]);
        let mut calls = vec![call(5, 10), call(10, 5), call(15, 10), call(25, 5), call(49, 1), call(50, 1)];
        take_away(&mut calls, &stretches, &mut given_up);
        assert_eq!(calls, [call(5, 10), call(15, 10), call(25, 5), call(50, 1)]);
        let switch = |reason| Switch { start: Nanos(41), end: Nanos(42), tid: 7, reason, ..Switch::default() };
        let mut switches = vec![switch(reason::BLOCKED), switch(reason::PREEMPTED), switch(reason::UNINTERRUPTIBLE)];
        take_away(&mut switches, &stretches, &mut given_up);
        let sums = given_up.of_threads[&7];
        assert_eq!((sums, given_up.rows), (OfThread { calls: 2, waits: 2, preemptions: 1 }, 5));
    }

    #[test]
    fn every_table_that_is_thinned_tells_when_its_rows_were() {
        let rows: [&dyn Any; 7] = [
            &Call::default(),
            &Switch::default(),
            &Sample::default(),
            &Segment::default(),
            &TlsRecord::default(),
            &HttpMessage::default(),
            &Command::default(),
        ];
        assert!(rows.into_iter().all(|row| lasted(row).is_some()));
        assert!(is_thinned::<Command>() && !is_thinned::<crate::tables::Connection>());
    }
}
