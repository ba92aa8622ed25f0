//! What threads did, added up by program and activity.

use super::kinds::words;
use crate::analysis::Analysis;
use crate::analysis::awaited;
use crate::analysis::ender::{self, Wait, Window};
use crate::analysis::ledger::{Account, Object};
use crate::analysis::ready;
use crate::connections::End;
use crate::place::{Located, of_most, of_most_by, of_most_on_cpu, of_stacks, of_what_goes_on};
use crate::syscall;
use case::tables::{Command, Process, direction};
use case::{Activity, Place, Recording, WaitNode};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Waits of which so many are about as long as the median are regular.
const NEARLY_ALL: f64 = 0.9;
/// How far from the median is about as long: a timer fires late, by what a busy machine takes to notice.
const ABOUT: f64 = 0.1;
/// Of so many waits it is asked where the program went on.
const MOST_LOOKED_AT: usize = 200;
/// So much of the time that is waited for an answer stands for all of it.
const MOSTLY: f64 = 0.8;
/// Fewer waits than this are no rule.
const FEW: usize = 3;

/// What a thread did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Doing {
    OnCpu,
    Runnable,
    Blocked(u16, Object),
    PageFault,
    BlockedElsewhere,
}

/// The time of one program in one activity.
pub(super) struct Group {
    program: String,
    end: Option<End>,
    /// The process, and whether there are others.
    pid: u32,
    several: bool,
    doing: Doing,
    ns: f64,
    /// The waits, where it is one.
    pub waits: Vec<Wait>,
    /// Where: the time of each pair of a script's stack and a native one.
    stacks: FxHashMap<(u32, u32), u64>,
    /// The same on a processor within calls, for where there are no samples.
    calls: FxHashMap<(u32, u32), u64>,
}

/// All groups of one step.
pub(super) struct Groups<'r> {
    recording: &'r Recording,
    all: Vec<Group>,
    /// By the number of the program, what it did, and the number of the place where it was blocked.
    slots: FxHashMap<(u32, Doing, u32), usize>,
    /// The first place of each call's stacks that was met, and which of them it is.
    places: Vec<Option<Place>>,
    place_numbers: FxHashMap<(u32, u32), u32>,
    /// The programs: their roles and the names.
    programs: Vec<(&'r str, &'r str)>,
    /// The number of each process's program, by its id and when it became that program.
    numbers: FxHashMap<(u32, u64), u32>,
}

