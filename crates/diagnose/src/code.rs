//! Stacks and locations: which frames a stack has, and which module a sample's time is charged to.
//!
//! Time in the C library and in the kernel is charged to the first caller that is neither.

use crate::threads::groups;
use case::Recording;
use case::tables::{Location, Sample, StackFrame, kind};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The module that stands for code nobody could place.
pub const UNKNOWN_MODULE: &str = "code of unknown origin";

/// The module that stands for the kernel.
pub const KERNEL_MODULE: &str = "kernel";

/// Index over the code that a recording names.
pub struct Code<'r> {
    recording: &'r Recording,
    stacks: FxHashMap<u32, Range<usize>>,
    locations: FxHashMap<u32, usize>,
    modules: Vec<String>,
    module_numbers: FxHashMap<String, u32>,
    charged: FxHashMap<u32, u32>,
}

impl<'r> Code<'r> {
    /// Indexes the tables of stacks and locations.
    pub fn new(recording: &'r Recording) -> Code<'r> {
        let stacks = groups(&recording.stacks, |row| row.stack).into_iter().collect();
        let locations = recording.locations.iter().enumerate().map(|(index, row)| (row.id, index)).collect();
        let mut code = Code {
            recording,
            stacks,
            locations,
            modules: Vec::new(),
            module_numbers: FxHashMap::default(),
            charged: FxHashMap::default(),
        };
        for name in [UNKNOWN_MODULE, KERNEL_MODULE] {
            code.intern(name);
        }
        for process in &recording.processes {
            code.intern(base_name(&process.executable));
        }
        for (stack, _) in groups(&recording.stacks, |row| row.stack) {
            let module = code.charged_frame(stack).map_or(UNKNOWN_MODULE, |location| base_name(&location.module));
            let module = code.intern(module);
            code.charged.insert(stack, module);
        }
        code
    }

    fn intern(&mut self, name: &str) -> u32 {
        if let Some(number) = self.module_numbers.get(name) {
            return *number;
        }
        let number = self.modules.len() as u32;
        self.modules.push(name.to_string());
        self.module_numbers.insert(name.to_string(), number);
        number
    }

    /// The frames of a stack, innermost first; nothing for stack 0 or one that was lost.
    pub fn frames(&self, stack: u32) -> impl Iterator<Item = &'r Location> + '_ {
        let range = self.stacks.get(&stack).cloned().unwrap_or(0..0);
        self.recording.stacks[range].iter().filter_map(|frame| self.location(frame))
    }

    /// Whether a stack was walked to its thread's first function.
    pub fn is_complete(&self, stack: u32) -> bool {
        let first = self.stacks.get(&stack).and_then(|range| self.recording.stacks.get(range.start));
        first.is_some_and(|frame| frame.complete)
    }

    fn location(&self, frame: &StackFrame) -> Option<&'r Location> {
        self.locations.get(&frame.location).map(|&index| &self.recording.locations[index])
    }

    /// The first frame that is neither the C library's nor the kernel's; where there is none, the innermost.
    pub fn charged_frame(&self, stack: u32) -> Option<&'r Location> {
        let own = |location: &&Location| !location.is_libc && location.kind != kind::KERNEL;
        self.frames(stack).find(own).or_else(|| self.frames(stack).next())
    }

    /// The module that a sample's CPU time is charged to, the kernel's own time kept apart.
    pub fn module_of(&self, sample: &Sample) -> u32 {
        if sample.kernel { self.module_number(KERNEL_MODULE) } else { self.caller_of(sample) }
    }

    /// The module that a sample's CPU time is charged to, the kernel's time included.
    pub fn caller_of(&self, sample: &Sample) -> u32 {
        if let Some(&module) = self.charged.get(&sample.stack) {
            return module;
        }
        let process = self.recording.processes.iter().rev().find(|row| row.pid == sample.pid);
        self.module_number(process.map_or(UNKNOWN_MODULE, |row| base_name(&row.executable)))
    }

    fn module_number(&self, name: &str) -> u32 {
        self.module_numbers.get(name).copied().unwrap_or_default()
    }

    /// A module's name, without its folder.
    pub fn module_name(&self, number: u32) -> &str {
        self.modules.get(number as usize).map_or(UNKNOWN_MODULE, String::as_str)
    }

    /// Whether any frame of a stack is in a function that the test accepts.
    pub fn passes_through(&self, stack: u32, accepts: impl Fn(&str) -> bool) -> bool {
        self.frames(stack).any(|location| accepts(&location.function))
    }
}

/// A path's last part.
pub fn base_name(path: &str) -> &str {
    path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(path)
}
