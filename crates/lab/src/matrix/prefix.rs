//! A version of a library, installed in a folder of its own.

use super::elf;
use super::source::Source;
use std::path::{Path, PathBuf};

/// An installed version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// The library: `openssl`.
    pub name: String,
    /// Upstream's version.
    pub version: String,
    /// Where it is.
    pub folder: PathBuf,
    /// Its shared libraries: SONAME and file.
    pub libraries: Vec<(String, PathBuf)>,
    /// What tells it from one that was built otherwise.
    pub key: String,
}

impl Prefix {
    /// Looks at what is installed in a folder. `root` is where that folder's own root is: while it is installed, a stage.
    ///
    /// # Errors
    /// One sentence, where a library that should be there is not.
    pub fn inspect(source: &Source, version: &str, key: &str, root: &Path, folder: &Path) -> Result<Prefix, String> {
        let below = folder.strip_prefix("/").unwrap_or(folder);
        let libraries = source.libraries.iter().map(|library| {
            let file = root.join(below).join(library);
            match elf::soname(&file) {
                Some(soname) => Ok((soname, folder.join(library))),
                None if file.exists() => Err(format!("{library} is not a shared library, or has no SONAME")),
                None => Err(format!("{library} was not installed")),
            }
        });
        Ok(Prefix {
            name: source.name.clone(),
            version: version.to_string(),
            folder: folder.to_path_buf(),
            libraries: libraries.collect::<Result<_, _>>()?,
            key: key.to_string(),
        })
    }

    /// The folders that hold its libraries.
    pub fn library_folders(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        for folder in self.libraries.iter().filter_map(|(_, file)| file.parent()) {
            if !folders.iter().any(|known| known == folder) {
                folders.push(folder.to_path_buf());
            }
        }
        folders
    }

    /// The SONAMEs of its libraries.
    pub fn sonames(&self) -> Vec<String> {
        self.libraries.iter().map(|(soname, _)| soname.clone()).collect()
    }
}
