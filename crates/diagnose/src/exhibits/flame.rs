//! Call trees with time: on a processor, blocked, and the difference of two.

use crate::evidence::Evidence;
use case::Recording;
use case::exhibits::Flame;

/// Where threads were on a processor.
pub fn processor(_recording: &Recording) -> Flame {
    Flame::default()
}

/// Where threads were blocked.
pub fn blocked(_evidence: &Evidence) -> Flame {
    Flame::default()
}

/// Processor time of two sides, an exchange each (a run each where there are none): where B has more, where less.
pub fn flame_difference(_a: &[Recording], _b: &[Recording]) -> Flame {
    Flame::default()
}
