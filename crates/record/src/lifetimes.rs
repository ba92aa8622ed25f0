//! The processes and threads tables: who ran when, as what, and for how long on a processor.

use crate::events::{Counted, ExitEvent, ForkEvent, Sums, ThreadState};
use crate::processes;
use crate::scheduler_sums;
use crate::source::Role;
use case::Nanos;
use case::tables::{Process, SchedulerSum, Thread};
use rustc_hash::FxHashMap;

/// The role of the subject's own processes.
const CLIENT: &str = "client";

/// Everything known of the watched processes and threads.
#[derive(Default)]
pub struct Lifetimes {
    running: FxHashMap<u32, Process>,
    ended: Vec<Process>,
    threads: FxHashMap<u32, Thread>,
    ended_threads: Vec<Thread>,
    sums: Vec<SchedulerSum>,
    /// Whether the kernel counts how long threads wait for a processor; asked for when first needed.
    has_run_delay: Option<bool>,
    /// When the first client began its program, or was watched with all its threads, if it ran already.
    client_began: Option<Nanos>,
    /// The same, of a server that ran already.
    server_attached: Option<Nanos>,
    /// When the last of the client's programs so far ended.
    client_ended: Option<Nanos>,
    /// The paths of programs' files, by device and inode.
    files: FxHashMap<(u32, u64), String>,
}

/// So many files' paths are kept: a program's tools, and not what it builds and runs once.
const MOST_FILES: usize = 4_096;

impl Lifetimes {
    /// A process is followed from now on.
    pub fn followed(&mut self, pid: u32, role: Role, now: Nanos) {
        self.found(pid, role, now);
        self.found_thread(pid, pid, now);
    }

    /// A process that runs already is followed from now on, unless it is known; its threads are added one by one.
    pub fn found(&mut self, pid: u32, role: Role, now: Nanos) {
        if self.running.contains_key(&pid) {
            return;
        }
        let role = match role {
            Role::Client => CLIENT,
            Role::Server => "server",
        };
        let mut process = Process { pid, start: now, role: role.to_string(), exit: -1, ..Process::default() };
        describe(&mut process);
        self.running.insert(pid, process);
    }

    /// A thread is followed from now on, unless it is known: a watched one made it.
    pub fn found_thread(&mut self, tid: u32, pid: u32, now: Nanos) {
        self.threads.entry(tid).or_insert_with(|| Thread { tid, pid, start: now, ..Thread::default() });
    }

    /// A thread that was `found` then had ended before it was followed, and with a first thread its process.
    pub fn was_gone(&mut self, tid: u32, found: Nanos) {
        if self.threads.get(&tid).is_some_and(|thread| thread.start == found) {
            self.threads.remove(&tid);
            if self.running.get(&tid).is_some_and(|process| process.start == found) {
                self.running.remove(&tid);
            }
        }
    }

    /// A process that ran already is followed with all that belongs to it: what the run is about begins here.
    pub fn attached(&mut self, role: Role, now: Nanos) {
        match role {
            Role::Client => drop(self.client_began.get_or_insert(now)),
            Role::Server => self.server_attached = Some(now),
        }
    }

    /// A thread or a process began. Returns whether it is a process of its own.
    pub fn forked(&mut self, event: &ForkEvent) -> bool {
        let start = Nanos(event.time);
        self.threads.insert(event.tid, Thread { tid: event.tid, pid: event.pid, start, ..Thread::default() });
        if event.tid != event.pid {
            return false;
        }
        let parent = self.running.get(&event.parent_pid);
        let mut process = parent.cloned().unwrap_or(Process { role: "other".to_string(), ..Process::default() });
        process.pid = event.pid;
        process.parent = event.parent_pid;
        process.start = start;
        process.exit = -1;
        self.running.insert(event.pid, process);
        true
    }

