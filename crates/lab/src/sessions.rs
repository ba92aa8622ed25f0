//! Where no control group can be made: the sessions of the programs that we have started tell what belongs to them. What
//! has left its session, as a daemon does, is not found.

use crate::ending;
use crate::journal::{Entry, Journal, Undo, UndoResult};
use std::collections::BTreeSet;

/// Sessions of ours. What runs in them is ended when this is dropped.
pub(crate) struct Sessions {
    leaders: Vec<Leader>,
    journal: Journal,
    entries: Vec<Entry>,
}

/// The process that a session is named after, and when it was started: ids come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Leader {
    pid: u32,
    started_ticks: u64,
}

impl Sessions {
    /// Takes note of processes that lead a session, held still.
    pub fn take(pids: &[u32], journal: &Journal) -> Sessions {
        let all = record::processes();
        let found = pids.iter().filter_map(|pid| all.iter().find(|process| process.pid == *pid));
        let leaders = found.map(|process| Leader { pid: process.pid, started_ticks: process.started_ticks });
        let leaders = leaders.collect::<Vec<_>>();
        let undo = |leader: &Leader| Undo::Session { leader: leader.pid, started_ticks: leader.started_ticks };
        // Without a journal they still end with us, unless we are killed.
        let entries = journal.note(&leaders.iter().map(undo).collect::<Vec<_>>()).unwrap_or_default();
        Sessions { leaders, journal: journal.clone(), entries }
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        let members = || self.leaders.iter().flat_map(|leader| leader.members()).collect::<Vec<_>>();
        let mut ended = ending::end(members, || ());
        ended.extend(self.leaders.iter().map(|leader| leader.pid));
        ending::reap(&ended);
        self.entries.iter().for_each(|entry| self.journal.tick_off(*entry));
    }
}

impl Leader {
    /// The processes in its session.
    fn members(self) -> BTreeSet<u32> {
        let all = record::processes();
        let is_another =
            |process: &record::ProcessStat| process.pid == self.pid && process.started_ticks != self.started_ticks;
        if all.iter().any(is_another) {
            return BTreeSet::new();
        }
        let in_session = all.iter().filter(|process| process.session == self.pid && !process.is_zombie());
        // No session began before its leader.
        in_session.filter(|process| process.started_ticks >= self.started_ticks).map(|process| process.pid).collect()
    }
}

/// Ends what a session that was left behind still holds.
pub(crate) fn undo(leader: u32, started_ticks: u64) -> UndoResult {
    let leader = Leader { pid: leader, started_ticks };
    let running = leader.members();
    if running.is_empty() {
        return UndoResult::WasGone;
    }
    let names = running.iter().map(|pid| format!("{pid} ({})", ending::name(*pid))).collect::<Vec<_>>();
    ending::end(|| leader.members().into_iter().collect(), || ());
    UndoResult::Undone(format!("ended {}", ending::listed(&names)))
}
