//! `whyslow report CASE`: says again what a case means, here or on another machine.

use super::answer;
use crate::arguments::ReportArguments;
use crate::fail::Failure;
use crate::output;
use case::Case;

/// Reads the case and prints its answer. The case is not changed.
pub fn report(typed: &ReportArguments) -> Result<u8, Failure> {
    let case = Case::open(&typed.case)?;
    if !case.manifest().closed {
        output::say("this recording was cut short; its last rows may be missing");
    }
    answer::show(&answer::read(&case, typed.answer)?, typed.answer)
}