    /// A process began another program, given as its file's device and inode and as whoever began it called it: its image so far
    /// ends, the next one begins. One that is gone before it can be asked is called as others that ran the same file.
    pub fn executed(&mut self, pid: u32, file: (u32, u64), executable: &str, now: Nanos) {
        let Some(process) = self.running.get_mut(&pid) else { return };
        let mut before = process.clone();
        before.end = now;
        if process.role == CLIENT {
            self.client_began.get_or_insert(now);
            self.client_ended = self.client_ended.max(Some(now));
        }
        self.ended.push(before);
        process.start = now;
        process.runtime.clear();
        process.executable = executable.to_string();
        process.command = executable.to_string();
        process.switches.clear();
        if describe(process) {
            if self.files.len() < MOST_FILES {
                self.files.entry(file).or_insert_with(|| process.executable.clone());
            }
        } else if let Some(known) = self.files.get(&file) {
            process.executable.clone_from(known);
        }
    }

    /// Looks again at a process whose command line could not be read when it began.
    pub fn look(&mut self, pid: u32) {
        if let Some(process) = self.running.get_mut(&pid)
            && process.command == process.executable
        {
            describe(process);
        }
    }

    /// What runs the program became known.
    pub fn runs_on(&mut self, pid: u32, runtime: String) {
        if let Some(process) = self.running.get_mut(&pid)
            && !runtime.is_empty()
        {
            process.runtime = runtime;
        }
    }

    /// A thread ended, and with a process's first thread the process.
    pub fn exited(&mut self, event: &ExitEvent) {
        let now = Nanos(event.time);
        let started = Thread { tid: event.tid, pid: event.pid, start: now, ..Thread::default() };
        let mut thread = self.threads.remove(&event.tid).unwrap_or(started);
        thread.end = now;
        thread.on_cpu = Nanos(event.on_cpu);
        thread.calls = event.calls;
        thread.name = text(&event.name);
        self.ended_threads.push(thread);
        let has_run_delay = self.has_run_delay();
        self.sums.push(scheduler_sums::at_the_exit(event, has_run_delay));
        if event.tid == event.pid
            && let Some(mut process) = self.running.remove(&event.pid)
        {
            process.end = now;
            process.exit = event.code;
            if process.role == CLIENT {
                self.client_ended = self.client_ended.max(Some(now));
            }
            self.ended.push(process);
        }
    }

    fn has_run_delay(&mut self) -> bool {
        *self.has_run_delay.get_or_insert_with(scheduler_sums::counts_run_delay)
    }

    /// A thread that still runs at the end, with the kernel side's account of it, and the scheduler's; none where that could
    /// not be read.
    pub fn still_runs(&mut self, tid: u32, state: &ThreadState, sums: Option<(Sums, u64)>, end: Nanos) {
        let Some(mut thread) = self.threads.remove(&tid) else { return };
        let now_running = if state.on_since > 0 { end.0.saturating_sub(state.on_since) } else { 0 };
        // It may have been made since recording was asked to end.
        thread.end = end.max(thread.start);
        thread.on_cpu = Nanos(state.on_cpu + now_running);
        thread.calls = state.calls;
        if let Some((sums, recorded_calls)) = sums {
            let (ids, has_run_delay) = ((tid, thread.pid), self.has_run_delay());
            let counted = Counted { calls: recorded_calls, ..state.counted() };
            self.sums.push(scheduler_sums::row(ids, state.begin, sums, counted, has_run_delay));
        }
        thread.name = processes::thread_name(thread.pid, tid).unwrap_or_default();
        self.ended_threads.push(thread);
    }

    /// The time that the run is about: from the client's first program (or from when it was attached to) to the end of its
    /// last process. A server's start and stop are outside it. Where no client was followed, or one still runs, the recording's own ends count.
    pub fn window(&self, start: Nanos, end: Nanos) -> (Nanos, Nanos) {
        let runs_on = self.running.values().any(|process| process.role == CLIENT);
        let began = self.client_began.or(self.server_attached);
        (began.unwrap_or(start), self.client_ended.filter(|_| !runs_on && self.client_began.is_some()).unwrap_or(end))
    }

