use crate::row::table;
use crate::units::Nanos;

table! {
    /// Events that were lost within one interval.
    pub struct Loss in "losses" {
        /// The interval's start: the last time the count was lower.
        pub start: Nanos,
        /// The interval's end: when the count was read.
        pub end: Nanos,
        /// The table that lacks rows; `stacks` if a stack was lost but its row kept.
        pub table: String as Word,
        /// Why: `ring full`, `size limit`, `stack not readable`, ...
        pub reason: String as Word,
        /// How many.
        pub count: u64,
    }
}
