//! Who had the locks that others waited for, and what they did with them.

use super::refused::Locked;
use super::{LockWait, Service, length};
use crate::analysis::Analysis;
use crate::place;
use crate::syscall;
use crate::threads::{Cursor, Moment, State};
use crate::waits;
use case::Share;
use case::syscall::Class;
use case::tables::Call;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Whoever has a lock and is blocked for more of the time does not compute under it.
const MOSTLY: f64 = 0.5;

/// Who had locks, as far as it has been asked.
pub(super) struct Holders {
    /// Who had locks on files, where those are asked for again and again.
    locked: Locked,
    /// The waits of each thread, in order of their ends, with the share of them in which requests had the lock.
    known: FxHashMap<usize, Vec<(Moment, f64)>>,
    pub doing: Doing,
}

impl Holders {
    pub(super) fn new(locked: Locked) -> Holders {
        Holders { locked, known: FxHashMap::default(), doing: Doing::default() }
    }

    /// For how long of a wait other requests had the lock. Whoever let go of it may have waited before for somebody else who had
    /// it: of that part it is known from that wait, which ended earlier.
    pub(super) fn held_by_requests(
        &mut self,
        analysis: &Analysis,
        services: &FxHashMap<usize, Vec<Service>>,
        wait: &LockWait,
    ) -> u64 {
        if let Some(path) = wait.asks_for {
            return self.had_it_meanwhile(analysis, path, wait);
        }
        let Some(holder) = waits::ended_by(analysis, wait.thread, &wait.moment) else { return 0 };
        let its_services = services.get(&holder).map_or(&[][..], Vec::as_slice);
        let is_busy_with_another =
            during(its_services, (wait.moment.start, wait.moment.end)).any(|one| one.exchange != wait.exchange);
        let mut held = 0.0;
        if holder != wait.thread && is_busy_with_another {
            let turns = self.known.get(&holder).map_or(&[][..], Vec::as_slice);
            let Moment { start, end, .. } = wait.moment;
            analysis.threads.walk(holder, start, end, &mut Cursor::default(), &mut |moment| {
                let is_between = during(its_services, (moment.start, moment.end)).next().is_none();
                let share = self.doing.add(analysis, turns, &moment, is_between);
                held += length(&moment) as f64 * share;
            });
        }
        let share = held / length(&wait.moment).max(1) as f64;
        self.known.entry(wait.thread).or_default().push((wait.moment, share));
        held as u64
    }

    /// For how long of a sleep other requests had the lock on a file that is asked for after it.
    fn had_it_meanwhile(&mut self, analysis: &Analysis, path: u32, wait: &LockWait) -> u64 {
        let Moment { start, end, .. } = wait.moment;
        let mut held = 0;
        for hold in self.locked.during(path, (start, end)).filter(|hold| hold.thread != wait.thread) {
            if hold.exchange == wait.exchange {
                continue;
            }
            let (from, to) = (hold.from.max(start), hold.to.min(end));
            analysis.threads.walk(hold.thread, from, to, &mut Cursor::default(), &mut |moment| {
                held += length(&moment);
                self.doing.add(analysis, &[], &moment, false);
            });
        }
        held.min(end - start)
    }
}

/// What a thread dealt with during some time.
fn during(all: &[Service], (from, to): (u64, u64)) -> impl Iterator<Item = &Service> {
    let first = all.partition_point(|one| one.to <= from);
    all[first..].iter().take_while(move |one| one.from < to)
}

/// What those did who had the lock.
#[derive(Default)]
pub(super) struct Doing {
    on_cpu: u64,
    /// For how long they were blocked between two requests.
    between: u64,
    blocked: BTreeMap<u16, u64>,
    /// Where they were blocked: a script's stack and a native one.
    stacks: BTreeMap<(u32, u32), u64>,
}

impl Doing {
    /// Adds a moment of a thread that let go of a lock later, and says which share of it a request had the lock. `turns` are that
    /// thread's own waits for locks.
    fn add(&mut self, analysis: &Analysis, turns: &[(Moment, f64)], moment: &Moment, is_between: bool) -> f64 {
        let call = moment.call.map(|row| analysis.call(row));
        match (moment.state, call) {
            (State::OnProcessor, _) => self.on_cpu += length(moment),
            (State::Blocked | State::BlockedOnDisk, Some(call)) => {
                let first = turns.partition_point(|(turn, _)| turn.end <= moment.start);
                // It waited for its own turn, and not for a time to pass.
                if let Some((_, share)) = turns.get(first).filter(|(turn, _)| turn.start < moment.end) {
                    return *share;
                }
                if case::syscall::class(call.number) != Class::Lock || call.result == syscall::TIMED_OUT {
                    self.between += if is_between { length(moment) } else { 0 };
                    self.add_blocked(call, length(moment));
                }
            }
            _ => (),
        }
        1.0
    }

    fn add_blocked(&mut self, call: &Call, length: u64) {
        for sum in [
            self.blocked.entry(call.number).or_default(),
            self.stacks.entry((call.script_stack, call.stack)).or_default(),
        ] {
            *sum = sum.saturating_add(length);
        }
    }

    /// For how much of the time they were blocked.
    pub(super) fn blocked_share(&self) -> f64 {
        let blocked = self.blocked.values().sum::<u64>();
        blocked as f64 / (self.on_cpu + blocked).max(1) as f64
    }

    /// Whether it was mostly kept from one request to the next of the same connection.
    fn is_kept_between(&self) -> bool {
        self.between_share() > 0.5
    }

    fn between_share(&self) -> f64 {
        self.between as f64 / (self.on_cpu + self.blocked.values().sum::<u64>()).max(1) as f64
    }

    pub(super) fn remedy(&self) -> &'static str {
        if self.is_kept_between() {
            "Release the lock before the answer: end a transaction in the request that changes what others wait for, or \
             change that last; do nothing else while it is open."
        } else if self.blocked_share() > MOSTLY {
            "Do what is slow before or after holding the lock, or use finer locks instead of one for everything. Where threads \
             wait for something of a pool's, such as a connection to a database, give the pool more of them."
        } else {
            "Do what is slow before or after holding the lock, use finer locks instead of one for everything, or processes \
             instead of threads where it is the interpreter's lock."
        }
    }

    pub(super) fn in_words(&self, analysis: &Analysis) -> String {
        let blocked = self.blocked_share();
        if self.is_kept_between() {
            return format!(
                "Whoever held it had answered its own request and waited for the next one {} of the time: the lock stays \
                 taken between the requests of a connection, as a transaction's does until it is ended.",
                Share(self.between_share())
            );
        }
        let most = self.blocked.iter().max_by_key(|(_, length)| **length).map(|(&number, _)| syscall::name(number));
        match most.filter(|_| blocked > MOSTLY) {
            Some(call) => {
                let stacks = self.stacks.iter().map(|(&stacks, &length)| (stacks, length));
                let place = place::of_most(&analysis.code, stacks).in_words();
                format!("Whoever held it was blocked {} of the time, mostly in {call}{place}.", Share(blocked))
            }
            None => format!("Whoever held it was on CPU {} of the time.", Share(1.0 - blocked)),
        }
    }
}
