//! Who ended the waits that the ledger books, followed to the last one that is known: waiter, holder, peer, child. The tree of
//! waits tells the steps between; an account has room for the end alone.

use super::Analysis;
use super::ender::{self, Part, Wait, Window};
use super::ledger::{Account, Object};
use crate::place::of_stacks;
use crate::spans;
use crate::syscall;
use crate::threads::{Cursor, Moment, State};
use case::Ender;
use case::facts::{self, CodeLine};
use rustc_hash::FxHashMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// As many steps as a request takes through a proxy, a service, its pool and a database.
const MOST_STEPS: usize = 8;
/// A sample is this old at most, in nanoseconds, where it says what a thread does that has had to make way since: a few of the
/// scheduler's slices, each of some milliseconds.
const RECENT: u64 = 20_000_000;
/// Of what a thread did while it was waited for, so many of the last calls are looked at: what came just before it let go.
const LAST_CALLS: usize = 200;

/// Whoever ended waits, each one once. Found as they are asked for: most waits of a recording are in nobody's way. Breaking the
/// time down asks for all that are booked; what asks side by side afterwards finds them here, and numbers do not depend on who
/// is first.
#[derive(Default)]
pub(crate) struct Awaited {
    known: Mutex<FxHashMap<(usize, u64), Found>>,
    kinds: Mutex<Kinds>,
    at_work: Mutex<Vec<AtWork>>,
    spans_at_work: OnceLock<FxHashMap<u32, Vec<(u64, u64)>>>,
}

/// What a wait was about, and who was at work until it ended.
type Found = (Object, Option<AtWork>);

/// A thread of the process that waited, which had work to do from one time to another: on a processor, or waiting for one.
#[derive(Clone, Copy)]
struct AtWork {
    tid: u32,
    span: (u64, u64),
}

#[derive(Default)]
struct Kinds {
    /// Each with what the call that waited was called on.
    all: Vec<(facts::Awaited, Object)>,
    by_fact: FxHashMap<(facts::Awaited, Object), u32>,
    by_link: FxHashMap<(Link, Object), u32>,
}

/// The last one of a chain: a process, and what it did where.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Link {
    pid: u32,
    /// Whether it is of the process that waits.
    own: bool,
    doing: Doing,
    script_stack: u32,
    stack: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Doing {
    OnCpu,
    Runnable,
    Blocked(u16, Object),
    PageFault,
    Elsewhere,
}

impl Awaited {
    /// What a moment in which a thread was blocked in a call is about: whoever ended it, where that is known, else what it was
    /// called on.
    pub fn of(&self, analysis: &Analysis, thread: usize, moment: &Moment, called_on: Object) -> Object {
        self.found(analysis, thread, moment, called_on).0
    }

    /// The same of a moment in which a request waited: a thread that is at work until it ends works for requests.
    pub fn of_request(&self, analysis: &Analysis, thread: usize, moment: &Moment, called_on: Object) -> Object {
        let (object, at_work) = self.found(analysis, thread, moment, called_on);
        if self.spans_at_work.get().is_none() {
            held(&self.at_work).extend(at_work);
        }
        object
    }

    /// Whether a thread was at work, and a request waited for that. To be asked once the time is broken down.
    pub fn is_at_work(&self, tid: u32, time: u64) -> bool {
        let spans = self.spans_at_work.get_or_init(|| {
            let mut spans: FxHashMap<u32, Vec<(u64, u64)>> = FxHashMap::default();
            held(&self.at_work).drain(..).for_each(|one| spans.entry(one.tid).or_default().push(one.span));
            spans.into_iter().map(|(tid, spans)| (tid, spans::merge(spans))).collect()
        });
        spans.get(&tid).is_some_and(|spans| spans::contain(spans, time))
    }

