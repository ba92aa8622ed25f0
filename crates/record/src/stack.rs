//! Native stacks: copied bytes of a stack become frames while recording, frames become places in the code at its end.
//!
//! Promises: a walk goes by each image's own unwind information wherever there is some; a name is shown only where it
//! is certain; frames stay nameable after their process is gone; no file or stack, however broken, makes it panic.

mod call_site;
mod debug_info;
mod elf;
mod frame;
mod frame_table;
pub(crate) mod fuzz;
mod go_table;
mod ifunc;
mod image;
mod kernel_symbols;
mod mapped;
mod maps;
mod modules;
mod naming;
mod perf_map;
mod process;
mod roots;
mod row;
mod row_cache;
mod symbols;
#[cfg(test)]
mod tests;

mod unwind;
mod walk;

use case::tables::Location;
use rustc_hash::FxHashMap;

pub use frame::{Frame, Registers, Walk};
pub use mapped::CodeFile;

use kernel_symbols::KernelSymbols;
use modules::Modules;
use process::Process;
use row_cache::RowCache;

/// All processes' mappings and all modules seen in them.
pub struct Stacks {
    processes: FxHashMap<u32, Process>,
    modules: Modules,
    rows: RowCache,
    kernel: Option<KernelSymbols>,
}

impl Stacks {
    /// Nothing seen yet.
    pub fn new() -> Stacks {
        Stacks { processes: FxHashMap::default(), modules: Modules::new(), rows: RowCache::default(), kernel: None }
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
    }

    /// Walks one copied stack; `stack` holds the bytes from the stack pointer upward. Maps are read again where an
    /// address is in none, after a pause of 1 ms where the last reading found something new, else of 10 ms.
    pub fn walk(&mut self, pid: u32, registers: &Registers, stack: &[u8]) -> Walk {
        let process = self.processes.entry(pid).or_default();
        walk::walk(pid, process, &mut self.modules, &mut self.rows, registers, stack)
    }

    /// What a frame is, as a row of the locations table without its id. `caller` is the next outer frame of the same
    /// stack: where the function has lost its name, the call may tell it. `offset` and `function_offset` are addresses
    /// as the module's file gives them; `offset` is, for a frame that made a call, that of the call's last byte.
    pub fn location(&mut self, frame: Frame, caller: Option<Frame>) -> Location {
        naming::location(&mut self.modules, frame, caller)
    }

    /// What an address in the kernel is. Both offsets count from where the kernel begins.
    pub fn kernel_location(&mut self, address: u64) -> Location {
        naming::kernel_location(self.kernel.get_or_insert_with(KernelSymbols::of_this_host), address)
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

impl Default for Stacks {
    fn default() -> Self {
        Stacks::new()
    }
}
