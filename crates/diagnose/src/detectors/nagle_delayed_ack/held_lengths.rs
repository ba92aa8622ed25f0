//! The lengths of what Nagle's algorithm held back, at either end.

use crate::analysis::Analysis;
use crate::detectors::HeldLengths;
use case::tables::direction;

/// How often each length was held on each size of segments.
pub fn find(analysis: &Analysis) -> HeldLengths {
    let mut held = HeldLengths::new();
    for (slot, rows) in analysis.connections.all().iter().enumerate() {
        let mss = analysis.connections.row(slot).mss;
        for stall in rows.send_stalls.iter().filter(|stall| stall.nagle.is_some()) {
            let segments = analysis.connections.segments(slot);
            let first = segments.partition_point(|segment| segment.time.0 < stall.end);
            let left = segments[first..].iter().find(|row| row.direction == direction::OUT && row.payload > 0);
            if let Some(segment) = left.filter(|_| mss > 0) {
                *held.entry((segment.payload, mss)).or_default() += 1;
            }
        }
    }
    for (&slot, send_stalls) in &analysis.peer_stalls {
        let mss = analysis.connections.row(slot).mss;
        for stall in send_stalls.iter().filter(|_| mss > 0) {
            *held.entry((stall.bytes, mss)).or_default() += 1;
        }
    }
    held
}
