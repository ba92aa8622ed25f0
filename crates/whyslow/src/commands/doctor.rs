//! `whyslow doctor`: what works on this machine, tried rather than guessed, and how to enable the rest.

use crate::arguments::JsonArguments;
use crate::output;
use crate::progress::Progress;
use case::Checks;
use fail::Failure;

/// Prints every check. 0 where all work, 1 where something is missing.
pub fn doctor(typed: &JsonArguments) -> Result<u8, Failure> {
    let progress = Progress::of("checking what works on this machine");
    let checks = Checks { checks: record::doctor::checks() };
    drop(progress);
    output::document(&checks, typed.json, report::checks)?;
    Ok(u8::from(checks.checks.iter().any(|check| !check.works)))
}
