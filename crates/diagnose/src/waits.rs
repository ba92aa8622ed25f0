//! Who waits for whom. The thread that makes an exchange's next transfer answers for the time until then, as in the
//! ledger; where it was blocked, whoever ended the wait is asked what it did meanwhile, and so on.
//!
//! Only time is followed, never blame: whoever ended a wait need not have been able to end it earlier.

mod cost;
mod group;
mod kinds;
mod queue;
mod rows;
mod served;

use crate::analysis::Analysis;
use crate::analysis::asked::Asked;
use crate::analysis::ender::{self, Part, Wait, Window};
use crate::analysis::ledger::Object;
use crate::exchange::Exchange;
use crate::images::Images;
use crate::syscall;
use crate::threads::{Cursor, Moment, State, call_end};
use case::tables::role;
use case::{End, Ended, Ender, WaitNode, WaitTree};
use group::{Group, Groups};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::BTreeMap;

pub use cost::RequestCost;
pub(crate) use cost::costs;
pub(crate) use group::after_time_outs;
pub(crate) use kinds::Kinds;
pub(crate) use queue::{most_at_a_time, queue};
pub use rows::rows;
pub(crate) use served::unread;

/// So many exchanges are followed at most: those of one kind tell the same story.
const MOST_EXCHANGES: usize = 2_000;
/// So many waits are followed at each step at most, evenly spread, each standing for those beside it.
const MOST_WINDOWS: usize = 20_000;
/// Threads hand over to threads: as many steps as a request takes through a proxy, a service, its pool and a database,
/// each with a thread that reads and one that works.
const MOST_STEPS: usize = 10;
/// So many threads may have had a lock one after the other while one waited for it.
const MOST_TURNS: usize = 64;
/// What takes less of the whole than this is not shown, and not followed.
const MATTERS: f64 = 0.02;

/// A stretch of a thread's time for which exchanges waited, directly or through others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    /// The thread's place in the table of threads.
    pub thread: usize,
    pub from: u64,
    pub to: u64,
    /// How many times it counts, so that stretches stand for all exchanges: also for those that were not followed.
    pub weight: f64,
}

/// Everything that exchanges waited for; none where there were no exchanges.
pub(crate) fn stretches(analysis: &Analysis) -> Vec<Stretch> {
    let follower = Follower::new(analysis);
    let (windows, followed) = follower.exchanges();
    let whole: f64 = windows.iter().map(Window::length).sum();
    follower.branches(windows, Scale { least: whole * MATTERS, per: 1.0 }, MOST_STEPS, &Above::default());
    let each = analysis.exchanges.len() as f64 / followed.max(1) as f64;
    let stretch = |one: Window| Stretch { thread: one.thread, from: one.from, to: one.to, weight: one.weight * each };
    follower.passed.into_inner().into_iter().map(stretch).collect()
}

/// Calls back for exchanges, evenly spread where there are many, with all that each by itself waited for; how many exchanges each stands
/// for.
pub(crate) fn stretches_of_each(analysis: &Analysis, each: &mut dyn FnMut(&Exchange, Vec<Stretch>)) -> f64 {
    let follower = Follower::new(analysis);
    let every = analysis.exchanges.len().div_ceil(MOST_EXCHANGES).max(1);
    let followed = analysis.exchanges.iter().step_by(every);
    let stands_for = analysis.exchanges.len() as f64 / followed.len().max(1) as f64;
    for exchange in followed {
        let mut windows = Vec::new();
        follower.exchange(exchange, &mut windows);
        let whole: f64 = windows.iter().map(Window::length).sum();
        follower.branches(windows, Scale { least: whole * MATTERS, per: 1.0 }, MOST_STEPS, &Above::default());
        let passed = follower.passed.take().into_iter();
        each(
            exchange,
            passed.map(|Window { thread, from, to, weight }| Stretch { thread, from, to, weight }).collect(),
        );
    }
    stands_for
}

/// Follows the exchanges, or the subject's first thread where there were none; none where there is nothing to follow.
pub fn tree(analysis: &Analysis) -> Option<WaitTree> {
    let follower = Follower::new(analysis);
    let (windows, followed) = match follower.exchanges() {
        (windows, 0) => (follower.subject().map_or(windows, |window| vec![window]), 0),
        found => found,
    };
    let mut tree = follower.tree(windows, followed)?;
    if followed == 0 {
        tree.branches.iter_mut().for_each(without_end);
    }
    Some(tree)
}