impl<'r> Groups<'r> {
    /// None so far.
    pub fn new(recording: &'r Recording) -> Groups<'r> {
        Groups {
            recording,
            all: Vec::new(),
            slots: FxHashMap::default(),
            places: Vec::new(),
            place_numbers: FxHashMap::default(),
            programs: Vec::new(),
            numbers: FxHashMap::default(),
        }
    }

    fn group(&mut self, process: Option<&'r Process>, doing: Doing, place: u32) -> &mut Group {
        let program = self.program(process);
        let pid = process.map_or(0, |row| row.pid);
        let slot = *self.slots.entry((program, doing, place)).or_insert_with(|| {
            self.all.push(Group {
                program: self.programs[program as usize].1.to_string(),
                end: end(process),
                pid,
                several: false,
                doing,
                ns: 0.0,
                waits: Vec::new(),
                stacks: FxHashMap::default(),
                calls: FxHashMap::default(),
            });
            self.all.len() - 1
        });
        let group = &mut self.all[slot];
        group.several |= group.pid != pid;
        group
    }

    /// Processes that run the same program in the same role are one: workers of a server.
    fn program(&mut self, process: Option<&'r Process>) -> u32 {
        let key = process.map_or((0, 0), |row| (row.pid, row.start.0));
        if let Some(&number) = self.numbers.get(&key) {
            return number;
        }
        let named = process.map_or(("", ""), |row| (row.role.as_str(), self.recording.program(row)));
        let known = self.programs.iter().position(|one| *one == named);
        let number = known.unwrap_or_else(|| {
            self.programs.push(named);
            self.programs.len() - 1
        }) as u32;
        self.numbers.insert(key, number);
        number
    }

    /// Calls at one place wait for one thing, however they were reached.
    fn place(&mut self, analysis: &Analysis, stacks: (u32, u32)) -> u32 {
        if let Some(&number) = self.place_numbers.get(&stacks) {
            return number;
        }
        let first = of_stacks(&analysis.code, stacks.0, stacks.1).into_iter().next();
        let known = self.places.iter().position(|place| *place == first);
        let number = known.unwrap_or_else(|| {
            self.places.push(first);
            self.places.len() - 1
        }) as u32;
        self.place_numbers.insert(stacks, number);
        number
    }

    /// On a processor: where is told by the samples taken meanwhile.
    pub fn on_cpu(&mut self, analysis: &Analysis, process: Option<&'r Process>, window: Window, call: Option<usize>) {
        let group = self.group(process, Doing::OnCpu, 0);
        group.ns += window.length();
        let thread = &analysis.threads.all()[window.thread];
        let samples = &analysis.recording.samples[thread.samples.clone()];
        let first = samples.partition_point(|sample| sample.time.0 < window.from);
        for sample in samples[first..].iter().take_while(|sample| sample.time.0 < window.to) {
            *group.stacks.entry((sample.script_stack, sample.stack)).or_default() += 1;
        }
        if let Some(row) = call {
            let call = analysis.call(row);
            let sum = group.calls.entry((call.script_stack, call.stack)).or_default();
            *sum = sum.saturating_add(window.length() as u64);
        }
    }

    /// Waiting for a processor: where it goes on once it has one.
    pub fn runnable(&mut self, analysis: &Analysis, process: Option<&'r Process>, window: Window, call: Option<usize>) {
        let stacks = awaited::goes_on_at(analysis, window, call);
        let group = self.group(process, Doing::Runnable, 0);
        group.ns += window.length();
        if let Some(stacks) = stacks {
            let sum = group.stacks.entry(stacks).or_default();
            *sum = sum.saturating_add(window.length() as u64);
        }
    }

    /// Blocked.
    pub fn blocked(&mut self, analysis: &Analysis, process: Option<&'r Process>, object: Object, wait: Wait) {
        let call = wait.call.map(|row| analysis.call(row));
        let doing = match call {
            Some(call) => Doing::Blocked(call.number, object),
            None if wait.on_disk => Doing::PageFault,
            None => Doing::BlockedElsewhere,
        };
        let place = call.map_or(0, |call| self.place(analysis, (call.script_stack, call.stack)));
        let group = self.group(process, doing, place);
        group.ns += wait.window.length();
        group.waits.push(wait);
        if let Some(call) = call {
            let sum = group.stacks.entry((call.script_stack, call.stack)).or_default();
            *sum = sum.saturating_add(wait.window.length() as u64);
        }
    }

    /// Those with as much time as that or more, most first.
    pub fn above(self, least: f64) -> Vec<Group> {
        let mut groups: Vec<Group> = self.all.into_iter().filter(|group| group.ns >= least && group.ns > 0.0).collect();
        // The sort is stable: of two equal ones the one that was met first.
        groups.sort_by(|one, other| other.ns.total_cmp(&one.ns));
        groups
    }
}

impl Group {
    /// As a node that waits for nobody yet; times are divided by a number of exchanges.
    pub fn node(&self, analysis: &Analysis, per: f64) -> WaitNode {
        let stacks = if self.stacks.is_empty() { &self.calls } else { &self.stacks };
        let weighed = stacks.iter().map(|(&stack, &weight)| (stack, weight));
        let Located { places, share } = match self.doing {
            Doing::OnCpu | Doing::Runnable => of_most_on_cpu(&analysis.code, weighed),
            _ => of_most(&analysis.code, weighed),
        };
        let mut lengths: Vec<u64> = self.waits.iter().map(|wait| whole_length(analysis, wait)).collect();
        lengths.sort_unstable();
        let usual = lengths.get(lengths.len() / 2).copied().unwrap_or_default();
        let about = |length: &&u64| length.abs_diff(usual) as f64 <= usual as f64 * ABOUT;
        let regular =
            lengths.len() >= FEW && lengths.iter().filter(about).count() as f64 >= lengths.len() as f64 * NEARLY_ALL;
        WaitNode {
            program: self.program.clone(),
            pid: Some(self.pid).filter(|pid| !self.several && *pid > 0),
            end: self.end,
            activity: self.activity(analysis),
            ns: (self.ns / per) as u64,
            count: self.waits.len() as u64,
            usual_ns: usual,
            regular,
            then: self.then(analysis, places.first()),
            asked: self.asked(analysis),
            place: places,
            place_share: share,
            ..WaitNode::default()
        }
    }

