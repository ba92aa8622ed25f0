use crate::row::table;
use crate::units::Nanos;

table! {
    /// One wait: a stretch in which a thread was blocked in a call, and whoever ended it. Not recorded but derived, once, from the
    /// other tables when a run's recording is closed: who wrote what a thread read takes both ends of a connection. Of a long
    /// recording the longest waits only.
    pub struct Wait in "waits" {
        /// When it began.
        pub start: Nanos,
        /// When it ended: the thread was runnable, or had to go on waiting for somebody else.
        pub end: Nanos,
        /// The thread that waited.
        pub tid: u32,
        /// The call it was blocked in: its number on x86-64.
        pub call: u16,
        /// The stack of that call.
        pub stack: u32,
        /// The stack of the script that made it; 0 if none.
        pub script_stack: u32,
        /// What ended it; see `ender`.
        pub ended_by: u8,
        /// The thread that ended it; 0 if none did, or if unknown.
        pub ended_by_tid: u32,
        /// The call in which that thread ended it: its number on x86-64; 65535 if unknown.
        pub ended_by_call: u16,
        /// The stack of that call: of the wake-up.
        pub ended_by_stack: u32,
        /// The stack of the script that made it; 0 if none.
        pub ended_by_script_stack: u32,
    }
}

/// What ended a wait.
pub mod ender {
    /// Nobody knows.
    pub const UNKNOWN: u8 = 0;
    /// A recorded thread.
    pub const THREAD: u8 = 1;
    /// A time that the program chose was over.
    pub const TIMER: u8 = 2;
    /// A disk, or what else the kernel waits for uninterruptibly.
    pub const DISK: u8 = 3;
    /// Bytes that had been sent already arrived, or left a kernel.
    pub const NETWORK: u8 = 4;
    /// A peer that was not recorded.
    pub const PEER: u8 = 5;
    /// A connection came in.
    pub const NEW_CONNECTION: u8 = 6;
}
