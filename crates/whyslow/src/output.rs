//! Where this program's own words go: the answer to standard output, everything else to standard error.

use crate::fail::Failure;
use report::{Colour, Style};
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;

/// Prints to standard output. A reader that has seen enough (`| head`) is no error.
///
/// # Errors
/// Where the output cannot be written, a full disk say.
pub fn print(text: &str) -> Result<(), Failure> {
    put(text.as_bytes())
}

fn put(contents: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(contents).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::output(&error)),
        _ => Ok(()),
    }
}

/// Writes a document to a file, or to standard output where none is named.
///
/// # Errors
/// Where it cannot be written.
pub fn write(contents: &[u8], file: Option<&Path>) -> Result<(), Failure> {
    match file {
        Some(file) => std::fs::write(file, contents).map_err(|error| Failure::output(&error)),
        None => put(contents),
    }
}

/// Says one line on standard error. Nobody listening is no error.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "whyslow: {}", report::clean(line));
}

/// How text on standard output is to look: in colour on a terminal, unless NO_COLOR is set (no-color.org).
pub fn style() -> Style {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|value| value == "dumb")
        || !std::io::stdout().is_terminal();
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let style = Style::default();
    Style { colour: if plain { Colour::Plain } else { Colour::Ansi }, width: columns.unwrap_or(style.width) }
}
