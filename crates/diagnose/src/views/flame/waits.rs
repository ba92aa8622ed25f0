//! Where threads were blocked: each blocked call in its stack, with what it waited for as the innermost step.

use super::call_path::CallPath;
use super::program::{executable, root};
use super::programs::{Moment, Programs};
use crate::analysis::Analysis;
use crate::analysis::ledger::{Account, Object, object};
use crate::code::KERNEL_MODULE;
use crate::connections::End;
use crate::images::Images;
use crate::profile::naming::Names;
use crate::profile::{Frame, Time};
use crate::syscall;
use crate::threads::{ThreadRows, call_end};
use case::Nanos;
use case::facts::Transport;
use case::tables::{Call, Process, reason, role};
use std::collections::{BTreeMap, BTreeSet};

/// What was waited in, so that equal waits are added up: the program's image, both stacks and the account.
type Kind = (Option<(u32, Nanos)>, u32, u32, Account);

/// The waits of all threads.
#[derive(Default)]
pub struct Waits {
    /// Their stacks.
    pub programs: Programs,
    threads: BTreeSet<u32>,
    /// Time in which servers waited for work: left out.
    idle: u64,
}

/// Gathers the waits of every thread.
pub fn of_threads(analysis: &Analysis) -> Waits {
    let images = Images::new(analysis.recording);
    let servers = servers(analysis);
    let mut waits = Waits::default();
    let mut kinds: BTreeMap<Kind, (Option<&Process>, Time)> = BTreeMap::new();
    for thread in analysis.threads.all() {
        let serves = servers.contains(&thread.pid);
        each_wait(analysis, thread, &mut |from, to, blocked, call, account| {
            let for_work = call.map_or(account == Account::BlockedElsewhere(End::Client), waits_for_work);
            let idle =
                if serves && for_work { blocked.saturating_sub(analysis.split(thread.tid, from, to).0) } else { 0 };
            waits.idle += idle;
            if blocked == idle {
                return;
            }
            waits.threads.insert(thread.tid);
            let process = images.at(thread.pid, from);
            let image = process.map(|row| (row.pid, row.start));
            let stacks = call.map_or((0, 0), |call| (call.stack, call.script_stack));
            let kind = kinds.entry((image, stacks.0, stacks.1, account)).or_insert((process, Time::default()));
            kind.1 += Time { ns: blocked - idle, samples: 1 };
        });
    }
    for ((_, stack, script_stack, account), (process, time)) in kinds {
        let path = without_wrapper(CallPath::new(&analysis.code, stack, script_stack, executable(process)));
        let leaf = Some(Frame { function: name(analysis, account), module: KERNEL_MODULE.to_string() });
        let names = Names::AS_RECORDED;
        waits.programs.add(Moment { root: root(process, names), path, leaf, time }, names);
    }
    waits
}

impl Waits {
    /// What the times are of.
    pub fn in_words(&self) -> String {
        let time = Nanos(self.programs.time().ns);
        let mut words = match self.threads.len() {
            0 => String::new(),
            1 => format!("{time} in which one thread was blocked"),
            threads => format!("{time} in which {threads} threads were blocked, added up"),
        };
        if self.idle > 0 {
            let apart = if words.is_empty() { "" } else { "; " };
            words += apart;
            words += &Nanos(self.idle).to_string();
            words += " in which servers waited for work is left out";
        }
        words
    }
}

/// Hands over each wait of a thread: its span, how long of it was blocked, the call, and what it is booked to.
fn each_wait<'r>(
    analysis: &Analysis<'r>,
    thread: &ThreadRows,
    emit: &mut dyn FnMut(u64, u64, u64, Option<&'r Call>, Account),
) {
    // No wait is longer than what was watched: a row that says so is damaged.
    let wall = analysis.wall();
    let calls = &analysis.recording.calls[thread.calls.clone()];
    for (row, call) in thread.calls.clone().zip(calls).filter(|(_, call)| call.blocked.0 > 0) {
        let account = Account::Blocked(End::Client, call.number, object(analysis, row));
        emit(call.start.0, call_end(call), call.blocked.0.min(wall), Some(call), account);
    }
    for row in &analysis.recording.switches[thread.switches.clone()] {
        let before = calls.partition_point(|call| call.start <= row.start);
        let in_call = before.checked_sub(1).is_some_and(|index| call_end(&calls[index]) > row.start.0);
        let blocked = (row.runnable - row.start).0.min(wall);
        if in_call || blocked == 0 || row.reason == reason::PREEMPTED {
            continue;
        }
        let on_disk = row.reason == reason::UNINTERRUPTIBLE;
        let account = if on_disk { Account::PageFault(End::Client) } else { Account::BlockedElsewhere(End::Client) };
        emit(row.start.0, row.runnable.0, blocked, None, account);
    }
}

/// The processes that answer others.
fn servers(analysis: &Analysis) -> BTreeSet<u32> {
    let recording = analysis.recording;
    let accepts = recording.connections.iter().filter(|row| matches!(row.role, role::SERVER | role::LISTENER));
    let called_so = recording.processes.iter().filter(|row| row.role == "server");
    accepts.map(|row| row.pid).chain(called_so.map(|row| row.pid)).collect()
}

/// Whether a server that has nothing to do would be in this call.
fn waits_for_work(call: &Call) -> bool {
    let number = call.number;
    let reads = syscall::is_read(number) && call.path == 0;
    let sleeps = syscall::is_sleep(number) || syscall::class(number) == syscall::Class::WaitForSignal;
    let for_others = syscall::is_wait_for_child(number) || number == syscall::FUTEX;
    syscall::is_poll(number) || syscall::is_accept(number) || reads || sleeps || for_others
}

/// A path without the C library's function that makes the call: the call itself is named.
fn without_wrapper(mut path: CallPath) -> CallPath {
    while path.places.len() > 1 && path.places.last().is_some_and(|place| place.is_libc) {
        path.places.pop();
    }
    path
}

/// The ledger's words; a client of many is not named, or each would be a step of its own.
fn name(analysis: &Analysis, account: Account) -> String {
    let mut fact = account.fact(analysis);
    if let (case::Account::Blocked { object, .. }, Account::Blocked(_, _, Object::Connection(slot))) =
        (&mut fact, account)
    {
        let row = analysis.connections.row(slot as usize);
        if row.role != role::CLIENT || row.remote_port == 0 {
            *object = Some(case::facts::Object::Socket { transport: Transport::of(row.transport) });
        }
    }
    fact.name()
}
