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
        let own = self.topmost(inside).and_then(found).filter(|(_, metadata)| !is_whiteout(metadata));
        // Folders above what is shared are made where no layer has them.
        let is_above = || self.shared.iter().any(|shared| shared.starts_with(path));
        own.or_else(|| is_above().then(|| found(path.to_path_buf())).flatten())
    }

    /// Where the topmost layer that has the path, or that hides it in the layers below, has it.
    fn topmost(&self, inside: &Path) -> Option<PathBuf> {
        let has = |layer: &&PathBuf| layer.join(inside).symlink_metadata().is_ok();
        let layer = self.layers.iter().find(|layer| has(layer) || hides_lower(layer, inside))?;
        Some(layer.join(inside))
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

/// Whether a layer that lacks a path keeps those below it from showing theirs: by something above it that is no folder, or
/// that is a folder of its own, not one with theirs.
fn hides_lower(layer: &Path, inside: &Path) -> bool {
    let above = inside.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    let mut there = above.map(|folder| layer.join(folder));
    there.any(|folder| folder.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir() || is_opaque(&folder)))
}

/// Whether a layer's folder is shown without what the layers below have in it: overlayfs marks it so.
fn is_opaque(folder: &Path) -> bool {
    let Ok(path) = super::c_string(folder.as_os_str()) else { return false };
    let mut value = 0_u8;
    // SAFETY: strings that end, and room for the one byte that is asked for.
    let length = unsafe {
        libc::lgetxattr(path.as_ptr(), c"trusted.overlay.opaque".as_ptr(), (&raw mut value).cast(), size_of::<u8>())
    };
    length == 1 && value == b'y'
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

    #[test]
    fn a_folder_that_a_layer_made_anew_shows_nothing_of_the_layers_below() {
        if !testing::is_root() {
            return;
        }
        // The kernel refuses layers that lie in each other, and marks on a file system that cannot keep them.
        let folder = tempfile::tempdir_in("/dev/shm").expect("a folder");
        let path = |name: &str| folder.path().join(name);
        for name in ["lower/anew", "lower/kept", "upper", "place"] {
            std::fs::create_dir_all(path(name)).expect("made");
        }
        std::fs::write(path("lower/anew/old"), "").expect("written");
        std::fs::write(path("lower/kept/old"), "").expect("written");
        // The kernel makes the mark itself: in a tree over the lower layer, whose topmost layer is then looked at.
        let script = format!(
            "mount -t overlay overlay -o lowerdir={0}/lower,upperdir={0}/upper,workdir={0}/place {0}/lower && \
             cd {0}/lower && rm -r anew && mkdir anew && touch anew/new kept/new",
            folder.path().display()
        );
        let made = Command::new("unshare").args(["-m", "sh", "-c", &script]).status().expect("unshare");
        assert!(made.success());
        let root = Root { layers: vec![path("upper"), path("lower")], ..Root::default() };
        let lead = |path: &str| root.resolve(Path::new(path));
        assert_eq!(lead("/anew/old"), None);
        assert_eq!(lead("/anew/new"), Some(path("upper/anew/new")));
        assert_eq!(lead("/kept/old"), Some(path("lower/kept/old")));
        assert_eq!(lead("/kept/new"), Some(path("upper/kept/new")));
    }

    #[test]
    fn a_file_in_the_place_of_a_folder_has_nothing_in_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let [upper, lower] = ["upper", "lower"].map(|name| folder.path().join(name));
        std::fs::create_dir_all(lower.join("name")).expect("made");
        std::fs::create_dir(&upper).expect("made");
        std::fs::write(lower.join("name/inside"), "").expect("written");
        std::fs::write(upper.join("name"), "").expect("written");
        let root = Root { layers: vec![upper.clone(), lower], ..Root::default() };
        assert_eq!(root.resolve(Path::new("/name/inside")), None);
        assert_eq!(root.resolve(Path::new("/name")), Some(upper.join("name")));
    }
}
