//! The cache of worlds and packages: made once, never changed, used by all later runs.
//!
//! | folder | what is in it |
//! |---|---|
//! | `worlds/NAME/` | a whole world: `tree/`, and `world.toml`, which says what it is and was written last |
//! | `packages/` | what was downloaded, and unpacked packages |
//! | `place/` | nothing, ever: trees are put together there, unseen by others |
//! | `locks/` | a file for each thing being made |
//!
//! What is being made stands in a folder that ends in `.part` and is renamed when it is whole.

pub(crate) mod roots;

use super::packages::Packages;
use crate::LabError;
use roots::{Cache, OpenCache};
use serde::{Deserialize, Serialize};
use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The folder's name, below the user's caches.
const NAME: &str = "whyslow";
/// The folder of whole worlds.
const WORLDS: &str = "worlds";
/// What says that a world is whole.
const DESCRIPTOR: &str = "world.toml";
/// The ending of what is being made.
pub(super) const PART: &str = ".part";
/// How often a lock that another process holds is tried again.
const RETRY: Duration = Duration::from_millis(200);

/// The cache.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
    /// Where trees are put together, where that is not in it.
    place: Option<PathBuf>,
}

/// What a whole world says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Descriptor {
    /// The Debian release.
    pub suite: String,
    /// Where its packages came from.
    pub mirror: String,
    /// The packages that were asked for.
    pub packages: Vec<String>,
    /// Of dpkg's status when it was made, to tell whether it was changed since.
    pub digest: String,
    /// When it was made, in seconds since 1970.
    pub made: u64,
}

/// A world of the cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// Its name in the cache: `debian-bookworm`, `debian-bookworm-2`.
    pub name: String,
    /// Its files.
    pub tree: PathBuf,
    /// Where this process finds them: elsewhere, where only root gets to the tree itself.
    pub files: PathBuf,
    /// What it is.
    pub descriptor: Descriptor,
}

