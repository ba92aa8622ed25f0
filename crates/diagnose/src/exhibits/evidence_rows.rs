//! The rows behind findings, written for people.

use crate::evidence::Evidence;
use case::Answer;
use case::exhibits::EvidenceExhibit;

/// The rows behind each finding of an answer.
pub fn rows(_evidence: &Evidence, _answer: &Answer) -> Vec<EvidenceExhibit> {
    Vec::new()
}
