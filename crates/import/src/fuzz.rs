//! Doors for fuzzers: each takes any bytes, gives no answer, and must come back.

use case::fuzz::Target;

/// What the bytes are given to, by name.
pub const TARGETS: [(&str, Target); 1] = [("capture", crate::capture::fuzz)];
