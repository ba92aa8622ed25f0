//! Which programs the watched processes run: their lifetimes, their mapped code, their interpreters.

use crate::events::{ExecEvent, ExitEvent, ForkEvent, MappingEvent};
use crate::lifetimes::{self, Lifetimes};
use crate::places::Places;
use crate::runtime;
use crate::scripts::{self, Interpreter, Walk};
use crate::stack::CodeFile;
use aya::maps::{Array, HashMap, MapData};
use case::Nanos;
use rustc_hash::FxHashMap;

/// When a new program is looked at, after it began: its libraries are mapped within the first milliseconds, and what
/// it loads later is found by the later looks. In milliseconds.
const LOOKS: [u64; 4] = [5, 50, 300, 1_500];

/// The maps by which the kernel side learns of interpreters.
pub struct InterpreterMaps {
    /// Where the frames are, by process.
    pub offsets: HashMap<MapData, u32, Walk>,
    /// Whether there is any, for the kernel side to look for frames at all.
    pub any: Array<MapData, u32>,
}

/// What is known of the watched programs.
pub struct Programs {
    /// When they ran.
    pub lifetimes: Lifetimes,
    /// None where nothing is recorded, but given (a test).
    maps: Option<InterpreterMaps>,
    interpreters: FxHashMap<u32, Interpreter>,
    looks: Vec<(Nanos, u32)>,
}

impl Programs {
    /// None yet.
    pub fn new(maps: Option<InterpreterMaps>) -> Programs {
        Programs { lifetimes: Lifetimes::default(), maps, interpreters: FxHashMap::default(), looks: Vec::new() }
    }

    /// A thread or a process began. Returns whether it is a process of its own.
    pub fn forked(&mut self, event: &ForkEvent, places: &mut Places) -> bool {
        let is_process = self.lifetimes.forked(event);
        if is_process {
            places.native.inherit(event.parent_pid, event.pid);
            if let Some(interpreter) = self.interpreters.get(&event.parent_pid).copied() {
                self.install(event.pid, interpreter);
            }
        }
        is_process
    }

    /// A process is watched that runs its program already.
    pub fn found(&mut self, pid: u32, now: Nanos, places: &mut Places) {
        places.native.hold_root(pid);
        self.look(pid, places);
        self.looks.extend(LOOKS.map(|after| (now + Nanos(after * 1_000_000), pid)));
    }

    /// A process began another program.
    pub fn executed(&mut self, event: &ExecEvent, places: &mut Places) {
        let (pid, began, path) = (event.pid, Nanos(event.time), lifetimes::text(&event.executable));
        self.forget(pid, places);
        self.lifetimes.executed(pid, (event.device, event.inode), &path, began);
        places.native.hold_root(pid);
        let file = CodeFile { device: event.device, inode: event.inode, path };
        // A program that lives for a moment may be gone already.
        if !places.native.learn(pid) {
            places.native.executed(pid, &file, event.text_start..event.text_end, event.interpreter);
        }
        self.look(pid, places);
        self.looks.extend(LOOKS.map(|after| (began + Nanos(after * 1_000_000), pid)));
    }

    /// A process mapped code of the file at `path`, as far as that is known.
    pub fn mapped(event: &MappingEvent, path: String, places: &mut Places) {
        let file = CodeFile { device: event.device, inode: event.inode, path };
        let addresses = event.start..event.start.saturating_add(event.length);
        places.native.mapped(event.pid, &file, addresses, event.file_offset);
    }

    /// A thread ended. Returns whether its process did.
    pub fn exited(&mut self, event: &ExitEvent, places: &mut Places) -> bool {
        self.lifetimes.exited(event);
        let is_process = event.tid == event.pid;
        if is_process {
            self.forget(event.pid, places);
        }
        is_process
    }

    /// Looks at the programs whose time has come.
    pub fn look_at_due(&mut self, now: Nanos, places: &mut Places) {
        let due: Vec<u32> = self.looks.iter().filter(|(at, _)| *at <= now).map(|(_, pid)| *pid).collect();
        self.looks.retain(|(at, _)| *at > now);
        for pid in due {
            self.look(pid, places);
        }
    }

    /// What interprets a process's script.
    pub fn interpreter(&self, pid: u32) -> Option<&Interpreter> {
        self.interpreters.get(&pid)
    }

    /// Looks at what a process has mapped, and whether an interpreter is among it.
    fn look(&mut self, pid: u32, places: &mut Places) {
        places.native.learn(pid);
        self.lifetimes.look(pid);
        let mapped: Vec<String> = places.native.mapped_paths(pid).into_iter().map(|(path, _, _)| path).collect();
        self.lifetimes.runs_on(pid, runtime::detect(&places.resolver, pid, &mapped));
        if !self.interpreters.contains_key(&pid)
            && let Some(interpreter) = scripts::locate(&places.resolver, pid)
        {
            self.install(pid, interpreter);
        }
    }

    fn install(&mut self, pid: u32, interpreter: Interpreter) {
        // Where the map is full (its limit is in scripts.bpf.h), this process's script lines stay unknown.
        let Some(maps) = &mut self.maps else { return };
        if maps.offsets.insert(pid, interpreter.walk(), 0).is_ok() {
            self.interpreters.insert(pid, interpreter);
            // Setting an entry of an array cannot fail for want of room.
            let _ = maps.any.set(0, 1, 0);
        }
    }

    fn forget(&mut self, pid: u32, places: &mut Places) {
        places.native.forget(pid);
        places.scripts.forget(pid);
        if let (Some(_), Some(maps)) = (self.interpreters.remove(&pid), &mut self.maps) {
            // The entry may be gone already: there is nothing to undo then.
            let _ = maps.offsets.remove(&pid);
        }
        self.looks.retain(|(_, other)| *other != pid);
    }
}
