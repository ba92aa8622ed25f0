use crate::row::table;
use crate::units::Nanos;

table! {
    /// All calls of one kind that a process made while it was watched, added up in the kernel as they returned: exact also
    /// where rows of `calls` were lost, or no longer made because there were more events than are kept. Of the kinds that are
    /// recorded; without `mmap`, and without calls that had not returned at the end.
    pub struct CallSum in "call_sums" {
        /// The process; 0 for all those together for which there was no room.
        pub pid: u32,
        /// The syscall number (x86-64 Linux).
        pub number: u16,
        /// How many returned.
        pub calls: u64,
        /// How many of them with an error.
        pub failed: u64,
        /// Bytes that they wrote or read; 0 for those that move none, or return the number of messages.
        pub bytes: u64,
        /// How long they stayed in the kernel. Where rows were thinned out, only how long they were blocked is counted, and the
        /// rest is taken to be as long for each call as for those with rows.
        pub time: Nanos,
        /// How much of that they were blocked: off CPU and not runnable.
        pub blocked: Nanos,
    }
}
