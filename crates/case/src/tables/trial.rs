use crate::row::table;
use crate::units::Nanos;

table! {
    /// One trial of the lab: the subject run once more, in the world of one arm. All times are of the window that was
    /// measured: from the end of the warm-up to the end of the subject's client, or to where the trial was cut.
    pub struct Trial in "trials" {
        /// Its round, counted from 0: every arm that is still open once, in random order; each odd round in the
        /// reverse order of the one before it.
        pub round: u32,
        /// Its place in the order of all trials, counted from 0.
        pub position: u32,
        /// The arm: `plain` (nothing attached), `nothing` (the sham: the same machinery, inert), or the names of its
        /// interventions, each with its dose where it has one, joined by `+`.
        pub arm: String,
        /// When the measured window began.
        pub start: Nanos,
        /// How long it was.
        pub wall: Nanos,
        /// Exchanges that ended in it, at their client's end.
        pub exchanges: u64,
        /// The sum of their lengths.
        pub exchange_wall: Nanos,
        /// The length that half of them stayed below; 0 where it is not known, as for the next two.
        pub exchange_p50: Nanos,
        /// The length that 95 % of them stayed below.
        pub exchange_p95: Nanos,
        /// The length that 99 % of them stayed below.
        pub exchange_p99: Nanos,
        /// Processor time of the client's processes in user mode.
        pub client_user: Nanos,
        /// Processor time of the client's processes in the kernel.
        pub client_system: Nanos,
        /// Processor time of the server's processes in user mode.
        pub server_user: Nanos,
        /// Processor time of the server's processes in the kernel.
        pub server_system: Nanos,
        /// The client's exit status, 128 + the signal that ended it; -1 where the trial was cut before its end.
        pub exit: i32,
        /// Whether the interventions of the arm took hold, each of them.
        pub applied: bool,
        /// How often they changed something: calls answered otherwise, sockets set, routes, files.
        pub changes: u64,
        /// Why they did not take hold, or what they broke; empty where all is well.
        pub problem: String,
        /// The client's standard output, against that of runs without interventions; see `output`.
        pub output: u8,
        /// The figure found by `--metric` in the client's standard output; not a number where there is none.
        pub metric: f64,
    }
}

/// How a trial's output compares with that of runs without interventions.
pub mod output {
    /// Not looked at: not asked for, or the trial was cut before the program's end.
    pub const NOT_COMPARED: u8 = 0;
    /// The same, figures aside.
    pub const SAME: u8 = 1;
    /// Different.
    pub const DIFFERENT: u8 = 2;
}
