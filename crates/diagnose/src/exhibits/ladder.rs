//! The sequence ladder: an exchange step by step, at both ends where both were recorded.

use super::choice::Chosen;
use crate::evidence::Evidence;
use case::exhibits::Ladder;

/// The chosen exchanges step by step, in the order chosen.
pub fn ladders(_evidence: &Evidence, _chosen: &[Chosen]) -> Vec<Ladder> {
    Vec::new()
}
