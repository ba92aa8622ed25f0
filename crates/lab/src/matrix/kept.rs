//! Versions that were built before.

use super::prefix::Prefix;
use super::source::Sources;
use super::workshop::Workshop;
use std::path::Path;

/// What separates name, version and key in the name of a prefix's folder.
const SEPARATOR: char = '-';

impl Workshop {
    /// The versions that are there of libraries that are built on nothing else of ours: those that can be dropped in for
    /// another version alone.
    pub fn kept(&self, sources: &Sources) -> Vec<Prefix> {
        let entries = std::fs::read_dir(self.builds()).into_iter().flatten().flatten();
        let mut folders = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect::<Vec<_>>();
        folders.sort();
        folders.iter().filter_map(|folder| inspected(folder, sources)).collect()
    }
}

fn inspected(folder: &Path, sources: &Sources) -> Option<Prefix> {
    let (whole, key) = folder.file_name()?.to_str()?.rsplit_once(SEPARATOR)?;
    let (name, version) = whole.rsplit_once(SEPARATOR)?;
    let source = sources.named(name).filter(|source| source.on.is_empty())?;
    Prefix::inspect(source, version, key, Path::new("/"), folder).ok()
}
