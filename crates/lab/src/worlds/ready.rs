//! A world that is there: its files are on this machine, whole and checked.

use super::WorldName;
use crate::treatment::End;
use crate::world::{Tree, World};
use record::Root;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A world that a subject can be set into.
#[derive(Clone, Debug)]
pub struct Ready {
    /// As it was asked for.
    pub name: WorldName,
    /// What it is, in a few words: `Debian 12 (bookworm), 113 packages`.
    pub title: String,
    /// The folder on the host that holds its files: `/` for the host.
    pub base: PathBuf,
    /// Variables that are particular to it.
    pub environment: BTreeMap<String, Option<String>>,
    /// A folder of libraries in front of those of `base`.
    pub libraries: Option<PathBuf>,
    /// The folder that programs run in; none is the user's.
    pub folder: Option<PathBuf>,
    /// What of the host is seen inside, at the same paths: /proc, /dev, /tmp, the working folder and so on.
    pub shared: Vec<PathBuf>,
    /// An empty folder in which trees are put together.
    pub place: PathBuf,
}

impl Ready {
    /// The tree, with layers over its files, the topmost first.
    pub fn root(&self, layers: &[PathBuf]) -> Root {
        let layers = layers.iter().chain([&self.base]).cloned().collect();
        Root { layers, shared: self.shared.clone(), place: self.place.clone() }
    }

    /// A trial's world like `other`, in which an end sees this one, with layers over its files.
    pub fn world(&self, other: &World, end: End, layers: &[PathBuf]) -> World {
        let mut world = other.clone();
        world.tree = Some(Tree { root: self.root(layers), end });
        world.environment.extend(self.environment.clone());
        if let Some(libraries) = &self.libraries {
            world.environment.insert("LD_LIBRARY_PATH".to_string(), Some(libraries.display().to_string()));
        }
        world.folder = world.folder.or_else(|| self.folder.clone());
        world
    }

    /// Where a path inside leads on the host; none where it leads nowhere. Links are followed as inside.
    pub fn on_host(&self, path: &Path) -> Option<PathBuf> {
        self.root(&[]).resolve(path)
    }
}