/// Follows some exchanges, by their places, each by itself; none where there is nothing to follow.
pub fn trees_of(analysis: &Analysis, exchanges: &[usize]) -> Vec<Option<WaitTree>> {
    let follower = Follower::new(analysis);
    let tree = |&index: &usize| {
        let mut windows = Vec::new();
        follower.exchange(&analysis.exchanges[index], &mut windows);
        follower.tree(windows, 1)
    };
    exchanges.iter().map(tree).collect()
}

/// Follows some exchanges, by their places, together; none where there is nothing to follow.
pub(crate) fn tree_of(analysis: &Analysis, exchanges: &[usize]) -> Option<WaitTree> {
    let follower = Follower::new(analysis);
    let mut windows = Vec::new();
    for &index in exchanges {
        follower.exchange(&analysis.exchanges[index], &mut windows);
    }
    follower.tree(windows, exchanges.len())
}

/// The thread that ended a part of a thread's time in which it was blocked, by its place in the table of threads: the one that
/// answers for most of it, where any does.
pub fn ended_by(analysis: &Analysis, thread: usize, moment: &Moment) -> Option<usize> {
    let window = Window { thread, from: moment.start, to: moment.end, weight: 1.0 };
    let wait = Wait { window, call: moment.call, on_disk: moment.state == State::BlockedOnDisk };
    let mut most: Option<Window> = None;
    ender::of(analysis, &wait, &mut |part| {
        if let Part::Thread(window) = part
            && most.is_none_or(|most| window.length() > most.length())
        {
            most = Some(window);
        }
    });
    most.map(|window| window.thread)
}

/// Calls whose waits are being followed: rows of the table of calls. Whoever is found in one of them again waits for itself.
type Above = FxHashSet<usize>;

/// How times are shown.
#[derive(Clone, Copy)]
struct Scale {
    /// What is not worth showing.
    least: f64,
    /// By how many exchanges a time is divided.
    per: f64,
}

struct Follower<'e> {
    analysis: &'e Analysis<'e>,
    images: Images<'e>,
    /// For each connection to a server, the first one to the same server.
    peers: FxHashMap<u32, u32>,
    /// Every stretch that was looked at so far.
    passed: RefCell<Vec<Window>>,
}

