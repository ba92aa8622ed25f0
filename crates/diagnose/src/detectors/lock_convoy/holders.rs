//! Who had the locks that others waited for, and what they did with them.

use super::{LockWait, Service, length};
use crate::analysis::Analysis;
use crate::syscall;
use crate::threads::{Cursor, Moment, State};
use crate::waits;
use case::Share;
use case::syscall::Class;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Who had locks, as far as it has been asked.
#[derive(Default)]
pub(super) struct Holders {
    /// The waits of each thread, in order of their ends, with the share of them in which requests had the lock.
    known: FxHashMap<usize, Vec<(Moment, f64)>>,
    pub doing: Doing,
}

impl Holders {
    /// For how long of a wait other requests had the lock. Whoever let go of it may have waited before for somebody else who had
    /// it: of that part it is known from that wait, which ended earlier.
    pub(super) fn held_by_requests(
        &mut self,
        analysis: &Analysis,
        services: &FxHashMap<usize, Vec<Service>>,
        wait: &LockWait,
    ) -> u64 {
        let Some(holder) = waits::ended_by(analysis, wait.thread, &wait.moment) else { return 0 };
        let is_busy_with_another = services.get(&holder).is_some_and(|all| {
            let first = all.partition_point(|one| one.to <= wait.moment.start);
            all[first..].iter().take_while(|one| one.from < wait.moment.end).any(|one| one.exchange != wait.exchange)
        });
        let mut held = 0.0;
        if holder != wait.thread && is_busy_with_another {
            let turns = self.known.get(&holder).map_or(&[][..], Vec::as_slice);
            let during = &wait.moment;
            analysis.threads.walk(holder, during.start, during.end, &mut Cursor::default(), &mut |moment| {
                let share = self.doing.add(analysis, turns, &moment);
                held += length(&moment) as f64 * share;
            });
        }
        let share = held / length(&wait.moment).max(1) as f64;
        self.known.entry(wait.thread).or_default().push((wait.moment, share));
        held as u64
    }
}

/// What those did who had the lock.
#[derive(Default)]
pub(super) struct Doing {
    on_cpu: u64,
    blocked: BTreeMap<u16, u64>,
}

impl Doing {
    /// Adds a moment of a thread that let go of a lock later, and says which share of it a request had the lock. `turns` are that
    /// thread's own waits for locks.
    fn add(&mut self, analysis: &Analysis, turns: &[(Moment, f64)], moment: &Moment) -> f64 {
        let call = moment.call.map(|row| analysis.call(row));
        match (moment.state, call) {
            (State::OnProcessor, _) => self.on_cpu += length(moment),
            (State::Blocked, Some(call)) if case::syscall::class(call.number) == Class::Lock => {
                let first = turns.partition_point(|(turn, _)| turn.end <= moment.start);
                // It waited for its own turn, and not for a time to pass.
                if let Some((_, share)) = turns.get(first).filter(|(turn, _)| turn.start < moment.end) {
                    return *share;
                }
                if call.result == syscall::TIMED_OUT {
                    *self.blocked.entry(call.number).or_default() += length(moment);
                }
            }
            (State::Blocked | State::BlockedOnDisk, Some(call)) => {
                *self.blocked.entry(call.number).or_default() += length(moment);
            }
            _ => (),
        }
        1.0
    }

    /// For how much of the time they were blocked.
    pub(super) fn blocked_share(&self) -> f64 {
        let blocked = self.blocked.values().sum::<u64>();
        blocked as f64 / (self.on_cpu + blocked).max(1) as f64
    }

    pub(super) fn in_words(&self) -> String {
        let blocked = self.blocked_share();
        let most = self.blocked.iter().max_by_key(|(_, length)| **length).map(|(&number, _)| syscall::name(number));
        match most.filter(|_| blocked > 0.5) {
            Some(call) => format!("Whoever held it was blocked {} of the time, mostly in {call}.", Share(blocked)),
            None => format!("Whoever held it was on CPU {} of the time.", Share(1.0 - blocked)),
        }
    }
}
