use crate::row::table;
use crate::units::Nanos;

table! {
    /// One thread, with the CPU time it used during the recording.
    pub struct Thread in "threads" {
        /// Thread id.
        pub tid: u32,
        /// Its process.
        pub pid: u32,
        /// When it started, or was first seen.
        pub start: Nanos,
        /// When it ended; the end of recording if it was still running.
        pub end: Nanos,
        /// Its name, as the kernel keeps it.
        pub name: String as Program,
        /// Exact CPU time, in user mode and in the kernel.
        pub on_cpu: Nanos,
        /// Syscalls it made, counted in the kernel, including those whose rows were lost.
        pub calls: u64,
    }
}