impl<'e> Follower<'e> {
    fn new(analysis: &'e Analysis<'e>) -> Follower<'e> {
        let (images, peers) = (Images::new(analysis.recording), peers(analysis));
        Follower { analysis, images, peers, passed: RefCell::default() }
    }

    /// The threads that make exchanges, each for the time until its transfer; and how many exchanges these are of.
    fn exchanges(&self) -> (Vec<Window>, usize) {
        let analysis = self.analysis;
        let every = analysis.exchanges.len().div_ceil(MOST_EXCHANGES).max(1);
        let (mut windows, mut followed) = (Vec::new(), 0);
        for exchange in analysis.exchanges.iter().step_by(every) {
            followed += 1;
            self.exchange(exchange, &mut windows);
        }
        (windows, followed)
    }

    /// The threads that make one exchange, each for the time until its transfer; at a server's end whoever accepted the
    /// connection, until then.
    fn exchange(&self, exchange: &Exchange, windows: &mut Vec<Window>) {
        let mut from = exchange.start;
        for (number, &row) in self.analysis.transfers(exchange).iter().enumerate() {
            let call = self.analysis.call(row as usize);
            let to = call_end(call).clamp(from, exchange.end);
            if let Some(thread) = self.analysis.threads.slot(call.tid) {
                let taken = if number == 0 && exchange.end_seen == End::Server {
                    ender::taken(self.analysis, exchange.connection, thread)
                } else {
                    None
                };
                if let Some(taken) = taken.filter(|taken| from < taken.until) {
                    let until = taken.until.min(to);
                    windows.push(Window { thread: taken.thread, from, to: until, weight: 1.0 });
                    from = until;
                }
                windows.push(Window { thread, from, to, weight: 1.0 });
            }
            from = to;
        }
    }

    /// What some windows went into, of so many exchanges; none where nothing is known of them.
    fn tree(&self, windows: Vec<Window>, followed: usize) -> Option<WaitTree> {
        let whole: f64 = windows.iter().map(Window::length).sum();
        let per = followed.max(1) as f64;
        let branches = self.branches(windows, Scale { least: whole * MATTERS, per }, MOST_STEPS, &Above::default());
        let tree = WaitTree { of_ns: (whole / per) as u64, followed: followed as u64, branches };
        (!tree.branches.is_empty()).then_some(tree)
    }

    /// The whole life of the subject's first thread.
    fn subject(&self) -> Option<Window> {
        let subject = self.analysis.recording.processes.iter().filter(|row| row.role == "client");
        let first = subject.min_by_key(|row| row.start)?;
        let thread = self.analysis.threads.slot(first.pid)?;
        let rows = &self.analysis.threads.all()[thread];
        Some(Window { thread, from: rows.start, to: rows.end, weight: 1.0 })
    }

    /// What threads did in some windows, and for the waits among it what those did who ended them.
    fn branches(&self, windows: Vec<Window>, scale: Scale, steps: usize, above: &Above) -> Vec<WaitNode> {
        let mut groups = Groups::new(self.analysis.recording);
        for window in thinned(windows) {
            for own in self.but_asked(window, above, &mut groups) {
                self.walk(own, above, &mut groups);
                self.passed.borrow_mut().push(own);
            }
        }
        let mut nodes = Vec::new();
        for group in groups.above(scale.least) {
            let mut node = group.node(self.analysis, scale.per);
            if steps > 0 {
                self.follow(&group, scale, steps, above, &mut node);
            }
            nodes.push(node);
        }
        nodes
    }

    /// The parts of a window in which its thread was there for whom it answers in the end: in the others it went on with other
    /// requests, while this one waited for what had been asked for it.
    fn but_asked(&self, window: Window, above: &Above, groups: &mut Groups<'e>) -> Vec<Window> {
        let analysis = self.analysis;
        let asked = analysis.asked.get_or_init(|| Asked::new(analysis));
        let (mut own, mut at) = (Vec::with_capacity(1), window.from);
        for ask in asked.within(&window) {
            own.push(Window { from: at, to: ask.from, ..window });
            at = ask.to;
            if !above.contains(&ask.row) {
                let program = self.images.at(analysis.threads.all()[window.thread].pid, ask.from);
                let wait = Wait {
                    window: Window { from: ask.from, to: ask.to, ..window },
                    call: Some(ask.row),
                    on_disk: false,
                };
                groups.blocked(analysis, program, self.object(ask.row), wait);
            }
        }
        own.push(Window { from: at, ..window });
        own.retain(|part| part.from < part.to);
        own
    }

    fn walk(&self, window: Window, above: &Above, groups: &mut Groups<'e>) {
        let analysis = self.analysis;
        let pid = analysis.threads.all()[window.thread].pid;
        analysis.threads.walk(window.thread, window.from, window.to, &mut Cursor::default(), &mut |moment| {
            let part = Window { from: moment.start, to: moment.end, ..window };
            let program = self.images.at(pid, moment.start);
            match moment.state {
                State::Absent => (),
                // A sender waits for room and its receiver for data: each ends the other's wait, in turns.
                State::Blocked if moment.call.is_some_and(|row| above.contains(&row)) => (),
                State::OnProcessor => groups.on_cpu(analysis, program, part, moment.call),
                State::Runnable => groups.runnable(analysis, program, part, moment.call),
                State::Blocked | State::BlockedOnDisk => {
                    let on_disk = moment.state == State::BlockedOnDisk;
                    let object = moment.call.map_or(Object::Unnamed, |row| self.object(row));
                    groups.blocked(analysis, program, object, Wait { window: part, call: moment.call, on_disk });
                }
            }
        });
    }

    /// What a call was on: a path, or the server that was asked.
    fn object(&self, row: usize) -> Object {
        match crate::analysis::ledger::object(self.analysis, row) {
            Object::Connection(slot) => self.peers.get(&slot).map_or(Object::Unnamed, |slot| Object::Connection(*slot)),
            other => other,
        }
    }

    /// Adds what ended a group's waits.
    fn follow(&self, group: &Group, scale: Scale, steps: usize, above: &Above, node: &mut WaitNode) {
        let mut windows = Vec::new();
        let mut others: BTreeMap<Ender, f64> = BTreeMap::new();
        let mut queue: Vec<(Wait, usize)> = Vec::new();
        for wait in &group.waits {
            queue.push((*wait, 0));
            while let Some((wait, turns)) = queue.pop() {
                ender::of(self.analysis, &wait, &mut |part| match part {
                    Part::Thread(window) if turns < MOST_TURNS && self.is_lock(&wait) => {
                        self.before_its_turn(
                            &wait,
                            window,
                            &mut |before| queue.push((before, turns + 1)),
                            &mut windows,
                        );
                    }
                    Part::Thread(window) => windows.push(window),
                    Part::Other(ended) => *others.entry(ended.by).or_default() += ended.ns as f64 * wait.window.weight,
                });
            }
        }
        let mut ended: Vec<Ended> = others
            .into_iter()
            .filter(|(_, ns)| *ns >= scale.least)
            .map(|(by, ns)| Ended { by, ns: (ns / scale.per) as u64 })
            .collect();
        ended.sort_by_key(|ended| std::cmp::Reverse(ended.ns));
        node.ended = ended;
        if windows.iter().map(Window::length).sum::<f64>() >= scale.least {
            let calls = group.waits.iter().filter_map(|wait| wait.call);
            let above = above.iter().copied().chain(calls).collect();
            node.waits_for = self.branches(windows, scale, steps - 1, &above);
        }
    }

    fn is_lock(&self, wait: &Wait) -> bool {
        wait.call.is_some_and(|row| syscall::class(self.analysis.call(row).number) == syscall::Class::Lock)
    }

    /// Whoever let go of a lock may have waited for it before, at the same place: then those are asked who had it before, and
    /// so on, so that a queue for a lock is one wait for all that was done with it.
    fn before_its_turn(&self, wait: &Wait, window: Window, before: &mut dyn FnMut(Wait), windows: &mut Vec<Window>) {
        let analysis = self.analysis;
        let place = |row: usize| {
            let call = analysis.call(row);
            (call.number, call.stack, call.script_stack)
        };
        let wanted = wait.call.map(place);
        let mut rest: Option<Window> = None;
        analysis.threads.walk(window.thread, window.from, window.to, &mut Cursor::default(), &mut |moment| {
            let part = Window { from: moment.start, to: moment.end, ..window };
            if moment.state == State::Blocked && moment.call.map(place) == wanted {
                windows.extend(rest.take());
                before(Wait { window: part, call: moment.call, on_disk: false });
            } else {
                rest = Some(Window { from: rest.map_or(part.from, |rest| rest.from), ..part });
            }
        });
        windows.extend(rest);
    }
}

