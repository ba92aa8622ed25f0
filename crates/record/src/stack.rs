//! Native stacks: copied bytes of a stack become frames while recording, frames become places in the code at its end.
//!
//! Promises: a walk goes by each image's own unwind information wherever there is some; a name is shown only where it
//! is certain; frames stay nameable after their process is gone; no file or stack, however broken, makes it panic.

mod debug_files;
mod frame;
mod generated_name;
mod kernel_symbols;
mod mapped;
mod maps;
mod modules;
mod process;
mod roots;
mod row_cache;
#[cfg(test)]
mod tests;

mod unwind;
mod walk;

use crate::java::Machines;
use crate::resolver::{Place, Resolver};
use case::tables::{Location, kind};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

pub use frame::{Frame, Registers, Walk};
pub use mapped::CodeFile;

use kernel_symbols::KernelSymbols;
use modules::{Module, Modules};
use process::Process;
use row_cache::RowCache;
use walk::Known;

/// All processes' mappings and all modules seen in them.
pub struct Stacks {
    processes: FxHashMap<u32, Process>,
    modules: Modules,
    rows: RowCache,
    java: Machines,
    kernel: Option<KernelSymbols>,
}

impl Stacks {
    /// Nothing seen yet.
    pub fn new(resolver: &Resolver) -> Stacks {
        let (modules, rows, java) = (Modules::new(resolver), RowCache::new(resolver), Machines::new(resolver));
        Stacks { processes: FxHashMap::default(), modules, rows, java, kernel: None }
    }

    /// Reads (again) a process's maps and opens the files in them that are new. Costs one read of the maps where
    /// nothing changed. Returns false where the process is gone; what was known of it stays.
    pub fn learn(&mut self, pid: u32) -> bool {
        self.processes.entry(pid).or_default().learn(pid, &mut self.modules)
    }

    /// After a fork: the child begins with its parent's mappings.
    pub fn inherit(&mut self, parent: u32, child: u32) {
        if let Some(process) = self.processes.get(&parent).cloned() {
            self.processes.insert(child, process);
        }
    }

    /// After an exec or an exit: drops a process's mappings. Its frames stay nameable.
    pub fn forget(&mut self, pid: u32) {
        self.processes.remove(&pid);
        self.java.forget(pid);
    }

    /// Walks one copied stack; `stack` holds the bytes from the stack pointer upward. Maps are read again where an
    /// address is in none, after a pause of 1 ms where the last reading found something new, else of 10 ms.
    pub fn walk(&mut self, pid: u32, registers: &Registers, stack: &[u8]) -> Walk {
        let process = self.processes.entry(pid).or_default();
        let known = Known { modules: &mut self.modules, rows: &mut self.rows, java: &mut self.java };
        walk::walk(pid, process, known, registers, stack)
    }

    /// Whether a process has code of a file, or of the kernel's, at an address, rather than some that it made as it ran.
    pub fn is_in_file(&mut self, pid: u32, address: u64) -> bool {
        let process = self.processes.entry(pid).or_default();
        if process::find(&process.spans(), address).is_none() {
            process.learn_of_unknown(pid, &mut self.modules);
        }
        let spans = process.spans();
        let module = process::find(&spans, address).map(|span| self.modules.get(span.module));
        module.is_some_and(|module| !matches!(module, Module::Generated(_)))
    }

    /// What frames are, as rows of the locations table without their ids. The second of a pair is the next outer frame of the
    /// same stack: where the function has lost its name, the call may tell it. `offset` and `function_offset` are addresses
    /// as the module's file gives them; `offset` is, for a frame that made a call, that of the call's last byte.
    pub fn locations(&mut self, pairs: &[(Frame, Option<Frame>)]) -> Vec<Location> {
        let mut locations = pairs.iter().map(|(frame, _)| self.modules.location(*frame)).collect::<Vec<_>>();
        let mut by_module: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (at, (frame, _)) in pairs.iter().enumerate() {
            by_module.entry(frame.image).or_default().push(at);
        }
        for (module, those) in by_module {
            let places = those.iter().map(|at| {
                let (frame, caller) = pairs[*at];
                let caller = caller.and_then(|caller| Some((caller.image, caller.return_address()?)));
                Place { address: frame.address, caller }
            });
            let places = places.collect::<Vec<_>>();
            let named = if module == modules::JAVA {
                places.iter().map(|place| self.java.line(place.address)).collect()
            } else {
                self.modules.names(module, &places)
            };
            for (at, named) in those.into_iter().zip(named) {
                let location = &mut locations[at];
                (location.function, location.function_offset) = (named.function, named.function_offset);
                (location.file, location.line) = (named.file, named.line);
                location.stores_arguments = named.stores_arguments;
            }
        }
        locations
    }

    /// What an address in the kernel is. Both offsets count from where the kernel begins.
    pub fn kernel_location(&mut self, address: u64) -> Location {
        let symbols = self.kernel.get_or_insert_with(KernelSymbols::of_this_host);
        let (start, name) = symbols.function(address).unwrap_or_default();
        let (function, function_offset) = (name.to_owned(), symbols.offset(start));
        let (offset, module) = (symbols.offset(address), "[kernel]".to_owned());
        Location { kind: kind::KERNEL, module, offset, function, function_offset, ..Location::default() }
    }

    /// Path, first address and file offset of each mapping of a file in a process.
    pub fn mapped_paths(&self, pid: u32) -> Vec<(String, u64, u64)> {
        self.processes.get(&pid).map(|process| process.files().to_vec()).unwrap_or_default()
    }

    /// Paths of mapped files that could not be read as images: gone, not readable, not for this processor.
    pub fn unreadable_paths(&self) -> Vec<String> {
        self.modules.unreadable()
    }
}

/// A door for fuzzers: `/proc/PID/maps`.
pub(crate) fn fuzz_maps(bytes: &[u8]) {
    for line in maps::parse(bytes) {
        line.backing();
    }
}

/// A door for fuzzers: `/proc/kallsyms`.
pub(crate) fn fuzz_kernel_symbols(text: &str) {
    const SOMEWHERE: u64 = 0x1140;
    let symbols = KernelSymbols::parse(text);
    symbols.function(SOMEWHERE);
    symbols.offset(SOMEWHERE);
}
