//! Waits that the other end of a connection ended: whoever wrote what is read, read what is written, or accepted.

use super::{AT_ONCE, Part, Wait, Window, waking};
use crate::analysis::Analysis;
use crate::syscall::{self, Class};
use crate::threads::{Cursor, State, ThreadRows, call_end};
use case::tables::{Call, role};
use case::{Ended, Ender};

/// Whether a wait was for a connection to be there.
pub(super) fn is_connecting(analysis: &Analysis, slot: usize, call: &Call, wait: &Wait) -> bool {
    let row = analysis.connections.row(slot);
    let Window { from, to, .. } = wait.window;
    let ended = || row.established.0 > from && row.established.0.saturating_add(AT_ONCE) >= to;
    call.number == syscall::CONNECT || (row.role == role::CLIENT && ended())
}

/// The other end that ended a poll of many connections by writing, where that of the one that was read first had written nothing
/// meanwhile: what it was read for came while others' answers were at hand.
pub(super) fn other_answer(analysis: &Analysis, thread: &ThreadRows, first: usize, wait: &Wait) -> Option<usize> {
    let Window { from, to, .. } = wait.window;
    let rows = analysis.connections.transfer_numbers(first);
    let since = rows.partition_point(|&row| call_end(analysis.call(row as usize)) <= from);
    let mut meanwhile =
        rows[since..].iter().map(|&row| analysis.call(row as usize)).take_while(|call| call.start.0 <= to);
    if meanwhile.any(|call| syscall::is_write(call.number)) {
        return None;
    }
    let (_, call) = waking(analysis, thread, wait)?;
    let call = call.filter(|call| syscall::is_write(call.number) && call.connection != 0)?;
    let slot = analysis.connections.slot(call.connection)?;
    let ours = analysis.connections.row(analysis.connections.all()[slot].peer?);
    (ours.pid == thread.pid).then_some(slot)
}

/// Whoever closed the other end of a connection while it was waited for: the thread of that program that woke this one, else the
/// one that used the connection last. There is no row of a close.
pub(super) fn closed(analysis: &Analysis, thread: &ThreadRows, peer: usize, wait: &Wait) -> Option<Window> {
    let threads = analysis.threads.all();
    let pid = analysis.connections.row(peer).pid;
    let waker = waking(analysis, thread, wait).map(|(slot, _)| slot).filter(|&slot| threads[slot].pid == pid);
    let last = || {
        let rows = analysis.connections.transfer_numbers(peer);
        let begun = rows.partition_point(|&row| call_end(analysis.call(row as usize)) <= wait.window.to);
        analysis.threads.slot(analysis.call(rows[begun.checked_sub(1)?] as usize).tid)
    };
    let window = Window { thread: waker.or_else(last)?, ..wait.window };
    (threads[window.thread].tid != thread.tid).then_some(window)
}

/// A wait that the other end of a connection ended: by writing what was read here, or by reading what was written here. What
/// is left after its call was under way.
pub(super) fn ended(analysis: &Analysis, peer: usize, writing: bool, wait: &Wait, emit: &mut dyn FnMut(Part)) {
    let Window { from, to, .. } = wait.window;
    let network = |ns: u64| Part::Other(Ended { by: Ender::Network, ns });
    let rows = analysis.connections.transfer_numbers(peer);
    // They are in order of their ends: the one that woke us may end after it did so.
    let ended = rows.partition_point(|&row| call_end(analysis.call(row as usize)) <= to);
    let fits = |row: &&u32| {
        let call = analysis.call(**row as usize);
        call.start.0 <= to && syscall::is_write(call.number) != writing
    };
    let just_after = rows[ended..].iter().take(2).find(fits);
    let Some(&row) = just_after.or_else(|| rows[..ended].iter().rev().find(fits)) else {
        // It sent nothing so far: the end of the stream, or a connection that was just opened.
        let thread = rows.first().and_then(|&row| analysis.threads.slot(analysis.call(row as usize).tid));
        let by_thread = thread.map(|thread| Part::Thread(Window { thread, ..wait.window }));
        return emit(by_thread.unwrap_or(Part::Other(Ended { by: Ender::Unknown, ns: to - from })));
    };
    let call = analysis.call(row as usize);
    let done = call_end(call).clamp(from, to);
    if from < done
        && let Some(thread) = analysis.threads.slot(call.tid)
    {
        let taken = taken(analysis, peer, thread).filter(|taken| from < taken.until);
        let until = taken.as_ref().map_or(from, |taken| taken.until.min(done));
        if let Some(taken) = taken {
            emit(Part::Thread(Window { thread: taken.thread, from, to: until, ..wait.window }));
        }
        if until < done {
            emit(Part::Thread(Window { thread, from: until, to: done, ..wait.window }));
        }
    }
    if done < to {
        emit(network(to - done));
    }
}

/// Who took a connection from its listener's queue.
pub(crate) struct Taken<'r> {
    /// The `accept`.
    pub accept: &'r Call,
    /// Its thread's place in the table of threads.
    pub thread: usize,
    /// Until when that one has it, and not the thread that then serves it: until it is accepted, and that one there.
    pub until: u64,
}

/// Who took a connection from its listener's queue, where that is not the thread that serves it.
pub(crate) fn taken<'r>(analysis: &Analysis<'r>, slot: usize, serves: usize) -> Option<Taken<'r>> {
    let accept = analysis.call(analysis.connections.all()[slot].accept?);
    let thread = analysis.threads.slot(accept.tid).filter(|&thread| thread != serves)?;
    Some(Taken { accept, thread, until: call_end(accept).max(analysis.threads.all()[serves].start) })
}

/// Whoever accepted a connection late, which its client had to ask for again: what it did meanwhile kept it from that, unless it
/// was idle.
pub(super) fn busy_acceptor(analysis: &Analysis, slot: usize, wait: &Wait) -> Option<Window> {
    let rows = &analysis.connections.all()[slot];
    let Window { from, to, .. } = wait.window;
    if !rows.repairs.iter().any(|&(start, end)| start < to && from < end) {
        return None;
    }
    let accept = analysis.call(analysis.connections.all()[rows.peer?].accept?);
    let thread = analysis.threads.slot(accept.tid)?;
    let mut idle = 0;
    analysis.threads.walk(thread, from, to, &mut Cursor::default(), &mut |moment| {
        let class = moment.call.map(|row| syscall::class(analysis.call(row).number));
        let is_blocked = matches!(moment.state, State::Blocked | State::Absent);
        idle += if is_blocked && matches!(class, Some(Class::Accept | Class::Poll) | None) {
            moment.end - moment.start
        } else {
            0
        };
    });
    (idle * 2 < to - from).then_some(Window { thread, ..wait.window })
}