/// Every so many of many windows, each standing for those that are left out.
fn thinned(windows: Vec<Window>) -> Vec<Window> {
    let every = windows.len().div_ceil(MOST_WINDOWS).max(1);
    if every == 1 {
        return windows;
    }
    let whole: f64 = windows.iter().map(Window::length).sum();
    let mut kept: Vec<Window> = windows.into_iter().step_by(every).collect();
    let part: f64 = kept.iter().map(Window::length).sum();
    if part > 0.0 {
        for window in &mut kept {
            window.weight *= whole / part;
        }
    }
    kept
}

/// The connections to servers: those to the same address and port are one.
fn peers(analysis: &Analysis) -> FxHashMap<u32, u32> {
    let mut first: FxHashMap<(&str, u16), u32> = FxHashMap::default();
    let mut peers = FxHashMap::default();
    for (slot, row) in analysis.recording.connections.iter().enumerate() {
        if row.role == role::CLIENT {
            let slot = slot as u32;
            peers.insert(slot, *first.entry((&row.remote_address, row.remote_port)).or_insert(slot));
        }
    }
    peers
}

/// Without exchanges there are no ends.
fn without_end(node: &mut WaitNode) {
    node.end = None;
    node.waits_for.iter_mut().for_each(without_end);
}

#[cfg(test)]
mod tests;
