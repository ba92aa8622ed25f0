use crate::row::table;
use crate::units::Nanos;

table! {
    /// One trial: the programs run once more, in the world of one arm. All times are of the measured window: from the end
    /// of the warm-up to the end of the client, or to where the trial was cut.
    pub struct Trial in "trials" {
        /// Its round, from 0. A round runs every open arm once, in random order; each odd round has the reverse order of
        /// the one before it.
        pub round: u32,
        /// Its place in the order of all trials, from 0.
        pub position: u32,
        /// The arm: `plain` (nothing attached), `nothing` (the sham: the same machinery, inert), or the names of its
        /// interventions, each with its dose if it has one, joined by `+`.
        pub arm: String as Word,
        /// When the measured window began.
        pub start: Nanos,
        /// How long the window was.
        pub wall: Nanos,
        /// Exchanges that ended in it, at the client.
        pub exchanges: u64,
        /// The sum of their lengths.
        pub exchange_wall: Nanos,
        /// Their median length; 0 if unknown, as for the next two.
        pub exchange_p50: Nanos,
        /// Their 95th percentile.
        pub exchange_p95: Nanos,
        /// Their 99th percentile.
        pub exchange_p99: Nanos,
        /// CPU time of the client's processes in user mode.
        pub client_user: Nanos,
        /// CPU time of the client's processes in the kernel.
        pub client_system: Nanos,
        /// CPU time of the server's processes in user mode.
        pub server_user: Nanos,
        /// CPU time of the server's processes in the kernel.
        pub server_system: Nanos,
        /// The client's exit status, 128 + the signal that ended it; -1 if the trial was cut short.
        pub exit: i32,
        /// Whether all interventions of the arm took effect.
        pub applied: bool,
        /// How often they changed something: calls intercepted, socket options, routes, files.
        pub changes: u64,
        /// Why they did not take effect, or what they broke; empty if all is well.
        pub problem: String as Sentence,
        /// The client's standard output compared with that of runs without interventions; see `output`.
        pub output: u8,
        /// The number found by `--metric` in the client's standard output; NaN if there is none.
        pub metric: f64,
        /// Exchanges from the start of the programs to the end of the window, those of the warm-up included.
        pub made: u64 = 0,
        /// Bytes of their answers; what TLS exchanges before the first request is left out.
        pub answered_bytes: u64 = 0,
        /// Answers with an HTTP/1 status from 200 to 299. Of answers that one call reads together only the first is seen,
        /// here and below.
        pub status_2xx: u64 = 0,
        /// Answers with a status from 300 to 399.
        pub status_3xx: u64 = 0,
        /// Answers with a status from 400 to 499.
        pub status_4xx: u64 = 0,
        /// Answers with a status from 500 to 599.
        pub status_5xx: u64 = 0,
        /// TLS handshakes that were broken off with an alert in the clear.
        pub alerts: u64 = 0,
        /// Calls that found their connection reset, aborted or refused.
        pub resets: u64 = 0,
        /// Whether it did the work that runs without interventions do; see `work`.
        pub work: u8 = work::NOT_COMPARED,
    }
}

impl Trial {
    /// CPU time of client and server together.
    pub fn cpu(&self) -> Nanos {
        self.client_user + self.client_system + self.server_user + self.server_system
    }
}

/// Whether a trial did the work of runs without interventions.
pub mod work {
    /// Not compared: nothing of it could be, or too few runs tell what always differs.
    pub const NOT_COMPARED: u8 = 0;
    /// The same, as far as it can be seen.
    pub const SAME: u8 = 1;
    /// Something else; `problem` says what.
    pub const OTHER: u8 = 2;
    /// Not that of the few runs without interventions that there were: whether it always differs is not known.
    pub const UNSETTLED: u8 = 3;
}

/// How a trial's output compares with that of runs without interventions.
pub mod output {
    /// Not compared: not asked for, or the trial was cut short.
    pub const NOT_COMPARED: u8 = 0;
    /// The same, except for numbers.
    pub const SAME: u8 = 1;
    /// Different.
    pub const DIFFERENT: u8 = 2;
    /// Not that of the few runs without interventions that there were: whether it always differs is not known.
    pub const UNSETTLED: u8 = 3;
}
