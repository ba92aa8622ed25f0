//! The recorded segments as a capture.

use case::Recording;

/// The capture.
pub fn pcapng(_recording: &Recording) -> Vec<u8> {
    Vec::new()
}
