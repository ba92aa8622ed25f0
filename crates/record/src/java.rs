//! Java programs, seen from outside: what code HotSpot has made in a process, and which methods and lines a place in it is of.
//!
//! HotSpot tells debuggers where it keeps everything, in tables that its library exports; nothing has to be asked of the
//! program, and no agent is loaded. All is read from the memory of a process that nobody trusts, checked, and within bounds:
//! what fails a check is `None`, never a guess. A version whose tables lack something is not read.

mod code;
mod layout;
mod methods;
mod small;
mod tables;
#[cfg(test)]
mod tests;

pub(crate) use code::{Blob, Kind};

use crate::resolver::{Named, Resolver};
use crate::scripts;
use crate::scripts::memory::Memory;
use code::{Code, InMethod};
use layout::Layout;
use methods::Method;
use rustc_hash::FxHashMap;
use std::time::{Duration, Instant};

/// Places, methods and lines that are remembered of one process: 50 MB at most. Beyond it they are read again.
const MOST_KNOWN: usize = 100_000;

/// Lines that are kept, of all processes: 100 MB.
const MOST_LINES: usize = 200_000;

/// After this it is looked again whether what was known of an address is still there. Code that is given up is freed seconds
/// later, when no thread is in it any more; classes are unloaded by collections of garbage.
const BELIEVED: Duration = Duration::from_millis(100);

/// All processes that run Java.
pub(crate) struct Machines {
    resolver: Resolver,
    /// None for processes that run none, or one that is not read.
    known: FxHashMap<u32, Option<Machine>>,
    lines: Lines,
}

/// The lines that were met, by number.
#[derive(Default)]
struct Lines {
    all: Vec<Named>,
    numbers: FxHashMap<(String, String, u32), u32>,
}

/// An address in generated code: where the thread is, or where a call returns to.
type Place = (u64, bool);

/// One process's.
struct Machine {
    layout: Layout,
    code: Code,
    places: FxHashMap<Place, Known<(Blob, Vec<u32>)>>,
    methods: FxHashMap<u64, Known<Method>>,
}

/// What was read, and when it was last looked at.
struct Known<T> {
    what: T,
    at: Instant,
}

impl Machines {
    /// None yet.
    pub fn new(resolver: &Resolver) -> Machines {
        Machines { resolver: resolver.clone(), known: FxHashMap::default(), lines: Lines::default() }
    }

    /// The code at an address that a process made itself, and the lines of the methods that it was compiled from, the innermost
    /// first. An address that is not an instruction's is where a call returns to.
    pub fn code(&mut self, pid: u32, address: u64, at_instruction: bool) -> Option<(Blob, &[u32])> {
        let resolver = &self.resolver;
        let machine = self.known.entry(pid).or_insert_with(|| Machine::of(resolver, pid)).as_mut()?;
        machine.code(&self.resolver, Memory::Process(pid), &mut self.lines, (address, at_instruction))
    }

    /// The line of a method that the interpreter is in, by the address of its bytecode.
    pub fn interpreted(&mut self, pid: u32, method: u64, bytecode: u64) -> Option<u32> {
        let machine = self.known.get_mut(&pid)?.as_mut()?;
        let method = machine.method(&self.resolver, Memory::Process(pid), method)?;
        let line = method.bytecode(bytecode).map_or(0, |number| method.line(number));
        self.lines.number(method, line)
    }

    /// What a line is, by its number.
    pub fn line(&self, number: u64) -> Named {
        usize::try_from(number).ok().and_then(|number| self.lines.all.get(number)).cloned().unwrap_or_default()
    }

    /// The process ended, or executes another program.
    pub fn forget(&mut self, pid: u32) {
        self.known.remove(&pid);
    }
}

impl Lines {
    fn number(&mut self, method: &mut Method, line: u32) -> Option<u32> {
        if method.is_hidden {
            return None;
        }
        if let Some(number) = method.numbers.get(&line) {
            return Some(*number);
        }
        let number = self.find(method, line)?;
        method.numbers.insert(line, number);
        Some(number)
    }

