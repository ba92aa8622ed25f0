//! `whyslow completions SHELL`: a script that completes whyslow's words in a shell, made from the declarations.

use crate::arguments::{Arguments, CompletionsArguments};
use crate::output;
use clap::CommandFactory;
use fail::Failure;

/// Prints the script.
pub fn completions(typed: &CompletionsArguments) -> Result<u8, Failure> {
    // Into memory first: a reader that has seen enough is no error, and the generator would panic.
    let mut script = Vec::new();
    clap_complete::generate(typed.shell, &mut Arguments::command(), "whyslow", &mut script);
    output::write(&script, None)?;
    Ok(0)
}
