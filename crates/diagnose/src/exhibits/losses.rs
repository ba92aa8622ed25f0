//! What was lost while recording.

use case::Recording;
use case::exhibits::LossExhibit;

/// Losses by table and reason.
pub fn losses(_recording: &Recording) -> Vec<LossExhibit> {
    Vec::new()
}