    /// Where the program goes on after the waits that time out.
    fn then(&self, analysis: &Analysis, begun: Option<&Place>) -> Vec<Place> {
        let rows = self.waits.iter().filter_map(|wait| Some((wait.call?, wait.window.length() as u64)));
        after_time_outs(analysis, rows, begun).places
    }

    /// What the waits were for that others were asked, where nearly all of them have one answer in common.
    fn asked(&self, analysis: &Analysis) -> String {
        let mut by_words: BTreeMap<String, f64> = BTreeMap::new();
        let mut whole = 0.0;
        if analysis.recording.commands.is_empty() {
            return String::new();
        }
        for wait in self.waits.iter().step_by(self.waits.len().div_ceil(MOST_LOOKED_AT).max(1)) {
            whole += wait.window.length();
            if let Some(command) = wait.call.and_then(|row| asked_before(analysis, row)) {
                *by_words.entry(words(command)).or_default() += wait.window.length();
            }
        }
        let most = by_words.into_iter().max_by(|one, other| one.1.total_cmp(&other.1));
        most.filter(|(_, length)| *length >= MOSTLY * whole).map_or(String::new(), |(words, _)| words)
    }

    fn activity(&self, analysis: &Analysis) -> Activity {
        match self.doing {
            Doing::OnCpu => Activity::OnCpu,
            Doing::Runnable => Activity::RunDelay,
            Doing::PageFault => Activity::PageFault,
            Doing::BlockedElsewhere => Activity::BlockedElsewhere,
            Doing::Blocked(number, object) => match Account::OutsideBlocked(number, object).fact(analysis) {
                case::Account::BlockedOutside { call, wait, object } => Activity::Blocked { call, wait, object },
                _ => Activity::Other,
            },
        }
    }
}

/// The last command that was sent, before a call that waits, on the connection that it waits for.
fn asked_before<'a>(analysis: &Analysis<'a>, row: usize) -> Option<&'a Command> {
    let call = analysis.call(row);
    let connection = if syscall::is_poll(call.number) {
        let (slot, _) = ready::connection(analysis, row)?;
        analysis.connections.row(slot).id
    } else {
        call.connection
    };
    let commands = &analysis.recording.commands;
    let end = commands.partition_point(|one| (one.connection, one.time) <= (connection, call.start));
    let last = commands[..end].last().filter(|one| one.connection == connection)?;
    (last.direction == direction::OUT).then_some(last)
}

/// How long a wait was, also what of it nobody waited for.
fn whole_length(analysis: &Analysis, wait: &Wait) -> u64 {
    let call = wait.call.map(|row| analysis.call(row).blocked.0.min(analysis.wall()));
    call.unwrap_or_default().max(wait.window.to - wait.window.from)
}

/// Where programs go on after waits, rows of the table of calls with their weights, as far as they time out: the first line after
/// one that is not where it was begun.
pub(crate) fn after_time_outs(
    analysis: &Analysis,
    waits: impl Iterator<Item = (usize, u64)>,
    begun: Option<&Place>,
) -> Located {
    let timed_out = waits.filter(|&(row, _)| ender::is_timed_out(analysis.call(row))).filter_map(|(row, weight)| {
        let next = ender::calls_after(analysis, row);
        let stacks = next.map(|call| (call.script_stack, call.stack));
        let elsewhere = |&(script, native): &(u32, u32)| {
            of_what_goes_on(&analysis.code, script, native).first().is_some_and(|place| Some(place) != begun)
        };
        Some((stacks.into_iter().find(elsewhere)?, weight))
    });
    let timed_out: Vec<((u32, u32), u64)> = timed_out.take(MOST_LOOKED_AT).collect();
    of_most_by(timed_out, |script, native| of_what_goes_on(&analysis.code, script, native))
}

/// Which end of the exchanges a process is.
fn end(process: Option<&Process>) -> Option<End> {
    match process.map(|row| row.role.as_str()) {
        Some("client") => Some(End::Client),
        Some("server") => Some(End::Server),
        _ => None,
    }
}