    fn found(&self, analysis: &Analysis, thread: usize, moment: &Moment, called_on: Object) -> Found {
        let Some(row) = moment.call else { return (called_on, None) };
        if let Some(&known) = held(&self.known).get(&(row, moment.start)) {
            return known;
        }
        let window = Window { thread, from: moment.start, to: moment.until, weight: 1.0 };
        let wait = Wait { window, call: Some(row), on_disk: moment.state == State::BlockedOnDisk };
        let found = match last(analysis, wait) {
            Last::Link(link, window) => {
                let works = link.own && matches!(link.doing, Doing::OnCpu | Doing::Runnable);
                let tid = analysis.threads.all()[window.thread].tid;
                let at_work = works.then_some(AtWork { tid, span: (window.from, window.to) });
                (Object::Awaited(self.number(analysis, link, called_on)), at_work)
            }
            Last::TimeOut if called_on == Object::Unnamed && !syscall::is_sleep(analysis.call(row).number) => {
                (Object::TimeOut, None)
            }
            Last::TimeOut | Last::Unknown => (called_on, None),
        };
        held(&self.known).insert((row, moment.start), found);
        found
    }

    /// As a fact.
    pub fn fact(&self, number: u32) -> Box<facts::Awaited> {
        Box::new(held(&self.kinds).all.get(number as usize).map(|(fact, _)| fact.clone()).unwrap_or_default())
    }

    /// What the call that waited was called on.
    pub fn called_on(&self, number: u32) -> Object {
        held(&self.kinds).all.get(number as usize).map_or(Object::Unnamed, |(_, on)| *on)
    }

    fn number(&self, analysis: &Analysis, link: Link, called_on: Object) -> u32 {
        if let Some(&number) = held(&self.kinds).by_link.get(&(link, called_on)) {
            return number;
        }
        let fact = fact(analysis, link);
        let mut kinds = held(&self.kinds);
        let known = kinds.by_fact.get(&(fact.clone(), called_on)).copied();
        let number = known.unwrap_or_else(|| {
            kinds.all.push((fact.clone(), called_on));
            let number = kinds.all.len() as u32 - 1;
            kinds.by_fact.insert((fact, called_on), number);
            number
        });
        kinds.by_link.insert((link, called_on), number);
        number
    }
}

/// What is known, also where another thread panicked over it: nothing is left half done.
fn held<T>(known: &Mutex<T>) -> MutexGuard<'_, T> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where a chain ends.
enum Last {
    /// With when it was waited for.
    Link(Link, Window),
    TimeOut,
    Unknown,
}

fn last(analysis: &Analysis, first: Wait) -> Last {
    let waits = analysis.threads.all()[first.window.thread].pid;
    let (mut wait, mut last) = (first, Last::Unknown);
    for _ in 0..MOST_STEPS {
        let (mut thread, mut other): (Option<Window>, Option<(u64, Ender)>) = (None, None);
        ender::of(analysis, &wait, &mut |part| match part {
            Part::Thread(window) => {
                if thread.is_none_or(|most| window.length() > most.length()) {
                    thread = Some(window);
                }
            }
            Part::Other(ended) => {
                if other.as_ref().is_none_or(|(most, _)| ended.ns > *most) {
                    other = Some((ended.ns, ended.by));
                }
            }
        });
        let other_ns = other.as_ref().map_or(0, |(ns, _)| *ns);
        let Some(window) = thread.filter(|window| window.to - window.from >= other_ns) else {
            let by_itself = matches!(last, Last::Unknown) && matches!(other, Some((_, Ender::Timer)));
            return if by_itself { Last::TimeOut } else { last };
        };
        let Some(mostly) = mostly(analysis, window) else { return last };
        let pid = analysis.threads.all()[window.thread].pid;
        last = Last::Link(Link { pid, own: pid == waits, ..link(analysis, &mostly, window) }, window);
        if !matches!(mostly.state, State::Blocked | State::BlockedOnDisk) {
            return last;
        }
        let window = Window { from: mostly.start, to: mostly.end, ..window };
        wait = Wait { window, call: mostly.call, on_disk: mostly.state == State::BlockedOnDisk };
    }
    last
}

/// What a thread did, and in which call with which stacks where it was blocked.
type Kind = (State, Option<(u16, u32, u32)>);

