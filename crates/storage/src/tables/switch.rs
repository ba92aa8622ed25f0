use crate::row::table;
use crate::units::Nanos;

table! {
    /// One interval in which a thread was off CPU.
    pub struct Switch in "switches" {
        /// When it went off CPU.
        pub start: Nanos,
        /// When it became runnable; equal to `start` if it was preempted.
        pub runnable: Nanos,
        /// When it was on CPU again; the end of recording if it never was.
        pub end: Nanos,
        /// The thread.
        pub tid: u32,
        /// The thread that woke it; 0 for an interrupt, or if unknown.
        pub waker: u32,
        /// Why it went off CPU; see `reason`.
        pub reason: u8,
    }
}

/// Why a thread went off CPU.
pub mod reason {
    /// It was preempted and stayed runnable.
    pub const PREEMPTED: u8 = 0;
    /// It waited for an event, interruptibly: the usual case.
    pub const BLOCKED: u8 = 1;
    /// It waited uninterruptibly, usually for a disk.
    pub const UNINTERRUPTIBLE: u8 = 2;
    /// It was stopped by a signal (SIGSTOP).
    pub const STOPPED: u8 = 3;
    /// A tracer stopped it (ptrace).
    pub const TRACED: u8 = 4;
}
