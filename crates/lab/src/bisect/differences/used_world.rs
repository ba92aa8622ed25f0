//! One of the two worlds, with what the subject used of it.

use crate::LabError;
use crate::bisect::inside::Inside;
use crate::worlds::{Package, Packages, Ready};
use record::executable::Elf;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The loader's index of libraries.
const LOADER_CACHE: &str = "/etc/ld.so.cache";
/// Where CPython keeps what it has compiled of the files beside that folder (PEP 3147).
const PYTHON_CACHE: &str = "__pycache__";

/// A world and what is used of it.
pub(in crate::bisect) struct UsedWorld<'a> {
    pub world: &'a Ready,
    pub inside: Inside,
    pub packages: Packages,
    /// Each file by the path that it was used by: the links that it leads over, and last the file, all by their real paths.
    pub used: BTreeMap<PathBuf, Vec<PathBuf>>,
    /// The loaders that programs name, by their real paths.
    pub loaders: BTreeSet<PathBuf>,
}

impl<'a> UsedWorld<'a> {
    pub fn new(world: &'a Ready, used: &BTreeSet<PathBuf>) -> Result<UsedWorld<'a>, LabError> {
        let packages = Packages::read(&world.base)?;
        let (used_paths, inside) = (used, Inside::of_world(world));
        let (used, loaders) = (BTreeMap::new(), BTreeSet::new());
        let mut side = UsedWorld { world, inside, packages, used, loaders };
        for path in used_paths {
            side.take(path);
            let place = side.used.get(path).and_then(|chain| side.on_host(chain));
            if let Some(loader) = place.as_deref().and_then(Elf::read).and_then(|elf| elf.loader) {
                side.take(&loader);
                side.loaders.extend(side.inside.real(&loader));
            }
        }
        Ok(side)
    }

    /// Takes a path into what is used, where it is a file of the world's own.
    fn take(&mut self, path: &Path) {
        let is_shared = self.world.shared.iter().any(|shared| path.starts_with(shared));
        if path == Path::new(LOADER_CACHE) || (is_shared && !self.is_of_folder(path)) {
            return;
        }
        let chain = self.inside.chain(path);
        if self.on_host(&chain).is_some_and(|place| place.is_file()) {
            self.used.insert(path.to_path_buf(), chain);
        }
    }

    /// Where the file at the end of a chain is on the host.
    pub fn on_host(&self, chain: &[PathBuf]) -> Option<PathBuf> {
        Some(self.inside.entry(chain.last()?)?.0)
    }

    /// Whether a path is in the world's folder of libraries.
    pub fn is_of_folder(&self, path: &Path) -> bool {
        self.world.libraries.as_ref().is_some_and(|folder| path.starts_with(folder))
    }

    /// The package that a file belongs to; what was compiled of a file belongs to that file's.
    pub fn owner(&self, path: &Path) -> Option<&Package> {
        self.packages.owner(path).or_else(|| {
            let cache = path.parent().filter(|folder| folder.ends_with(PYTHON_CACHE))?;
            let name = path.file_name()?.to_str()?;
            self.packages.owner(&cache.parent()?.join(format!("{}.py", name.split('.').next()?)))
        })
    }

    /// The packages that own files used, by their names.
    pub fn used_packages(&self) -> BTreeMap<&str, &Package> {
        let owners = self.used.values().flatten().filter_map(|path| self.owner(path));
        owners.map(|package| (package.name.as_str(), package)).collect()
    }

    /// The source packages of the C library: those that own a loader.
    pub fn c_library(&self) -> BTreeSet<&str> {
        self.loaders.iter().filter_map(|loader| self.owner(loader)).map(|package| package.source.as_str()).collect()
    }
}
