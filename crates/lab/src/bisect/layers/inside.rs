//! Where paths lead inside a tree of files: links are followed as a program inside would follow them.

use crate::worlds::Ready;
use record::Root;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::Metadata;
use std::path::{Component, Path, PathBuf};

/// As many links as the kernel follows for one path.
const MOST_LINKS: usize = 40;

/// A tree of files as it is seen inside.
pub(in crate::bisect) struct Inside {
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

    /// The links by which a path leads to what it names, each by its own real path, and last that itself; empty where it
    /// leads nowhere.
    pub fn chain(&self, path: &Path) -> Vec<PathBuf> {
        let mut links = Vec::new();
        match self.walk(path, &mut links) {
            Some(end) => links.into_iter().chain([end]).collect(),
            None => Vec::new(),
        }
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
        Some(self.entry(&self.real(path)?)?.0)
    }

    /// What lies at a real path, not followed, with its place on the host.
    pub fn entry(&self, path: &Path) -> Option<(PathBuf, Metadata)> {
        let found = |place: PathBuf| place.symlink_metadata().ok().map(|metadata| (place, metadata));
        if self.root.shared.iter().any(|shared| path.starts_with(shared)) {
            return found(path.to_path_buf());
        }
        let inside = path.strip_prefix("/").unwrap_or(path);
        self.root.layers.iter().find_map(|layer| found(layer.join(inside)))
    }

    fn walk(&self, path: &Path, links: &mut Vec<PathBuf>) -> Option<PathBuf> {
        let (mut done, mut rest) = (PathBuf::from("/"), parts(path));
        let mut followed = 0;
        while let Some(name) = rest.pop_front() {
            if name == ".." {
                done.pop();
                continue;
            }
            let next = done.join(name);
            let (place, metadata) = self.entry(&next)?;
            if !metadata.is_symlink() {
                done = next;
                continue;
            }
            followed += 1;
            let target = std::fs::read_link(place).ok().filter(|_| followed <= MOST_LINKS)?;
            if rest.is_empty() {
                links.push(next);
            }
            if target.is_absolute() {
                done = PathBuf::from("/");
            }
            let mut onward = parts(&target);
            onward.append(&mut rest);
            rest = onward;
        }
        Some(done)
    }
}

fn parts(path: &Path) -> VecDeque<OsString> {
    let named = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_os_string()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    };
    path.components().filter_map(named).collect()
}
