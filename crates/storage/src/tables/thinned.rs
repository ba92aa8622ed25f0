use crate::row::table;
use crate::units::Nanos;

table! {
    /// Stretches of time in which no rows were made on purpose, so that recording costs no more than it may (`--overhead`),
    /// or whose rows were given up since recording had lasted long: of calls, switches, segments and samples. What reaches into the time with rows has one (a call that was entered in
    /// such a stretch and returned after it). Sums, processes and sockets go on. Empty where there are rows of everything.
    pub struct Thinned in "thinned" {
        /// The stretch's start.
        pub start: Nanos,
        /// Its end.
        pub end: Nanos,
    }
}
