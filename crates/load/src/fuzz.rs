//! Doors for fuzzers: each takes any bytes, gives no answer, and must come back.

use case::fuzz::Target;

/// What the bytes are given to, by name.
pub const TARGETS: [(&str, Target); 2] =
    [("feeds", crate::feeds::fuzz_feed), ("lists-of-feeds", crate::feeds::fuzz_list)];
