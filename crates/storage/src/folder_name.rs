//! What a new case is called: when it was made, and of what.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A command's name is cut to this in a folder's name.
const MOST_NAME_LETTERS: usize = 40;

/// The folder for a new case: `YYYYMMDD-HHMMSS-command` in UTC, with a number behind it where that is taken.
pub fn new_folder(state: &Path, command: &[String], now: SystemTime) -> PathBuf {
    let seconds = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let name = format!("{}-{}", timestamp(seconds), plain_name(command));
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut candidates = [name.clone()].into_iter().chain(numbered).map(|name| state.join(name));
    candidates.find(|path| path.symlink_metadata().is_err()).unwrap_or_else(|| state.join(&name))
}

/// The command's file name, with everything but letters, digits, dots and dashes left out.
fn plain_name(command: &[String]) -> String {
    let word = command.first().map_or("", String::as_str);
    let name = word.rsplit('/').next().unwrap_or_default();
    let plain = name.chars().filter(|letter| letter.is_ascii_alphanumeric() || "._-".contains(*letter));
    let plain = plain.take(MOST_NAME_LETTERS).collect::<String>();
    if plain.is_empty() { "command".to_string() } else { plain }
}

/// Seconds since 1970 as `YYYYMMDD-HHMMSS`, in UTC.
fn timestamp(seconds: u64) -> String {
    let (year, month, day) = crate::date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_are_civil_dates_in_utc() {
        assert_eq!(timestamp(0), "19700101-000000");
        assert_eq!(timestamp(951_782_400), "20000229-000000");
        assert_eq!(timestamp(1_767_323_045), "20260102-030405");
    }

    #[test]
    fn a_case_is_named_after_time_and_command_and_never_twice() {
        let state = tempfile::tempdir().expect("a folder");
        let command = ["/usr/bin/py thon3;\u{1b}".to_string()];
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_323_045);
        let first = new_folder(state.path(), &command, now);
        assert_eq!(first, state.path().join("20260102-030405-python3"));
        std::fs::create_dir(&first).expect("made");
        assert_eq!(new_folder(state.path(), &command, now), state.path().join("20260102-030405-python3-2"));
    }
}
