//! `whyslow reference`: every command with its options and examples, from the declarations. docs/commands.md is its
//! output, and a test keeps it so.

use crate::arguments::{Arguments, examples};
use crate::fail::Failure;
use crate::output;
use clap::{Arg, ArgAction, Command, CommandFactory};
use std::fmt::Write;

/// Prints the reference as Markdown.
pub fn reference() -> Result<u8, Failure> {
    output::print(&markdown())?;
    Ok(0)
}

/// What stands above the commands.
const HEAD: &str = "\
# Commands

This page is the output of `whyslow reference`: it is generated from the declarations of the options, as is
`whyslow COMMAND --help`, and a test keeps it up to date.
";

/// The reference of all commands that are listed.
fn markdown() -> String {
    let mut whyslow = Arguments::command().disable_help_subcommand(true);
    whyslow.build();
    let mut text = HEAD.to_string();
    whyslow.get_subcommands().for_each(|command| add(&mut text, command));
    text
}

/// Adds a command, and the commands below it.
fn add(text: &mut String, command: &Command) {
    if !command.is_hide_set() {
        *text += &section(&mut command.clone());
        command.get_subcommands().for_each(|one| add(text, one));
    }
}

/// One command: what it does, its usage, its options by heading, and examples.
fn section(command: &mut Command) -> String {
    let name = command.get_bin_name().unwrap_or(command.get_name()).to_string();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").lines().map(str::trim).collect::<Vec<_>>().join("\n    ");
    // Writing to a string cannot fail.
    let mut text = format!("\n## {name}\n\n{about}.\n\n    {usage}\n");
    let shown = command.get_arguments().filter(|one| !one.is_hide_set() && one.get_id() != "help");
    let (world, own): (Vec<_>, Vec<_>) = shown.partition(|one| one.get_help_heading().is_some());
    for (heading, options) in [("", own), ("The world that programs run in:\n\n", world)] {
        if !options.is_empty() {
            let _ = write!(text, "\n{heading}");
            for option in options {
                text += &line(option);
            }
        }
    }
    if let Some(ending) = examples::ALL.iter().find(|ending| format!("whyslow {}", ending.command) == name) {
        for paragraph in ending.notes.split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
            let _ = write!(text, "\n{}\n", literal(paragraph));
        }
        for example in ending.examples {
            let _ = write!(text, "\n{}:\n\n    {}\n", example.purpose, example.line);
        }
    }
    text
}

/// A note as Markdown: names in capitals' brackets stay as they are; lines that are indented are code.
fn literal(paragraph: &str) -> String {
    match paragraph.split_once("\n  ") {
        Some((before, code)) => format!("{before}\n\n    {}", code.replace("\n  ", "\n    ")),
        None => paragraph.to_string(),
    }
}

/// One option or argument.
fn line(option: &Arg) -> String {
    let short = option.get_short().map(|letter| format!("-{letter}, ")).unwrap_or_default();
    let mut text = format!("- `{short}{option}`: {}", option.get_help().map(ToString::to_string).unwrap_or_default());
    if matches!(option.get_action(), ArgAction::SetTrue) {
        return text + "\n";
    }
    let values = option.get_possible_values();
    if !values.is_empty() {
        let words = values.iter().map(|value| match value.get_help() {
            Some(help) => format!("`{}` ({help})", value.get_name()),
            None => format!("`{}`", value.get_name()),
        });
        let _ = write!(text, ". One of {}", words.collect::<Vec<_>>().join(", "));
    }
    if let [default] = option.get_default_values() {
        let _ = write!(text, ". Default: `{}`", default.to_string_lossy());
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_of_commands_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/commands.md");
        let kept = std::fs::read_to_string(path).expect("docs/commands.md");
        assert!(kept == markdown(), "refresh it: cargo run --release -- reference > docs/commands.md");
    }
}
