use crate::row::table;
use crate::units::Nanos;

table! {
    /// One CPU sample: where a thread was when the sampling clock ticked on its CPU. Each stands for one period
    /// (`1 / manifest.sampling_hertz` seconds) of CPU time.
    pub struct Sample in "samples" {
        /// When.
        pub time: Nanos,
        /// The thread.
        pub tid: u32,
        /// Its process.
        pub pid: u32,
        /// Whether it was in the kernel.
        pub kernel: bool,
        /// The syscall it was in, plus one; 0 for none.
        pub call_plus_one: u16,
        /// Native user stack; 0 if none was copied.
        pub stack: u32,
        /// Kernel stack; 0 in user mode.
        pub kernel_stack: u32,
        /// Stack of the interpreted program; 0 for none.
        pub script_stack: u32,
    }
}
