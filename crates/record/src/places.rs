//! Stacks and the places in them: each distinct stack, and each distinct place, is kept once and named by a number.

use crate::events::{Event, ScriptEvent, ScriptFrame, StackEvent};
use crate::resolver::Resolver;
use crate::scripts::{Interpreter, ScriptLine, Scripts};
use crate::stack::{Frame, Registers, Stacks};
use case::tables::{Location, StackFrame, kind};
use rustc_hash::{FxHashMap, FxHashSet};

/// What the frames of a stack are.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Frames {
    Native(Vec<Frame>),
    Kernel(Vec<u64>),
    Script(Vec<u32>),
}

/// Distinct stacks that are kept, and copies whose stack is remembered: 100 MB in all. Later ones count as not walked.
const MOST_STACKS: usize = 200_000;
const MOST_COPIES: usize = 4_000_000;

/// Different lines of scripts that are kept: 100 MB. A program that makes its code as it runs has any number.
const MOST_SCRIPT_LINES: usize = 200_000;

/// Interns stacks while recording, and turns them into rows at the end.
pub struct Places {
    /// Who reads what programs have written.
    pub resolver: Resolver,
    /// Native unwinding and symbols.
    pub native: Stacks,
    /// The lines of scripts.
    pub scripts: Scripts,
    stacks: FxHashMap<Frames, u32>,
    order: Vec<(Frames, bool)>,
    copied: FxHashMap<u32, u32>,
    walked: FxHashMap<u32, u32>,
    script_lines: FxHashMap<ScriptLine, u32>,
    locations: Vec<Location>,
    /// Stacks that were not walked to their root.
    pub incomplete: u64,
}

impl Places {
    /// Nothing seen yet.
    pub fn new() -> Places {
        let resolver = Resolver::new();
        Places {
            native: Stacks::new(&resolver),
            scripts: Scripts::new(&resolver),
            resolver,
            stacks: FxHashMap::default(),
            order: Vec::new(),
            copied: FxHashMap::default(),
            walked: FxHashMap::default(),
            script_lines: FxHashMap::default(),
            locations: Vec::new(),
            incomplete: 0,
        }
    }

    /// Walks a copied stack.
    pub fn copied(&mut self, event: &StackEvent, bytes: &[u8]) {
        let length = (event.length as usize).min(bytes.len());
        let walk = self.native.walk(event.pid, &Registers(event.registers), &bytes[..length]);
        let stack = if walk.frames.is_empty() { 0 } else { self.intern(Frames::Native(walk.frames), walk.complete) };
        if self.copied.len() < MOST_COPIES {
            self.copied.insert(event.number, stack);
        }
        self.incomplete += u64::from(!walk.complete || stack == 0);
    }

    /// The stack of a copy's number; 0 for none.
    pub fn stack(&self, copy: u32) -> u32 {
        self.copied.get(&copy).copied().unwrap_or(0)
    }

    /// Reads the lines of a chain of script frames, while their process still has them.
    pub fn script(&mut self, event: &ScriptEvent, bytes: &[u8], interpreter: &Interpreter) {
        let mut frames = Vec::with_capacity(usize::from(event.frames));
        for bytes in bytes.chunks_exact(size_of::<ScriptFrame>()).take(usize::from(event.frames)) {
            let Some(frame) = ScriptFrame::read(bytes) else { break };
            let code = interpreter.must_be_in(frame.instruction);
            if code.is_some_and(|code| self.native.is_in_file(event.pid, code)) {
                continue;
            }
            if let Some(line) = self.scripts.line(event.pid, interpreter, frame.code, frame.instruction) {
                match self.script_line(line) {
                    Some(line) => frames.push(line),
                    None => self.incomplete += 1,
                }
            }
        }
        if !frames.is_empty() {
            let stack = self.intern(Frames::Script(frames), true);
            if self.walked.len() < MOST_COPIES {
                self.walked.insert(event.number, stack);
            }
        }
    }

    /// The stack of a script chain's number; 0 for none.
    pub fn script_stack(&self, chain: u32) -> u32 {
        self.walked.get(&chain).copied().unwrap_or(0)
    }

