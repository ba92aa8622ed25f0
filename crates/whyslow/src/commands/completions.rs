//! `whyslow completions SHELL`: a script that completes whyslow's words in a shell, made from the declarations.

use crate::arguments::{Arguments, CompletionsArguments, Shell};
use crate::fail::Failure;
use crate::output;
use clap::CommandFactory;

/// Prints the script.
pub fn completions(typed: &CompletionsArguments) -> Result<u8, Failure> {
    let shell = match typed.shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
    };
    // Into memory first: a reader that has seen enough is no error, and the generator would panic.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "whyslow", &mut script);
    output::write(&script, None)?;
    Ok(0)
}
