//! What a program or library says of itself.

use record::executable::{self, Elf};
use std::path::{Path, PathBuf};

/// A library's SONAME; none where it has none, or is no library.
pub fn soname(file: &Path) -> Option<String> {
    Elf::read(file)?.soname
}

/// How a program is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// By this loader, which finds its libraries.
    Loader(PathBuf),
    /// It brings all it needs.
    Static,
    /// By this interpreter, which is a program itself.
    Interpreter(PathBuf),
    /// In some other way, or not at all.
    Unknown,
}

/// How a program is started.
pub fn start(file: &Path) -> Start {
    if let Some(words) = executable::interpreter(file) {
        return words.into_iter().next().map_or(Start::Unknown, |program| Start::Interpreter(program.into()));
    }
    match Elf::read(file) {
        Some(elf) => elf.loader.map_or(Start::Static, Start::Loader),
        None => Start::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_say_how_they_are_started() {
        let own = std::env::current_exe().expect("a path");
        let Start::Loader(loader) = start(&own) else { panic!("{:?}", start(&own)) };
        assert!(loader.is_file());
        let folder = tempfile::tempdir().expect("a folder");
        let script = folder.path().join("script");
        std::fs::write(&script, "#! /bin/sh -e\nexit\n").expect("written");
        assert_eq!(start(&script), Start::Interpreter("/bin/sh".into()));
        std::fs::write(&script, "text").expect("written");
        assert_eq!((start(&script), start(folder.path())), (Start::Unknown, Start::Unknown));
        assert_eq!(soname(&script), None);
    }
}
