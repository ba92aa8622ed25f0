//! `no-fsync`: nothing waits for the disk.

use super::{Intervention, Prediction, intervention};
use crate::treatment::Preload;

intervention! {
    /// # no-fsync
    ///
    /// ## What it does
    /// Makes `fsync`, `fdatasync`, `syncfs`, `sync_file_range`, `sync` and `msync` return at once, and opens files
    /// without O_SYNC and O_DSYNC. The kernel writes the data to disk whenever it likes.
    ///
    /// ## What it reaches
    /// Dynamically linked programs that use libc. Not Go, not static programs, not io_uring, not O_DIRECT, not
    /// `pwritev2` with RWF_SYNC, not file systems mounted with sync.
    ///
    /// ## How we know it took effect
    /// The shim counts calls that returned without waiting and files opened without the flag.
    ///
    /// ## What it cannot prove
    /// That the program can do without: the data it promised to keep is lost if the power fails. It shows what the
    /// promise costs, and what a faster disk, one sync for several requests, or a sync after the answer could save.
    pub const NO_FSYNC: Intervention = Intervention {
        name: "no-fsync",
        summary: "makes fsync and the like return at once",
        predictions: &[Prediction::gains("P39")],
        doses: &[],
        unit: "",
        stands_on: &[],
        treat: |_, treatment| {
            treatment.preloads.push(Preload { shim: "no-fsync", parameter: "on".into() });
            Ok(())
        },
        applied: |counters| counters.of_shim("no-fsync"),
    };
}