/// Something that this process alone may make, for as long as this lives.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Store {
    /// The cache at `$WHYSLOW_CACHE`, else for root at `/var/cache/whyslow`, else below `$XDG_CACHE_HOME` or `~/.cache`. Under sudo
    /// it is a folder in root's that is the caller's, and only whole worlds are root's.
    ///
    /// # Errors
    /// Where it cannot be made, or others than its owner could write to it.
    pub fn open() -> Result<Store, LabError> {
        if broker::has_dropped() {
            let Cache { own, place } = broker::ask(OpenCache, &[]).map_err(LabError::io("the cache of worlds"))?.answer;
            return Ok(Store { place: Some(place), ..Store::at(&own)? });
        }
        let own = || absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
        let root = if nix::unistd::geteuid().is_root() { Store::place_of_root() } else { named(own()) };
        let root = root.ok_or_else(|| {
            LabError::World(
                "there is no folder for worlds: neither WHYSLOW_CACHE, XDG_CACHE_HOME nor HOME is set".into(),
            )
        })?;
        Store::at(&root)
    }

    /// Where root's is.
    pub(super) fn place_of_root() -> Option<PathBuf> {
        named(Some(PathBuf::from("/var/cache")))
    }

    /// The cache in a folder, which is made where it is not there.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn at(root: &Path) -> Result<Store, LabError> {
        make(root)?;
        // Without links: what is shared with programs and what is laid over each other is compared by path.
        let root = root.canonicalize().map_err(LabError::io(root))?;
        let found = root.metadata().map_err(LabError::io(&root))?;
        if found.uid() != nix::unistd::geteuid().as_raw() || found.permissions().mode() & 0o022 != 0 {
            return Err(LabError::NoWorld {
                world: "the cache of worlds".to_string(),
                why: format!("{} belongs to another user or is writable by others", root.display()),
                remedy: format!("ls -ld {}; or name another folder in WHYSLOW_CACHE", root.display()),
            });
        }
        Ok(Store { root, place: None })
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where whole worlds are kept, and what they are made of: under sudo in the cache that is root's.
    pub fn root_of_worlds(&self) -> &Path {
        self.place.as_deref().and_then(Path::parent).unwrap_or(&self.root)
    }

    /// A folder of the cache, made where it is not there: `builds`, `packages/archives`.
    ///
    /// # Errors
    /// Where it cannot be made.
    pub fn folder(&self, kind: &str) -> Result<PathBuf, LabError> {
        let folder = self.root.join(kind);
        make(&folder)?;
        // Whole systems, old ones among them, whose setuid programs are for nobody else to run.
        if kind == WORLDS {
            let private = std::fs::set_permissions(&folder, Permissions::from_mode(0o700));
            private.map_err(LabError::io(&folder))?;
        }
        Ok(folder)
    }

    /// The empty folder in which trees are put together.
    ///
    /// # Errors
    /// Where it cannot be made.
    pub fn place(&self) -> Result<PathBuf, LabError> {
        self.place.clone().map_or_else(|| self.folder("place"), Ok)
    }

    /// The whole worlds, by name. What cannot be read as one is none.
    pub fn worlds(&self) -> Result<Vec<Made>, LabError> {
        if broker::has_dropped() {
            return roots::worlds();
        }
        let folder = self.folder(WORLDS)?;
        let entries = std::fs::read_dir(&folder).map_err(LabError::io(&folder))?;
        let world = |path: PathBuf| {
            let name = path.file_name()?.to_str().filter(|name| !name.ends_with(PART))?.to_string();
            let text = std::fs::read_to_string(path.join(DESCRIPTOR)).ok()?;
            Some(Made::of(name, &path, toml::from_str(&text).ok()?))
        };
        let mut worlds = entries.filter_map(|entry| world(entry.ok()?.path())).collect::<Vec<_>>();
        worlds.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(worlds)
    }

    /// Removes a world, whole or not.
    ///
    /// # Errors
    /// Where there is none of that name, or its files cannot be removed.
    pub fn remove(&self, name: &str) -> Result<(), LabError> {
        if broker::has_dropped() {
            return roots::remove(Some(name));
        }
        let folder = self.folder(WORLDS)?.join(name);
        if name.contains('/') || name.starts_with('.') || !folder.is_dir() {
            return Err(LabError::NoWorld {
                world: format!("a world `{name}`"),
                why: format!("{} has none of that name", self.root.join("worlds").display()),
                remedy: "whyslow world list".to_string(),
            });
        }
        // Whatever stops this half-way, nobody takes the rest for a world.
        let descriptor = folder.join(DESCRIPTOR);
        if descriptor.exists() {
            std::fs::remove_file(&descriptor).map_err(LabError::io(&descriptor))?;
        }
        std::fs::remove_dir_all(&folder).map_err(LabError::io(&folder))
    }

    /// Removes all worlds and all packages. Builds and locks stay.
    ///
    /// # Errors
    /// Where files cannot be removed.
    pub fn clear(&self) -> Result<(), LabError> {
        let packages = self.folder("packages")?;
        if broker::has_dropped() {
            roots::remove(None)?;
            return std::fs::remove_dir_all(&packages).map_err(LabError::io(&packages));
        }
        let entries = std::fs::read_dir(self.folder(WORLDS)?).into_iter().flatten();
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect::<Vec<_>>();
        names.iter().try_for_each(|name| self.remove(name))?;
        std::fs::remove_dir_all(&packages).map_err(LabError::io(&packages))
    }

    /// The lock on making something. Where another process makes it, that is said, and waited for.
    pub(super) fn lock(
        &self,
        what: &str,
        say: &dyn Fn(&str),
        wait: &mut dyn FnMut(Duration) -> bool,
    ) -> Result<Lock, LabError> {
        let path = self.folder("locks")?.join(what);
        let opened = OpenOptions::new().create(true).append(true).open(&path);
        let file = opened.map_err(LabError::io(&path))?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Lock { _file: file }),
                Err(TryLockError::Error(error)) => return Err(LabError::io(path)(error)),
                Err(TryLockError::WouldBlock) => say(&format!("another whyslow is making {what}; waiting for it")),
            }
            if wait(RETRY) {
                return Err(LabError::Interrupted);
            }
        }
    }

    /// Makes a part whole: writes its descriptor and gives it a name that is free.
    pub(super) fn complete(&self, part: &Path, name: &str, descriptor: Descriptor) -> Result<Made, LabError> {
        let text = toml::to_string(&descriptor).map_err(|error| LabError::World(error.to_string()))?;
        let path = part.join(DESCRIPTOR);
        std::fs::write(&path, text).map_err(LabError::io(path))?;
        let names = std::iter::once(name.to_string()).chain((2..).map(|number| format!("{name}-{number}")));
        let folder = self.folder(WORLDS)?;
        for name in names {
            let target = folder.join(&name);
            if target.exists() {
                continue;
            }
            std::fs::rename(part, &target).map_err(LabError::io(part))?;
            return Ok(Made::of(name, &target, descriptor));
        }
        Err(LabError::World(format!("{} is full", folder.display())))
    }
}

impl Made {
    fn of(name: String, folder: &Path, descriptor: Descriptor) -> Made {
        let tree = folder.join("tree");
        Made { name, files: tree.clone(), tree, descriptor }
    }

    /// Whether it is as it was when it was made.
    pub fn is_unchanged(&self) -> bool {
        Packages::digest(&self.files).is_ok_and(|digest| digest == self.descriptor.digest)
    }
}

/// The folder that the user names, else one below this folder of caches.
fn named(caches: Option<PathBuf>) -> Option<PathBuf> {
    absolute("WHYSLOW_CACHE").or_else(|| Some(caches?.join(NAME)))
}

fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

fn make(folder: &Path) -> Result<(), LabError> {
    let made = DirBuilder::new().recursive(true).mode(0o755).create(folder);
    made.map_err(LabError::io(folder))
}

#[cfg(test)]
mod tests;