/// The longest moment of what a thread did most in a window; none where it was not there.
fn mostly(analysis: &Analysis, window: Window) -> Option<Moment> {
    let thread = &analysis.threads.all()[window.thread];
    let calls = &analysis.recording.calls[thread.calls.clone()];
    let until = calls.partition_point(|call| call.start.0 < window.to);
    let from = until.checked_sub(LAST_CALLS).map_or(window.from, |first| calls[first].start.0.max(window.from));
    let key = |moment: &Moment| {
        let stacks = moment.call.map(|row| {
            let call = analysis.call(row);
            (call.number, call.script_stack, call.stack)
        });
        let is_blocked = matches!(moment.state, State::Blocked | State::BlockedOnDisk);
        (moment.state, stacks.filter(|_| is_blocked))
    };
    let mut sums: Vec<(Kind, u64, Moment)> = Vec::new();
    analysis.threads.walk(window.thread, from, window.to, &mut Cursor::default(), &mut |moment| {
        let length = moment.end - moment.start;
        match sums.iter_mut().find(|(known, ..)| *known == key(&moment)) {
            Some((_, sum, longest)) => {
                *sum += length;
                if length > longest.end - longest.start {
                    *longest = moment;
                }
            }
            None => sums.push((key(&moment), length, moment)),
        }
    });
    let there = sums.into_iter().filter(|((state, _), ..)| *state != State::Absent);
    // Of equals the first.
    there.rev().max_by_key(|(_, sum, _)| *sum).map(|(.., moment)| moment)
}

fn link(analysis: &Analysis, moment: &Moment, window: Window) -> Link {
    let call = moment.call.map(|row| analysis.call(row));
    let in_call = call.map_or((0, 0), |call| (call.script_stack, call.stack));
    let (doing, (script_stack, stack)) = match (moment.state, call) {
        (State::OnProcessor, _) => (Doing::OnCpu, sampled(analysis, window).unwrap_or(in_call)),
        (State::Runnable, _) => {
            let window = Window { from: moment.start, to: moment.end, ..window };
            (Doing::Runnable, goes_on_at(analysis, window, moment.call).unwrap_or((0, 0)))
        }
        (_, Some(call)) => {
            let on = moment.call.map_or(Object::Unnamed, |row| super::ledger::object(analysis, row));
            (Doing::Blocked(call.number, on), in_call)
        }
        (State::BlockedOnDisk, None) => (Doing::PageFault, (0, 0)),
        (_, None) => (Doing::Elsewhere, (0, 0)),
    };
    Link { pid: 0, own: false, doing, script_stack, stack }
}

/// Where a thread was when it was last sampled in a window.
fn sampled(analysis: &Analysis, window: Window) -> Option<(u32, u32)> {
    let thread = &analysis.threads.all()[window.thread];
    let samples = &analysis.recording.samples[thread.samples.clone()];
    let last = samples.partition_point(|sample| sample.time.0 < window.to).checked_sub(1).map(|last| &samples[last])?;
    (last.time.0 >= window.from).then_some((last.script_stack, last.stack))
}

/// Where a thread that waits for a CPU goes on once it has one: in the call that it was woken in, or where it was sampled last
/// before it had to make way. None where it was not sampled shortly before.
pub(crate) fn goes_on_at(analysis: &Analysis, window: Window, call: Option<usize>) -> Option<(u32, u32)> {
    let in_call = call.map(|row| analysis.call(row)).map(|call| (call.script_stack, call.stack));
    let before = Window { from: window.from.saturating_sub(RECENT), ..window };
    in_call.filter(|stacks| *stacks != (0, 0)).or_else(|| sampled(analysis, before).filter(|_| call.is_none()))
}

fn fact(analysis: &Analysis, link: Link) -> facts::Awaited {
    let doing = match link.doing {
        Doing::OnCpu => facts::Doing::OnCpu,
        Doing::Runnable => facts::Doing::RunDelay,
        Doing::PageFault => facts::Doing::PageFault,
        Doing::Elsewhere => facts::Doing::BlockedElsewhere,
        Doing::Blocked(number, on) => match Account::OutsideBlocked(number, on).fact(analysis) {
            case::Account::BlockedOutside { call, wait, object } => {
                facts::Doing::Blocked { call, wait, object: object.map(Box::new) }
            }
            _ => facts::Doing::BlockedElsewhere,
        },
    };
    let place = of_stacks(&analysis.code, link.script_stack, link.stack).into_iter().next();
    let code = place.map(|place| CodeLine {
        file: place.file.clone(),
        line: place.line,
        function: place.function.clone(),
        module: place.module,
    });
    let process = analysis.recording.processes.iter().rfind(|row| row.pid == link.pid);
    let program = process.map_or("", |row| analysis.recording.program(row));
    let program = Some(program.to_string()).filter(|_| !link.own);
    facts::Awaited { program, doing, code }
}
