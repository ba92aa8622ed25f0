//! What an event loop has asked others for each of the requests that it has in hand: between asking and the answer it goes on with
//! other requests, and what it does for those is not what this one waits for.
//!
//! Who asked is known by order: a thread that reads a request and then asks somebody does so for that request; once the answer is
//! read, what it does next is for the same. Where that often does not end in the answer to that request, as with programs that
//! read many answers before they go on with any, nothing is known.

use super::Analysis;
use super::ender::Window;
use crate::exchange::arrived;
use crate::syscall::{self, Class};
use crate::threads::call_end;
use case::tables::{Call, role};
use rustc_hash::FxHashMap;

/// With fewer requests that were followed to their answers nobody knows whether order tells.
const LEAST: u32 = 3;
/// In so many of them what was read last was read for the request that is answered then.
const NEARLY_ALL: f64 = 0.9;

/// A wait of a request for the answer of somebody its thread asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ask {
    pub from: u64,
    pub to: u64,
    /// The call that read the answer.
    pub row: usize,
}

/// The waits of all threads' requests, by the threads' places.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    of: FxHashMap<usize, Vec<Answered>>,
}

/// A write of an answer, and what had been asked for it since the one before; in order of time.
#[derive(Debug)]
struct Answered {
    from: u64,
    to: u64,
    asks: Vec<Ask>,
}

/// Somebody was asked.
struct Asking {
    /// The connection of the client for whom.
    owner: u32,
    /// Since when there is something to wait for.
    from: u64,
    /// How often the thread had been with clients by then.
    turns: u64,
    /// Whether nothing of the answer was read yet.
    is_fresh: bool,
}

/// A thread's calls, followed in order.
#[derive(Default)]
struct Trace {
    window: usize,
    /// The connection of the client for whom the thread does what it does.
    current: Option<u32>,
    turns: u64,
    asking: FxHashMap<u32, Asking>,
    asks: FxHashMap<u32, Vec<Ask>>,
    answered: Vec<Answered>,
    as_expected: u32,
}

impl Asked {
    /// Of a recording.
    pub fn new(analysis: &Analysis) -> Asked {
        let threads = analysis.threads.all();
        let has_both = |slot: &usize| {
            let asks = |call: &Call| is_transfer(call) && role_of(analysis, call) == Some(role::CLIENT);
            let serves = |call: &Call| is_transfer(call) && role_of(analysis, call) == Some(role::SERVER);
            let calls = &analysis.recording.calls[threads[*slot].calls.clone()];
            calls.iter().any(asks) && calls.iter().any(serves)
        };
        let of = |slot: usize| {
            let mut trace = Trace::default();
            for row in threads[slot].calls.clone() {
                trace.take(analysis, row);
            }
            Some((slot, trace.answered())).filter(|(_, answered)| !answered.is_empty())
        };
        Asked { of: (0..threads.len()).filter(has_both).filter_map(of).collect() }
    }

    /// What was waited for within a stretch of a thread's time that ends with its answer to somebody: in order of time, apart
    /// from each other.
    pub(crate) fn within(&self, window: &Window) -> Vec<Ask> {
        let Some(answered) = self.of.get(&window.thread) else { return Vec::new() };
        let begun = answered.partition_point(|one| one.from <= window.to);
        let Some(answer) = begun.checked_sub(1).map(|last| &answered[last]).filter(|one| window.to <= one.to) else {
            return Vec::new();
        };
        let mut at = window.from;
        let mut within = Vec::new();
        for ask in &answer.asks {
            let (from, to) = (ask.from.max(at), ask.to.min(window.to));
            if from < to {
                within.push(Ask { from, to, ..*ask });
                at = to;
            }
        }
        within
    }
}

impl Trace {
    fn take(&mut self, analysis: &Analysis, row: usize) {
        let call = analysis.call(row);
        // What a timer or another's event begins is for nobody.
        if syscall::class(call.number) == Class::Poll && call.blocked.0 > 0 {
            self.current = None;
        }
        let window = analysis.windows.number(call.start.0);
        if self.window != window {
            *self = Trace {
                window,
                answered: std::mem::take(&mut self.answered),
                as_expected: self.as_expected,
                ..Trace::default()
            };
        }
        let connects = call.number == syscall::CONNECT;
        match role_of(analysis, call) {
            Some(role::SERVER) if is_transfer(call) => self.with_client(call),
            Some(role::CLIENT) if is_transfer(call) && syscall::is_read(call.number) => {
                self.is_told(analysis, row);
            }
            Some(role::CLIENT) if is_transfer(call) || connects => self.asks(call),
            _ => (),
        }
    }

    fn with_client(&mut self, call: &Call) {
        self.turns += 1;
        let client = call.connection;
        if syscall::is_read(call.number) {
            self.current = Some(client);
            self.asks.remove(&client);
        } else if let Some(mut asks) = self.asks.remove(&client) {
            self.as_expected += u32::from(self.current == Some(client));
            asks.sort_by_key(|ask| (ask.from, ask.to));
            self.answered.push(Answered { from: call.start.0, to: call_end(call), asks });
        }
    }

    fn asks(&mut self, call: &Call) {
        if self.asking.get(&call.connection).is_some_and(|asking| asking.is_fresh) {
            return;
        }
        match self.current {
            Some(owner) => {
                let (from, turns) = (call_end(call), self.turns);
                self.asking.insert(call.connection, Asking { owner, from, turns, is_fresh: true });
            }
            None => {
                self.asking.remove(&call.connection);
            }
        }
    }

    fn is_told(&mut self, analysis: &Analysis, row: usize) {
        let call = analysis.call(row);
        let Some(asking) = self.asking.get_mut(&call.connection) else {
            self.current = None;
            return;
        };
        let came = analysis.connections.slot(call.connection);
        let came = came.and_then(|slot| arrived(&analysis.connections, slot, asking.from, call));
        let (from, to) = (asking.from, came.unwrap_or(call.start.0).min(call.start.0));
        // A thread that only waited meanwhile waited for this.
        if self.turns > asking.turns && from < to {
            self.asks.entry(asking.owner).or_default().push(Ask { from, to, row });
        }
        self.current = Some(asking.owner);
        *asking = Asking { owner: asking.owner, from: call_end(call), turns: self.turns, is_fresh: false };
    }

    /// The answers, where order tells for whom was asked.
    fn answered(self) -> Vec<Answered> {
        let count = self.answered.len() as u32;
        let is_known = count >= LEAST && f64::from(self.as_expected) >= f64::from(count) * NEARLY_ALL;
        if is_known { self.answered } else { Vec::new() }
    }
}

fn is_transfer(call: &Call) -> bool {
    call.connection != 0 && call.result > 0 && (syscall::is_read(call.number) || syscall::is_write(call.number))
}

fn role_of(analysis: &Analysis, call: &Call) -> Option<u8> {
    let slot = analysis.connections.slot(call.connection).filter(|_| call.connection != 0)?;
    Some(analysis.connections.row(slot).role)
}

#[cfg(test)]
mod tests;
