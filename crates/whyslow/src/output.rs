//! Where this program's own words go: the answer to standard output, everything else to standard error.

use crate::fail::Failure;
use report::{Colour, Style};
use std::io::{ErrorKind, IsTerminal, Write};

/// Prints to standard output. A reader that has seen enough (`| head`) is no error.
///
/// # Errors
/// Where the output cannot be written, a full disk say.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::output(&error)),
        _ => Ok(()),
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
