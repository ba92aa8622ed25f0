//! `cached-reads`: what the program reads stays in memory.

use super::{Intervention, Prediction, intervention};
use crate::treatment::Preload;

intervention! {
    /// # cached-reads
    ///
    /// ## What it does
    /// Opens files without O_DIRECT, and keeps in the page cache what the program throws out of it
    /// (`posix_fadvise` with POSIX_FADV_DONTNEED). What is read again comes from memory.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that use libc. Not Go, not static programs, not io_uring. Not files for which there is
    /// no room: where a control group's limit or other programs take the memory, nothing changes.
    ///
    /// ## How we know it took effect
    /// The shim counts files opened without the flag, and pieces of files that stayed.
    ///
    /// ## What it cannot prove
    /// That the program should do without O_DIRECT: a database with a cache of its own would keep everything twice. It
    /// shows what going to the disk each time costs.
    pub const CACHED_READS: Intervention = Intervention {
        name: "cached-reads",
        summary: "keeps in memory what is read from files",
        predictions: &[Prediction::gains("P65")],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: "cached-reads", parameter: "on".into() });
            Ok(())
        },
        applied: |counters| counters.of_shim("cached-reads"),
    };
}
