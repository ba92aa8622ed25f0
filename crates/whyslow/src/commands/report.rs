//! `whyslow report CASE`: says again what a case means, here or on another machine.

use super::{answer, compare, sweep};
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
    if let Some(comparison) = case.kept(compare::FILE)? {
        return compare::show(&comparison, typed.answer.json);
    }
    if let Some(sweep) = case.kept(sweep::FILE)? {
        return sweep::show(&sweep, typed.answer.json);
    }
    answer::show(&answer::read(&case, typed.answer)?, typed.answer)
}
