//! The machine, the programs, and what was recorded.

use case::Recording;
use case::exhibits::Fact;

/// Facts of the environment, group by group.
pub fn facts(_recording: &Recording) -> Vec<Fact> {
    Vec::new()
}
