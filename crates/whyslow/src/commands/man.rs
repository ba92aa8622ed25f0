//! `whyslow man [-o FOLDER]`: the manual page, or the pages of all commands, made from the declarations.

use crate::arguments::{Arguments, ManArguments};
use crate::output;
use clap::CommandFactory;
use fail::Failure;
use std::path::Path;

/// Prints whyslow(1), or writes it and each command's page into a folder.
pub fn man(typed: &ManArguments) -> Result<u8, Failure> {
    let pages = pages().map_err(|error| Failure::output(&error))?;
    match &typed.folder {
        Some(folder) => write_all(&pages, folder)?,
        None => output::write(&pages[0].1, None)?,
    }
    Ok(0)
}

/// Every page with its file's name, whyslow's own first.
fn pages() -> std::io::Result<Vec<(String, Vec<u8>)>> {
    // `help COMMAND` needs no page of its own, and would get one for each command.
    let mut whyslow = Arguments::command().disable_help_subcommand(true);
    whyslow.build();
    let mut pages = Vec::new();
    add(&mut pages, &whyslow)?;
    Ok(pages)
}

/// Adds a command's page, and those of the commands below it.
fn add(pages: &mut Vec<(String, Vec<u8>)>, command: &clap::Command) -> std::io::Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_string();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).title(name.as_str()).render(&mut page)?;
    pages.push((format!("{name}.1"), with_examples(&page)));
    command.get_subcommands().filter(|one| !one.is_hide_set()).try_for_each(|one| add(pages, one))
}

/// The generator calls what stands below the options EXTRA; here it ends with examples, and readers look for these.
fn with_examples(page: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(page).replace("\n.SH EXTRA\n", "\n.SH EXAMPLES\n").into_bytes()
}

fn write_all(pages: &[(String, Vec<u8>)], folder: &Path) -> Result<(), Failure> {
    let wrong = |error: std::io::Error| Failure::output(&error);
    std::fs::create_dir_all(folder).map_err(wrong)?;
    pages.iter().try_for_each(|(name, page)| std::fs::write(folder.join(name), page)).map_err(wrong)
}
