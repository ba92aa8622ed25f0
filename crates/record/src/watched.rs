//! The kernel side's table of watched threads, as user space fills and reads it.

use crate::error::RecordError;
use crate::events::ThreadState;
use crate::kernel::Kernel;
use aya::maps::{Array, HashMap, MapData, MapError};

/// `ENDINGS` in `bpf/maps.h`.
const ENDINGS: u32 = 4096;

/// Threads that are watched. The kernel side adds those that watched ones make, and removes those that end.
pub struct Watched {
    threads: HashMap<MapData, u32, ThreadState>,
    endings: Array<MapData, u8>,
}

impl Watched {
    /// Takes the table from the kernel side, once.
    ///
    /// # Errors
    /// Where it is not there.
    pub fn take(kernel: &mut Kernel) -> Result<Watched, RecordError> {
        Ok(Watched { threads: kernel.take_map("threads")?, endings: kernel.take_array("watched_endings")? })
    }

    /// Watches a thread from now on. `flags` are those of `BPF_MAP_UPDATE_ELEM`.
    ///
    /// # Errors
    /// Where the table is full, or as `flags` say.
    pub fn insert(&mut self, tid: u32, state: &ThreadState, flags: u64) -> Result<(), MapError> {
        // First: whom its ending does not name, the kernel side does not look up.
        self.endings.set(tid % ENDINGS, 1, 0)?;
        self.threads.insert(tid, state, flags)
    }

    /// What is known of a thread; none where it is not watched.
    pub fn get(&self, tid: u32) -> Option<ThreadState> {
        self.threads.get(&tid, 0).ok()
    }

    /// Watches a thread no longer. It may be gone already.
    pub fn remove(&mut self, tid: u32) {
        let _ = self.threads.remove(&tid);
    }

    /// All that are watched.
    pub fn all(&self) -> impl Iterator<Item = (u32, ThreadState)> {
        self.threads.iter().filter_map(Result::ok)
    }
}
