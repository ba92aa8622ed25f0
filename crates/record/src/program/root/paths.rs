//! Where paths lead inside a tree of files: links are followed as a program inside would follow them.

use super::Root;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

/// As many links as the kernel follows for one path.
const MOST_LINKS: usize = 40;

impl Root {
    /// Where a path inside leads on the host: into what is shared, else into the topmost layer that has it. Links are followed
    /// as inside; none where it leads nowhere.
    pub fn resolve(&self, path: &Path) -> Option<PathBuf> {
        Some(self.entry(self.chain(path).last()?)?.0)
    }

    /// The links by which a path leads to what it names, each by its own path without links, and last that itself; empty
    /// where it leads nowhere.
    pub fn chain(&self, path: &Path) -> Vec<PathBuf> {
        let mut links = Vec::new();
        match self.walk(path, &mut links) {
            Some(end) => links.into_iter().chain([end]).collect(),
            None => Vec::new(),
        }
    }

    /// What lies at a path without links, itself not followed, with its place on the host.
    pub fn entry(&self, path: &Path) -> Option<(PathBuf, Metadata)> {
        let found = |place: PathBuf| place.symlink_metadata().ok().map(|metadata| (place, metadata));
        if self.shared.iter().any(|shared| path.starts_with(shared)) {
            return found(path.to_path_buf());
        }
        let inside = path.strip_prefix("/").unwrap_or(path);
        let own = self.layers.iter().find_map(|layer| found(layer.join(inside)));
        let own = own.filter(|(_, metadata)| !is_whiteout(metadata));
        // Folders above what is shared are made where no layer has them.
        let is_above = || self.shared.iter().any(|shared| shared.starts_with(path));
        own.or_else(|| is_above().then(|| found(path.to_path_buf())).flatten())
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

/// Whether a layer says by this that what the layers below it have is gone: a character device of number 0.
fn is_whiteout(metadata: &Metadata) -> bool {
    metadata.file_type().is_char_device() && metadata.rdev() == 0
}

fn parts(path: &Path) -> VecDeque<OsString> {
    let named = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_os_string()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    };
    path.components().filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    #[test]
    fn a_link_inside_leads_where_it_leads_for_a_program_there_and_not_to_the_host() {
        let folder = tempfile::tempdir().expect("a folder");
        let base = folder.path();
        std::fs::create_dir_all(base.join("usr/lib/only-inside")).expect("made");
        std::fs::write(base.join("usr/lib/only-inside/file"), "").expect("written");
        symlink("/usr/lib", base.join("lib")).expect("linked");
        symlink("/usr/lib/only-inside/file", base.join("tool")).expect("linked");
        symlink("/etc/passwd", base.join("away")).expect("linked");
        symlink("circle", base.join("circle")).expect("linked");
        let root = Root { layers: vec![base.to_path_buf()], ..Root::default() };
        let file = base.join("usr/lib/only-inside/file");
        for path in ["/tool", "/lib/only-inside/file", "/lib/../lib/only-inside/file"] {
            assert_eq!(root.resolve(Path::new(path)), Some(file.clone()), "{path}");
        }
        // Above a link's folder is what is above the folder that it leads to.
        assert_eq!(root.resolve(Path::new("/lib/../usr/lib/only-inside/file")), None);
        // The host has this file, and the tree has not.
        assert_eq!(root.resolve(Path::new("/away")), None);
        assert_eq!(root.resolve(Path::new("/circle")), None);
        let sharing = Root { shared: vec!["/etc/passwd".into()], ..root };
        assert_eq!(sharing.resolve(Path::new("/away")), Some("/etc/passwd".into()));
        assert_eq!(sharing.chain(Path::new("/away")), ["/away", "/etc/passwd"].map(PathBuf::from));
    }

    #[test]
    fn what_a_layer_removed_is_not_found_in_the_layers_below() {
        let folder = tempfile::tempdir().expect("a folder");
        let [upper, lower] = ["upper", "lower"].map(|name| folder.path().join(name));
        for layer in [&upper, &lower] {
            std::fs::create_dir(layer).expect("made");
        }
        for name in ["gone", "kept"] {
            std::fs::write(lower.join(name), "").expect("written");
        }
        let made = Command::new("mknod").arg(upper.join("gone")).args(["c", "0", "0"]).status().expect("mknod");
        assert!(made.success());
        let root = Root { layers: vec![upper, lower.clone()], ..Root::default() };
        assert_eq!(root.resolve(Path::new("/gone")), None);
        assert_eq!(root.resolve(Path::new("/kept")), Some(lower.join("kept")));
    }
}