    /// The stack of kernel addresses.
    pub fn kernel_stack(&mut self, addresses: &[u64]) -> u32 {
        if addresses.is_empty() { 0 } else { self.intern(Frames::Kernel(addresses.to_vec()), true) }
    }

    fn intern(&mut self, frames: Frames, complete: bool) -> u32 {
        if let Some(&stack) = self.stacks.get(&frames) {
            return stack;
        }
        if self.order.len() >= MOST_STACKS {
            return 0;
        }
        let stack = self.order.len() as u32 + 1;
        self.order.push((frames.clone(), complete));
        self.stacks.insert(frames, stack);
        stack
    }

    /// The number of a script's line; None where there are too many to keep it.
    fn script_line(&mut self, line: ScriptLine) -> Option<u32> {
        if let Some(&id) = self.script_lines.get(&line) {
            return Some(id);
        }
        if self.script_lines.len() >= MOST_SCRIPT_LINES {
            return None;
        }
        let id = self.add(Location {
            kind: kind::SCRIPT,
            module: if line.file.is_empty() { &line.module } else { &line.file }.clone(),
            file: line.file.clone(),
            function: line.function.clone(),
            line: line.line,
            ..Location::default()
        });
        self.script_lines.insert(line, id);
        Some(id)
    }

    fn add(&mut self, mut location: Location) -> u32 {
        location.id = self.locations.len() as u32 + 1;
        let id = location.id;
        self.locations.push(location);
        id
    }

    /// All stacks and locations as rows; symbols are looked up here, once for each distinct place.
    pub fn finish(mut self) -> (Vec<StackFrame>, Vec<Location>) {
        let mut native = self.native_locations();
        let mut kernel: FxHashMap<u64, u32> = FxHashMap::default();
        let mut rows = Vec::new();
        for (at, (frames, complete)) in std::mem::take(&mut self.order).into_iter().enumerate() {
            let ids: Vec<u32> = match frames {
                Frames::Native(frames) => pairs(&frames).map(|pair| self.native_location(&mut native, pair)).collect(),
                Frames::Kernel(addresses) => {
                    addresses.iter().map(|address| self.kernel_location(&mut kernel, *address)).collect()
                }
                Frames::Script(ids) => ids,
            };
            let frame =
                |(depth, location)| StackFrame { stack: at as u32 + 1, depth: depth as u16, location, complete };
            rows.extend(ids.into_iter().enumerate().map(frame));
        }
        (rows, self.locations)
    }

    /// All native places, described at once, which does not wait for each.
    fn native_locations(&mut self) -> FxHashMap<Pair, Result<u32, Location>> {
        let mut seen = FxHashSet::default();
        let native = self.order.iter().filter_map(|(frames, _)| match frames {
            Frames::Native(frames) => Some(frames),
            Frames::Kernel(_) | Frames::Script(_) => None,
        });
        let all = native.flat_map(|frames| pairs(frames)).filter(|pair| seen.insert(*pair)).collect::<Vec<_>>();
        let locations = self.native.locations(&all);
        all.into_iter().zip(locations.into_iter().map(Err)).collect()
    }

    /// The number of a place; it is given one where it has none yet.
    fn native_location(&mut self, known: &mut FxHashMap<Pair, Result<u32, Location>>, pair: Pair) -> u32 {
        let Some(place) = known.get_mut(&pair) else { return 0 };
        match place {
            Ok(id) => *id,
            Err(location) => {
                let id = self.add(std::mem::take(location));
                *place = Ok(id);
                id
            }
        }
    }

    fn kernel_location(&mut self, known: &mut FxHashMap<u64, u32>, address: u64) -> u32 {
        if let Some(&id) = known.get(&address) {
            return id;
        }
        let location = self.native.kernel_location(address);
        let id = self.add(location);
        known.insert(address, id);
        id
    }
}

/// A frame and the next outer one.
type Pair = (Frame, Option<Frame>);

fn pairs(frames: &[Frame]) -> impl Iterator<Item = Pair> {
    frames.iter().enumerate().map(|(depth, frame)| (*frame, frames.get(depth + 1).copied()))
}
