//! A profile for another viewer.

use case::Recording;

/// The profile as JSON.
pub fn firefox_profile(_recording: &Recording) -> String {
    String::new()
}
