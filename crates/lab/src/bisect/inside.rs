//! Where paths lead inside a tree of files.

use crate::worlds::Ready;
use record::Root;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// A tree of files as it is seen inside.
pub(super) struct Inside {
    root: Root,
}

impl Inside {
    /// A tree.
    pub fn of(root: Root) -> Inside {
        Inside { root }
    }

    /// The files of a world itself, what it shares with the host left out: those are no world's.
    pub fn of_world(world: &Ready) -> Inside {
        Inside { root: Root { layers: vec![world.base.clone()], ..Root::default() } }
    }

    /// The path without links, of something that is there.
    pub fn real(&self, path: &Path) -> Option<PathBuf> {
        self.chain(path).pop()
    }

    /// As [`Root::chain`].
    pub fn chain(&self, path: &Path) -> Vec<PathBuf> {
        self.root.chain(path)
    }

    /// Where something would lie if it were put at a path: links of its folders are followed as far as they are there.
    pub fn settled(&self, path: &Path) -> PathBuf {
        match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) => self.real(folder).unwrap_or_else(|| self.settled(folder)).join(name),
            _ => PathBuf::from("/"),
        }
    }

    /// Where the content of a path is found on the host.
    pub fn on_host(&self, path: &Path) -> Option<PathBuf> {
        self.root.resolve(path)
    }

    /// As [`Root::entry`].
    pub fn entry(&self, path: &Path) -> Option<(PathBuf, Metadata)> {
        self.root.entry(path)
    }
}
