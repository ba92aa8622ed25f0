use crate::row::table;
use crate::units::Nanos;

table! {
    /// One thread, with the processor time it used while it was watched.
    pub struct Thread in "threads" {
        /// Thread id.
        pub tid: u32,
        /// Its process.
        pub pid: u32,
        /// When it started, or was first seen.
        pub start: Nanos,
        /// When it ended; the end of recording where it was still running.
        pub end: Nanos,
        /// Its name, as the kernel keeps it.
        pub name: String,
        /// Time on a processor, in user mode and in the kernel, exact.
        pub on_cpu: Nanos,
        /// System calls it made, counted in the kernel, those included whose rows were lost.
        pub calls: u64,
    }
}
