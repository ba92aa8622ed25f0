//! A profile for another viewer.

use case::Recording;

/// The profile as JSON.
pub fn speedscope(_recording: &Recording) -> String {
    String::new()
}
