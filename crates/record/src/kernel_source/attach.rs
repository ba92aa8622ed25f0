//! Following a process that runs already: it, its descendants and all their threads are put into the kernel's table of
//! watched threads. It is looked at through /proc only, never stopped.
//!
//! While this goes on threads and processes come and go. Those that a watched thread makes are followed by the kernel; the
//! others are found by listing again, until a listing has nothing new. A thread that moves between being looked at and
//! being put into the table is looked at again.

use super::KernelSource;
use crate::clock::now;
use crate::counters;
use crate::error::RecordError;
use crate::events::ListenerKey;
use crate::events::Sums;
use crate::listening;
use crate::loaded::refused;
use crate::running::{self, Found};
use crate::source::Role;
use crate::standing::Standing;
use aya::maps::MapError;
use case::Nanos;
use std::collections::BTreeSet;

/// Listings before the rest is left unwatched: each follows one more generation of threads made by unwatched ones, which
/// are fewer each time.
const MOST_LISTINGS: u32 = 50;

/// Looks at a thread that keeps moving. One that still does is as a rule busy, and is then taken to be on a processor or
/// off it as it was seen last: the error ends when it moves next.
const MOST_LOOKS: u32 = 5;

/// Put into a table only where it is not there yet (`BPF_NOEXIST`).
const IF_NEW: u64 = 1;

/// Follows a process with all its threads and descendants.
///
/// # Errors
/// Where it is not there or may not be followed, the table is full, or recording has stopped.
pub fn follow(source: &KernelSource, pid: u32, role: Role) -> Result<(), RecordError> {
    let pid = running::attachable(pid)?;
    let mut processes = BTreeSet::new();
    for _ in 0..MOST_LISTINGS {
        if !follow_listed(source, pid, role, &mut processes)? {
            break;
        }
    }
    if !running::is_running(pid) {
        return Err(RecordError::NoProcess(pid));
    }
    source.ask(move |drain| drain.attached(role))
}

/// Follows what one listing shows and is not followed yet. Says whether there was any.
fn follow_listed(
    source: &KernelSource,
    pid: u32,
    role: Role,
    processes: &mut BTreeSet<u32>,
) -> Result<bool, RecordError> {
    // A program that it has started as somebody else is not followed where we may not follow that.
    let below = listening::descendants(pid).into_iter().filter(|process| running::is_within_reach(*process));
    let listed: Vec<u32> = [pid].into_iter().chain(below).collect();
    let threads = source.threads()?;
    // A process that a watched one has made since is known.
    let is_new = |process: &u32| processes.insert(*process) && threads.get(*process).is_none();
    let new: Vec<u32> = listed.iter().copied().filter(is_new).collect();
    drop(threads);
    let found = now();
    introduce(source, &new, role, found)?;
    let threads_of = |process: u32| running::threads(process).into_iter().map(move |tid| (tid, process));
    // A new process's first thread in any case: that it is gone has to be found out.
    let firsts = new.iter().map(|pid| (*pid, *pid));
    let all: BTreeSet<(u32, u32)> = listed.iter().copied().flat_map(threads_of).chain(firsts).collect();
    let threads = source.threads()?;
    let new: Vec<(u32, u32)> = all.into_iter().filter(|(tid, _)| threads.get(*tid).is_none()).collect();
    drop(threads);
    if new.is_empty() {
        return Ok(false);
    }
    let (added, count) = (new.clone(), new.len());
    source.ask(move |drain| drain.found_threads(&added, found))?;
    let mut gone = Vec::new();
    for (tid, process) in new {
        if !enter(source, tid, process)? {
            gone.push(tid);
        }
    }
    let any_followed = gone.len() < count;
    source.ask(move |drain| drain.were_gone(&gone, found))?;
    Ok(any_followed)
}

/// Tells both sides of processes before their threads are watched.
fn introduce(source: &KernelSource, pids: &[u32], role: Role, now: Nanos) -> Result<(), RecordError> {
    if pids.is_empty() {
        return Ok(());
    }
    let mut all = Vec::with_capacity(pids.len());
    for &pid in pids {
        let namespace = counters::network_namespace(pid).unwrap_or(0);
        let listeners = listening::tcp_listeners(pid);
        let own = listening::sockets(pid);
        let mut table = source.listeners()?;
        for listener in listeners.iter().filter(|listener| own.contains(&listener.inode)) {
            let key = ListenerKey { network_namespace: namespace as u32, port: u32::from(listener.port) };
            // Where a process that shares it came first, it stays that one's. Where the table is full, a connection is
            // known from when it is accepted.
            let _ = table.insert(key, pid, IF_NEW);
        }
        let ports = listeners.into_iter().map(|listener| listener.port).collect();
        all.push(Found { pid, files: running::open_files(pid), namespace, ports });
    }
    // Together: the drain looks for tasks every 20 ms.
    source.ask(move |drain| all.into_iter().for_each(|process| drain.found(process, role, now)))
}

/// Puts a thread into the table as it stands. Returns whether it is there.
fn enter(source: &KernelSource, tid: u32, pid: u32) -> Result<bool, RecordError> {
    let mut threads = source.threads()?;
    for look in 1..=MOST_LOOKS {
        let seen_at = now().0;
        let Some(before) = Standing::look(pid, tid) else { return Ok(false) };
        let begin = Sums::look(pid, tid).unwrap_or_default().before_this_wait();
        match threads.insert(tid, &before.state(pid, seen_at).counted_from(begin), IF_NEW) {
            Ok(()) => {}
            // The kernel side follows it since a moment: a watched thread made it.
            Err(MapError::SyscallError(error)) if error.io_error.raw_os_error() == Some(libc::EEXIST) => {
                return Ok(true);
            }
            Err(error) => return Err(refused("threads", &error)),
        }
        let Some(after) = Standing::look(pid, tid) else {
            // It has ended. Had the kernel side not seen that, another thread could get its id and be watched.
            threads.remove(tid);
            return Ok(false);
        };
        // Where there is no entry any more, the kernel side has seen it end.
        let Some(entry) = threads.get(tid) else { return Ok(true) };
        if after.confirms(&before, &entry) || look == MOST_LOOKS {
            return Ok(true);
        }
        // Nothing of what it did in between is kept: it is looked at again.
        threads.remove(tid);
    }
    Ok(true)
}
