//! Where this program's own words go: the answer to standard output, everything else to standard error.

use case::as_caller;
use fail::Failure;
use indicatif::ProgressBar;
use report::{Colour, Style};
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The exit code of an error.
pub const ERROR: u8 = 2;
/// The exit code if neither a cause nor its absence was established.
pub const INCONCLUSIVE: u8 = 3;

/// The line that renews itself on the terminal now: other words must not be written into it.
static RENEWED: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// From now on words are written around this line, or around none.
pub fn keep_clear_of(line: Option<ProgressBar>) {
    *RENEWED.lock().unwrap_or_else(PoisonError::into_inner) = line;
}

/// Does something that writes to the terminal, with that line taken away meanwhile.
fn out_of_the_way(write: impl FnOnce()) {
    let line = RENEWED.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match line {
        Some(line) => line.suspend(write),
        None => write(),
    }
}

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

/// Prints an error; its exit code.
pub fn fail(failure: &Failure) -> u8 {
    eprint!("{failure}");
    ERROR
}

/// Makes a panic, should there be one, three lines like any other error.
pub fn explain_panics() {
    std::panic::set_hook(Box::new(|panic| {
        if case::is_damage_found() {
            return;
        }
        let message = panic.payload_as_str().unwrap_or("no message");
        let place = panic.location().map(|place| format!(" ({}:{})", place.file(), place.line()));
        eprint!("{}", Failure::internal(&format!("{message}{}", place.unwrap_or_default())));
    }));
}

/// A document as JSON, as `--json` prints it.
///
/// # Errors
/// Where it has no form in JSON, which is a defect of ours.
pub fn json(document: &impl serde::Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(document).map_err(|error| Failure::internal(&error.to_string()))?;
    Ok(escaped(&text) + "\n")
}

/// JSON in which no character steers a terminal: those from U+007F to U+009F, which serde leaves as they are, stand in strings only.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            '\u{7f}'..='\u{9f}' => text.push_str(&format!("\\u{:04x}", u32::from(letter))),
            _ => text.push(letter),
        }
    }
    text
}

/// Prints a document, as JSON or in words.
///
/// # Errors
/// Where the output cannot be written.
pub fn document<T: serde::Serialize>(
    document: &T,
    as_json: bool,
    words: impl FnOnce(&T) -> String,
) -> Result<(), Failure> {
    print(&if as_json { json(document)? } else { words(document) })
}

/// Writes a document to a file, or to standard output where none is named. The file is there whole or not at all: it
/// is written beside its place and then moved there. What is no ordinary file (a device, a pipe) is written into.
///
/// # Errors
/// Where it cannot be written.
pub fn write(contents: &[u8], file: Option<&Path>) -> Result<(), Failure> {
    let Some(file) = file else { return put(contents) };
    let written = as_caller(|| {
        let is_special = std::fs::metadata(file).is_ok_and(|found| !found.is_file() && !found.is_dir());
        if is_special { std::fs::write(file, contents) } else { replace(file, contents) }
    });
    written.map_err(|error| Failure::not_written(file, &error))
}

/// Puts a file in the place of another, or where none was. A link goes on pointing where it did.
fn replace(file: &Path, contents: &[u8]) -> std::io::Result<()> {
    let place = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
    if place.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut beside =
        tempfile::Builder::new().prefix(".whyslow-").permissions(permissions(&place)).tempfile_in(folder)?;
    beside.write_all(contents)?;
    beside.as_file().sync_all()?;
    beside.persist(&place).map(drop).map_err(|error| error.error)
}

/// Those of the file that is replaced; of a new one what the user's mask leaves of reading for all.
fn permissions(place: &Path) -> std::fs::Permissions {
    let kept = std::fs::metadata(place).map(|found| found.permissions());
    kept.unwrap_or_else(|_| std::os::unix::fs::PermissionsExt::from_mode(0o666))
}

/// Says one line on standard error. Nobody listening is no error.
pub fn say(line: &str) {
    out_of_the_way(|| {
        let _ = writeln!(std::io::stderr().lock(), "whyslow: {}", report::clean(line));
    });
}

/// Draws a screen on standard error, in the place of the one before.
pub fn redraw(screen: &str) {
    // Home, and nothing is left of what was there.
    let _ = write!(std::io::stderr().lock(), "\x1b[H\x1b[2J{screen}");
}

/// Whether the terminal is to get no escape sequences: it cannot read them, or its user does not want them.
pub fn is_plain() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_none_or(|value| value == "dumb" || value.is_empty())
}

/// How text on standard output is to look: in colour on a terminal, unless NO_COLOR is set (no-color.org).
pub fn style() -> Style {
    let plain = is_plain() || !std::io::stdout().is_terminal();
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let style = Style::default();
    Style { colour: if plain { Colour::Plain } else { Colour::Ansi }, width: columns.unwrap_or(style.width) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_holds_nothing_that_steers_a_terminal_and_says_the_same() {
        let name = "caf\u{e9} \u{9b}31m \u{1b}[0m \u{7f}".to_string();
        let text = json(&name).expect("JSON");
        assert!(!text.trim_end().contains(char::is_control), "{text:?}");
        assert_eq!(serde_json::from_str::<String>(&text).expect("JSON"), name);
    }
}
