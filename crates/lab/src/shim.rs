//! Shims on their way into a subject: the objects built from `shims/*.c`, staged in a folder that the subject can read,
//! with each one's parameter and counters.

use crate::intervention_counters::ShimCounts;

include!(concat!(env!("OUT_DIR"), "/shims.rs"));

/// The object of a shim, to be written to a file and preloaded.
pub fn object(name: &str) -> Option<&'static [u8]> {
    OBJECTS.iter().find(|(known, _)| *known == name).map(|(_, object)| *object)
}

/// Reads a file of counts.
pub fn counts(bytes: &[u8]) -> ShimCounts {
    let number = |index: usize| {
        let bytes = bytes.get(8 * index..8 * index + 8).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u64::from_ne_bytes)
    };
    ShimCounts { loaded: number(0), seen: number(1), changed: number(2) }
}
