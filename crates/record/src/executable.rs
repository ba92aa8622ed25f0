//! What executable files say of themselves: ELF files of what they need, scripts of who executes them; and where a command's
//! first word finds one.

mod elf;
mod search;

pub use elf::Elf;
pub use search::{candidates, find};

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The kernel follows so many interpreters of interpreters (`BINPRM_MAX_RECURSION`) ...
pub const MOST_INTERPRETERS: usize = 4;
/// ... and reads so much of a first line (`BINPRM_BUF_SIZE`).
const FIRST_LINE: u64 = 256;

/// What a script's first line says after `#!`, in words: the interpreter's path, and what else there is. None of a file that
/// is no script, or that names nothing.
pub fn interpreter(file: &Path) -> Option<Vec<String>> {
    let mut first = Vec::new();
    File::open(file).ok()?.take(FIRST_LINE).read_to_end(&mut first).ok()?;
    let text = String::from_utf8_lossy(first.strip_prefix(b"#!")?).into_owned();
    let words = text.lines().next()?.split_whitespace().map(String::from).collect::<Vec<_>>();
    Some(words).filter(|words| !words.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_says_who_executes_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = folder.path().join("script");
        let said = |text: &str| {
            std::fs::write(&script, text).expect("written");
            interpreter(&script)
        };
        assert_eq!(said("#! /bin/sh -e\nexit\n"), Some(vec!["/bin/sh".to_string(), "-e".to_string()]));
        assert_eq!(said("#!\n/bin/sh\n"), None);
        assert_eq!(said("text"), None);
        assert_eq!(interpreter(folder.path()), None);
    }
}
