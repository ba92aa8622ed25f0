use crate::row::table;
use crate::units::Nanos;

table! {
    /// One interval in which a thread was off the processor.
    pub struct Switch in "switches" {
        /// When it left the processor.
        pub start: Nanos,
        /// When it was made runnable; equal to `start` where it was preempted.
        pub runnable: Nanos,
        /// When it was on a processor again; the end of recording where it never was.
        pub end: Nanos,
        /// The thread.
        pub tid: u32,
        /// The thread that woke it; 0 for an interrupt or nobody known.
        pub waker: u32,
        /// Why it left; see `reason`.
        pub reason: u8,
    }
}

/// Why a thread left the processor.
pub mod reason {
    /// Something else was to run; it stayed runnable.
    pub const PREEMPTED: u8 = 0;
    /// It waited for an event, interruptibly: the usual case.
    pub const BLOCKED: u8 = 1;
    /// It waited uninterruptibly, as a rule for a disk.
    pub const UNINTERRUPTIBLE: u8 = 2;
}
