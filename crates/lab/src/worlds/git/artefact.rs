//! What a commit was built into, as a digest: the same in two commits where a run cannot tell them apart.
//!
//! That is every program and library that was built, by what the kernel and the loader take of it into memory, and every
//! other file that runs are seen to open. Where that is a file of the repository itself, all files of the repository count but
//! documents: another one may be read in another commit.

use super::documents::is_document;
use super::{Ready, Repository};
use crate::error::LabError;
use object::{Object, ObjectKind, ObjectSection, SectionFlags};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The loader does not take debug information and symbols; this one, that it takes, is made of them all.
const BUILD_ID: &str = ".note.gnu.build-id";

impl Repository {
    /// The digest of what a commit's world was built into. `opened` are the names of files, without folders, that runs were
    /// seen to open.
    ///
    /// # Errors
    /// Where a file of it cannot be read.
    pub fn artefact(&self, ready: &Ready, opened: &BTreeSet<String>) -> Result<String, LabError> {
        let folder = ready.folder.as_deref().unwrap_or(Path::new("/"));
        let top = self.run(folder, &["rev-parse", "--show-toplevel"])?;
        let top = PathBuf::from(String::from_utf8_lossy(&top.stdout).trim());
        let listed = self.run(&top, &["-c", "core.quotePath=false", "ls-files", "--stage"])?;
        let listed = String::from_utf8_lossy(&listed.stdout);
        // `100644 hash 0<tab>path`
        let tracked = listed.lines().filter_map(|line| line.split_once('\t')).collect::<Vec<_>>();
        let is_opened = |path: &str| opened.contains(path.rsplit('/').next().unwrap_or(path));
        let mut digest = Sha256::new();
        if tracked.iter().any(|(_, path)| is_opened(path)) {
            for (blob, path) in tracked.iter().filter(|(_, path)| is_opened(path) || !is_document(path)) {
                digest.update(format!("{blob}\t{path}\n"));
            }
        }
        let tracked = tracked.iter().map(|(_, path)| Path::new(*path)).collect::<BTreeSet<_>>();
        let mut files = Vec::new();
        list(&top, &mut files)?;
        files.sort();
        for file in files {
            let below = file.strip_prefix(&top).unwrap_or(&file);
            if tracked.contains(below) {
                continue;
            }
            let bytes = fs::read(&file).map_err(LabError::io(&file))?;
            let taken = if bytes.starts_with(b"\x7fELF") {
                loaded(&bytes)
            } else {
                is_opened(&below.to_string_lossy()).then_some(bytes)
            };
            if let Some(taken) = taken {
                digest.update(below.as_os_str().as_encoded_bytes());
                digest.update(elsewhere(taken, &top));
            }
        }
        Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// All regular files below a folder but those of git.
fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), LabError> {
    for entry in fs::read_dir(folder).map_err(LabError::io(folder))?.flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && entry.file_name() != ".git" => list(&entry.path(), files)?,
            Ok(kind) if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
    Ok(())
}

/// What of a program or library is taken into memory; none of what is only a part of one. All of it where it says nothing
/// of its sections.
fn loaded(bytes: &[u8]) -> Option<Vec<u8>> {
    let Ok(file) = object::File::parse(bytes) else { return Some(bytes.to_vec()) };
    if file.kind() == ObjectKind::Relocatable {
        return None;
    }
    let mut taken = Vec::new();
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
        let name = section.name().unwrap_or_default();
        if sh_flags & u64::from(object::elf::SHF_ALLOC) != 0 && name != BUILD_ID {
            taken.extend(format!("{name} {:x} {:x} {sh_flags:x}\n", section.address(), section.size()).bytes());
            taken.extend(section.data().unwrap_or_default());
        }
    }
    Some(if taken.is_empty() { bytes.to_vec() } else { taken })
}

/// Bytes in which the folder that they were built in, which each commit has its own of, is not named.
fn elsewhere(mut bytes: Vec<u8>, top: &Path) -> Vec<u8> {
    let name = top.as_os_str().as_encoded_bytes();
    let mut from = 0;
    while let Some(at) = bytes[from..].windows(name.len().max(1)).position(|window| window == name) {
        bytes[from + at..from + at + name.len()].fill(0);
        from += at + name.len();
    }
    bytes
}
