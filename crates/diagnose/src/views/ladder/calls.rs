//! What the threads of an exchange called.

use super::bundle::{self, Folded};
use super::fold::{self, Run};
use super::label::{self, Details};
use super::participants::Participants;
use super::places::Places;
use super::raw_event::RawEvent;
use super::records;
use crate::analysis::Analysis;
use crate::connections::End;
use crate::exchange::{Exchange, records_of};
use crate::syscall;
use crate::threads::{ThreadRows, call_end};
use case::tables::Call;
use case::views::{EventKind, LadderEvent};

/// A call of at least this share of the exchange is never folded with others: its length is what there is to see.
const LONG_SHARE: u64 = 20;

/// A call of another thread is shown where it takes at least this share of the exchange.
const ELSEWHERE_SHARE: u64 = 50;

/// What makes two calls the same when they are folded: number, whose connection, how it ended, the line of code.
#[derive(PartialEq)]
struct Key(u16, u8, i64, usize);

/// Turns the calls of one exchange into steps.
struct Builder<'a, 'e> {
    analysis: &'a Analysis<'e>,
    exchange: &'a Exchange,
    participants: &'a Participants,
}

/// The calls of all threads that took part, and the long ones of their processes' other threads.
pub fn steps(
    analysis: &Analysis,
    exchange: &Exchange,
    participants: &Participants,
    places: &mut Places,
) -> Vec<RawEvent> {
    let builder = Builder { analysis, exchange, participants };
    let mut steps = Vec::new();
    for (lane, threads) in participants.threads.iter().enumerate() {
        for thread in threads.iter().filter_map(|&tid| analysis.threads.get(tid)) {
            let calls = builder.calls_of(thread);
            steps.extend(builder.folded(lane, &calls, places));
        }
        for thread in builder.others(lane) {
            let calls = builder.calls_of(thread).into_iter();
            let calls = calls.filter(|call| builder.matters_elsewhere(lane, call)).collect::<Vec<_>>();
            steps.extend(builder.folded(lane, &calls, places));
        }
    }
    steps
}

impl<'e> Builder<'_, 'e> {
    /// A thread's calls that overlap the exchange.
    fn calls_of(&self, thread: &ThreadRows) -> Vec<&'e Call> {
        let calls = &self.analysis.recording.calls[thread.calls.clone()];
        let first = calls.partition_point(|call| call_end(call) <= self.exchange.start);
        calls[first..].iter().take_while(|call| call.start.0 < self.exchange.end).collect()
    }

    /// The other threads of the processes at an end.
    fn others(&self, lane: usize) -> Vec<&ThreadRows> {
        let taking_part = &self.participants.threads[lane];
        let process = |tid: &u32| self.analysis.threads.get(*tid).map(|thread| thread.pid);
        let processes: Vec<u32> = taking_part.iter().filter_map(process).collect();
        let threads = self.analysis.threads.all().iter();
        threads.filter(|row| processes.contains(&row.pid) && !taking_part.contains(&row.tid)).collect()
    }

    /// Whether a call of a thread that moved none of the exchange's bytes may have held it up: files at either end, and
    /// what a server asks of others. What a client's other threads ask is an exchange of its own.
    fn matters_elsewhere(&self, lane: usize, call: &Call) -> bool {
        let from = call.start.0.max(self.exchange.start);
        let within = call_end(call).min(self.exchange.end).saturating_sub(from);
        let connections = &self.analysis.connections;
        let slot = connections.slot(call.connection).filter(|_| call.connection != 0);
        let asks = slot.is_some_and(|slot| connections.all()[slot].end == Some(End::Client));
        let waits = syscall::is_poll(call.number) || syscall::is_accept(call.number);
        let works = syscall::is_sync(call.number) || (slot.is_none() && call.path != 0) || (lane == 1 && asks);
        works && !waits && within * ELSEWHERE_SHARE >= self.exchange.length()
    }

    /// Whether a call moves bytes of the exchange's own connection.
    fn is_own(&self, lane: usize, call: &Call) -> bool {
        let slot = self.participants.slots[lane];
        call.connection != 0 && slot.is_some_and(|slot| self.analysis.connections.row(slot).id == call.connection)
    }

    /// One thread's calls as steps, repetitions folded.
    fn folded(&self, lane: usize, calls: &[&'e Call], places: &mut Places) -> Vec<RawEvent> {
        let last = calls.len().saturating_sub(1);
        let numbers: Vec<usize> = calls.iter().map(|call| places.number(self.analysis, call)).collect();
        let keys: Vec<Option<Key>> = calls
            .iter()
            .enumerate()
            .map(|(index, call)| {
                let long = call.duration.0 * LONG_SHARE >= self.exchange.length();
                let keyed = index > 0 && index < last && !long && call.finished;
                keyed.then(|| self.key(lane, call, numbers[index]))
            })
            .collect();
        let mut folded: Vec<Folded> = Vec::new();
        for run in fold::runs(&keys) {
            for offset in 0..run.unit {
                let merges = offset > 0 && keys[run.first + offset] == keys[run.first + offset - 1] && run.times > 1;
                let place = places.place(numbers[run.first + offset]);
                let step = self.step(lane, calls, run, offset);
                match folded.last_mut() {
                    Some(before) if merges => before.step.event.times += step.event.times,
                    _ => folded.push(Folded {
                        step: RawEvent::new(LadderEvent { place, ..step.event }),
                        name: syscall::name(calls[run.first + offset].number),
                        plain: step.event.kind == EventKind::Call && keys[run.first + offset].is_some(),
                    }),
                }
            }
        }
        bundle::bundled(folded)
    }

    fn key(&self, lane: usize, call: &Call, place: usize) -> Key {
        let whose = if self.is_own(lane, call) { 2 } else { u8::from(call.connection != 0) };
        Key(call.number, whose, call.result.min(1), place)
    }

    /// One call of a run's unit, with all its repetitions.
    fn step(&self, lane: usize, calls: &[&'e Call], run: Run, offset: usize) -> RawEvent {
        let here = || (0..run.times).map(|turn| calls[run.first + turn * run.unit + offset]);
        let first = calls[run.first + offset];
        let last = calls[run.first + (run.times - 1) * run.unit + offset];
        let own = self.is_own(lane, first);
        let moved = here().map(|call| call.result.max(0) as u64).sum();
        let kind = match first.number {
            number if own && syscall::is_write(number) => EventKind::Write,
            number if own && syscall::is_read(number) => EventKind::Read,
            _ => EventKind::Call,
        };
        let recording = self.analysis.recording;
        RawEvent::new(LadderEvent {
            at: first.start.0.clamp(self.exchange.start, self.exchange.end),
            to: call_end(last).clamp(self.exchange.start, self.exchange.end),
            lane,
            kind,
            label: label::call(self.analysis, first, Details { bytes: moved, own }),
            records: records::in_words(here().flat_map(|call| records_of(recording, call))),
            segment: None,
            arrives: None,
            process: self.participants.process_of(self.analysis, lane, first.tid, first.start.0),
            place: None,
            times: run.times as u64,
        })
    }
}