    /// The rows of what has ended since last asked: nobody asks for them again, however many there are.
    pub fn ended(&mut self) -> (Vec<Process>, Vec<Thread>, Vec<SchedulerSum>) {
        (std::mem::take(&mut self.ended), std::mem::take(&mut self.ended_threads), std::mem::take(&mut self.sums))
    }

    /// All rows that are left.
    pub fn finish(mut self, end: Nanos) -> (Vec<Process>, Vec<Thread>, Vec<SchedulerSum>) {
        self.ended.extend(self.running.into_values().map(|process| Process { end: end.max(process.start), ..process }));
        self.ended_threads
            .extend(self.threads.into_values().map(|thread| Thread { end: end.max(thread.start), ..thread }));
        self.ended.sort_by_key(|process| (process.start, process.pid));
        self.ended_threads.sort_by_key(|thread| (thread.start, thread.tid));
        (self.ended, self.ended_threads, self.sums)
    }
}

/// Fills in what /proc tells of a process that still lives; whether it told what the process runs.
fn describe(process: &mut Process) -> bool {
    let Some(found) = processes::describe(process.pid) else { return false };
    process.switches = found.switches;
    process.allowed_processors = found.allowed_processors;
    process.parent = found.parent;
    process.uid = found.uid;
    process.network_namespace = found.network_namespace;
    // Of one that has just ended there is all but that.
    let lives = !found.executable.is_empty();
    if lives {
        process.executable = found.executable;
        process.command = found.command.join(" ");
    }
    lives
}

/// The text before the first NUL.
pub fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_was_gone_leaves_no_row_unless_it_was_seen_to_be_made() {
        let mut lifetimes = Lifetimes::default();
        let (own, found) = (std::process::id(), Nanos(100));
        lifetimes.found(own, Role::Client, found);
        let made = ForkEvent { kind: 9, pad: 0, parent_pid: own, tid: 2, pid: own, time: 90 };
        lifetimes.forked(&made);
        for tid in [own, 2, 3] {
            lifetimes.found_thread(tid, own, found);
        }
        lifetimes.was_gone(2, found);
        lifetimes.was_gone(3, found);
        let (processes, threads, _) = lifetimes.finish(Nanos(200));
        let lives: Vec<_> = threads.iter().map(|row| (row.tid, row.start.0, row.end.0)).collect();
        assert_eq!((processes.len(), lives), (1, vec![(2, 90, 200), (own, 100, 200)]));
    }

    #[test]
    fn a_program_that_was_gone_before_it_was_asked_is_called_as_others_of_its_file() {
        let (mut lifetimes, file) = (Lifetimes::default(), (1, 2));
        let (own, gone) = (std::process::id(), [u32::MAX - 1, u32::MAX - 2]);
        for pid in [own].into_iter().chain(gone) {
            lifetimes.found(pid, Role::Client, Nanos(100));
        }
        lifetimes.executed(gone[0], file, "/bin/first", Nanos(200));
        lifetimes.executed(own, file, "/bin/first", Nanos(300));
        lifetimes.executed(gone[1], file, "/bin/first", Nanos(400));
        lifetimes.executed(gone[1], (1, 3), "/bin/second", Nanos(500));
        let (processes, ..) = lifetimes.finish(Nanos(900));
        let of = |at: u64| processes.iter().find(|row| row.start.0 == at).map_or("", |row| row.executable.as_str());
        assert_eq!((of(200), of(500)), ("/bin/first", "/bin/second"));
        assert!(of(300).starts_with('/') && of(300) == of(400), "{} {}", of(300), of(400));
    }

    #[test]
    fn the_run_of_a_client_that_was_attached_to_begins_when_all_of_it_was_followed() {
        let mut lifetimes = Lifetimes::default();
        lifetimes.found(std::process::id(), Role::Client, Nanos(100));
        lifetimes.attached(Role::Client, Nanos(150));
        assert_eq!(lifetimes.window(Nanos(50), Nanos(900)), (Nanos(150), Nanos(900)));
        let mut server = Lifetimes::default();
        server.attached(Role::Server, Nanos(150));
        assert_eq!(server.window(Nanos(50), Nanos(900)), (Nanos(150), Nanos(900)));
    }
}
