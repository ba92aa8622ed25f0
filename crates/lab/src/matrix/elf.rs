//! What a program or library says of itself.

use object::Endianness;
use object::elf::{DT_SONAME, FileHeader64, PT_INTERP};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use std::path::{Path, PathBuf};

/// A library's SONAME; none where it has none, or is no library.
pub fn soname(file: &Path) -> Option<String> {
    let data = std::fs::read(file).ok()?;
    let data = data.as_slice();
    let header = FileHeader64::<Endianness>::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, data).ok()?;
    let (entries, link) = sections.dynamic(endian, data).ok()??;
    let strings = sections.strings(endian, data, link).ok()?;
    let entry = entries.iter().find(|entry| entry.tag32(endian) == Some(DT_SONAME))?;
    let name = entry.string(endian, strings).ok()?;
    Some(String::from_utf8_lossy(name).into_owned())
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
    let Ok(data) = std::fs::read(file) else { return Start::Unknown };
    if let Some(line) = data.strip_prefix(b"#!") {
        let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line).into_owned();
        return line.split_whitespace().next().map_or(Start::Unknown, |program| Start::Interpreter(program.into()));
    }
    interpreter(&data).unwrap_or(Start::Unknown)
}

fn interpreter(data: &[u8]) -> Option<Start> {
    let header = FileHeader64::<Endianness>::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let segments = header.program_headers(endian, data).ok()?;
    match segments.iter().find(|segment| segment.p_type(endian) == PT_INTERP) {
        None => Some(Start::Static),
        Some(segment) => {
            let path = segment.interpreter(endian, data).ok()??;
            Some(Start::Loader(PathBuf::from(String::from_utf8_lossy(path).into_owned())))
        }
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