    fn find(&mut self, method: &Method, line: u32) -> Option<u32> {
        let key = (method.function.clone(), method.file.clone(), line);
        if let Some(number) = self.numbers.get(&key) {
            return Some(*number);
        }
        let number = u32::try_from(self.all.len()).ok().filter(|_| self.all.len() < MOST_LINES)?;
        let (function, file) = (key.0.clone(), key.1.clone());
        self.all.push(Named { function, file, line, ..Named::default() });
        self.numbers.insert(key, number);
        Some(number)
    }
}

impl Machine {
    fn of(resolver: &Resolver, pid: u32) -> Option<Machine> {
        let variables = scripts::hotspot(resolver, pid)?;
        Layout::read(Memory::Process(pid), variables).map(Machine::new)
    }

    fn new(layout: Layout) -> Machine {
        Machine { layout, code: Code::default(), places: FxHashMap::default(), methods: FxHashMap::default() }
    }

    fn code(
        &mut self,
        resolver: &Resolver,
        memory: Memory<'_>,
        lines: &mut Lines,
        place: Place,
    ) -> Option<(Blob, &[u32])> {
        let now = Instant::now();
        if self.places.get(&place).is_none_or(|known| now - known.at >= BELIEVED) {
            let (address, at_instruction) = place;
            // The last byte of a call is in the same code; where it returns to may be in the next.
            let blob = self.code.blob(memory, &self.layout, address.wrapping_sub(u64::from(!at_instruction)));
            // Of a process that has ended since, what was known goes on to hold.
            let is_gone = || memory.word(self.layout.code.heaps).is_none();
            let known = self.places.remove(&place);
            let (blob, read) = match (blob, known) {
                (Some(blob), Some(known)) if known.what.0 == blob => known.what,
                (Some(blob), _) => (blob, self.read(resolver, memory, lines, (blob, place))),
                (None, Some(known)) if is_gone() => known.what,
                (None, _) => return None,
            };
            if self.places.len() >= MOST_KNOWN {
                self.places.clear();
            }
            self.places.insert(place, Known { what: (blob, read), at: now });
        }
        self.places.get(&place).map(|known| (known.what.0, &known.what.1[..]))
    }

    /// The lines of the methods of a place in code.
    fn read(
        &mut self,
        resolver: &Resolver,
        memory: Memory<'_>,
        lines: &mut Lines,
        (blob, (address, at_instruction)): (Blob, Place),
    ) -> Vec<u32> {
        if blob.kind != Kind::Compiled {
            return Vec::new();
        }
        let scopes = code::scopes(memory, &self.layout, &blob, address, at_instruction);
        let line = |scope: InMethod| {
            let method = self.method(resolver, memory, scope.method)?;
            let line = scope.bytecode.map_or(0, |bytecode| method.line(bytecode));
            lines.number(method, line)
        };
        scopes.into_iter().filter_map(line).collect()
    }

    fn method(&mut self, resolver: &Resolver, memory: Memory<'_>, address: u64) -> Option<&mut Method> {
        let now = Instant::now();
        let is_same = self.methods.get_mut(&address).is_some_and(|known| {
            let constant = || methods::constant(memory, &self.layout.method, address);
            let is_same =
                now - known.at < BELIEVED || constant().is_none_or(|constant| constant == known.what.constant);
            known.at = if is_same && now - known.at >= BELIEVED { now } else { known.at };
            is_same
        });
        if !is_same {
            self.methods.remove(&address);
            let what = Method::read(resolver, memory, &self.layout, address)?;
            if self.methods.len() >= MOST_KNOWN {
                self.methods.clear();
            }
            self.methods.insert(address, Known { what, at: now });
        }
        self.methods.get_mut(&address).map(|known| &mut known.what)
    }
}

/// A door for fuzzers: the memory of a process that holds any bytes, its tables and all that they lead to.
pub(crate) fn fuzz(bytes: &[u8]) {
    let memory = Memory::Given { start: 0x1000, bytes };
    let (resolver, mut lines) = (Resolver::new(), Lines::default());
    let _ = Layout::read(memory, [[0x1000, 0x1008, 0x1010], [0x1018, 0x1020, 0x1028]]);
    let mut machine = Machine::new(Layout::small());
    for address in [0x1010, 0x1880, 0x1890, 0x18a0] {
        for at_instruction in [true, false] {
            machine.code(&resolver, memory, &mut lines, (address, at_instruction));
        }
    }
    for address in [0x1000, 0x1200, 0x1210] {
        machine.method(&resolver, memory, address);
    }
}
