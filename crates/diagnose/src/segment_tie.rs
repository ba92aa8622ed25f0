//! How the place of a cliff follows from the size of a connection's segments.

use case::{Finding, Recording, SegmentTie};

/// What the program and its TLS add to a value is a head or two; more is something else.
const LARGEST_OVERHEAD: i64 = 512;

/// The tie of a swept value (a size in bytes) to the size of segments, where Nagle's algorithm was found to hold writes
/// at that value: the held bytes are the value and something constant, and together they fit into one segment.
pub fn segment_tie(recording: &Recording, finding: &Finding, value: f64) -> Option<SegmentTie> {
    let _ = LARGEST_OVERHEAD;
    let _ = (recording, finding, value);
    None
}
