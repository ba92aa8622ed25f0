//! `no-fsync`: nobody waits for the disk.

use super::{Intervention, Purpose, intervention};
use crate::treatment::Preload;

intervention! {
    /// # no-fsync
    ///
    /// ## What it does
    /// Answers `fsync`, `fdatasync`, `syncfs`, `sync_file_range`, `sync` and `msync` at once, and opens files without
    /// O_SYNC and O_DSYNC. The kernel takes the data to the disk when it sees fit.
    ///
    /// ## What it reaches
    /// Programs that load libc dynamically. Not Go, not static programs, not io_uring, not O_DIRECT, not `pwritev2`
    /// with RWF_SYNC, not file systems that are mounted to write at once.
    ///
    /// ## How it is told that it took hold
    /// The shim counts calls answered without waiting and files opened without the flag.
    ///
    /// ## What it cannot prove
    /// That the program may do without: what it promised to keep is lost with the power. It shows what the promise
    /// costs, and what a faster disk, a batch of several orders to a sync, or a sync after the answer could save.
    pub const NO_FSYNC: Intervention = Intervention {
        name: "no-fsync",
        summary: "answers at once that data is on the disk",
        tried_for: &[("P39", Purpose::Cause)],
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
