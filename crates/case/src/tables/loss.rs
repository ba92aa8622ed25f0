use crate::row::table;
use crate::units::Nanos;

table! {
    /// Events that were lost within one interval.
    pub struct Loss in "losses" {
        /// The interval's start: when the count was last seen lower.
        pub start: Nanos,
        /// The interval's end: when the count was seen.
        pub end: Nanos,
        /// The table that lacks rows; `stacks` where a stack was lost and its row kept.
        pub table: String,
        /// Why: `ring full`, `size limit`, `stack not readable`, ...
        pub reason: String,
        /// How many.
        pub count: u64,
    }
}
