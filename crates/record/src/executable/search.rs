//! Where a command's first word finds its program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where to look when PATH is not set: what the C library's exec functions take.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// The files that a word may name to a program started in a folder with such a PATH (none where that is not set), in the
/// order in which they are tried. Whether they are there is not looked at.
pub fn candidates(word: &str, folder: &Path, path: Option<OsString>) -> Vec<PathBuf> {
    if word.contains('/') {
        return vec![folder.join(word)];
    }
    let path = path.unwrap_or_else(|| DEFAULT_PATH.into());
    std::env::split_paths(&path).map(|place| folder.join(place).join(word)).collect()
}

/// The file that a word names to us, as a shell in a folder would find it.
pub fn find(word: &str, folder: &Path) -> Option<PathBuf> {
    candidates(word, folder, std::env::var_os("PATH")).into_iter().find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        let here = Path::new("");
        assert!(find("sh", here).is_some() && find("/bin/sh", here).is_some());
        assert!(find("no-such-program", here).is_none() && find("/no/such", here).is_none());
        assert_eq!(candidates("./x", Path::new("/opt"), None), [Path::new("/opt/./x")]);
        assert_eq!(candidates("x", here, None), [Path::new("/bin/x"), Path::new("/usr/bin/x")]);
    }
}
