//! The trees of files that watched programs see, held so that their files are found when the programs are gone: in our own
//! tree a path may lead to another file, or to none.

use super::maps::FileKey;
use crate::peer;
use broker::OpenOf;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Trees beyond this are not held: a program may start any number of containers.
const MOST_ROOTS: usize = 64;

/// The trees, each once.
#[derive(Default)]
pub(super) struct Roots(Vec<Root>);

/// One tree.
struct Root {
    /// Its topmost folder.
    folder: File,
    /// The mounts below it, which would vanish with their last process; none where we may not hold them.
    mounts: Option<File>,
}

impl Roots {
    /// Holds the tree that a process sees, unless it is held, or the process gone.
    pub fn hold(&mut self, pid: u32) {
        let theirs = open_folder(Path::new(&format!("/proc/{pid}/root")));
        let Some(folder) = peer::opened(theirs, OpenOf::Root { pid }) else { return };
        let mounts = peer::opened(File::open(format!("/proc/{pid}/ns/mnt")), OpenOf::Mounts { pid });
        self.add(Root { folder, mounts });
    }

    fn add(&mut self, root: Root) {
        if self.0.len() < MOST_ROOTS && !self.0.iter().any(|held| held.is(&root)) {
            self.0.push(root);
        }
    }

    /// The regular files that the path leads to in the trees held, the tree held last first.
    pub fn open(&self, path: &str) -> impl Iterator<Item = File> {
        // Programs are started in the folder that we are in, unless the user said so.
        let path = std::env::current_dir().unwrap_or_default().join(path);
        self.0.iter().rev().filter_map(move |root| root.open(&path))
    }
}

impl Root {
    fn is(&self, other: &Root) -> bool {
        let mounts = |root: &Root| root.mounts.as_ref().map(key);
        key(&self.folder) == key(&other.folder) && mounts(self) == mounts(other)
    }

    fn open(&self, path: &Path) -> Option<File> {
        // Without waiting: the path may have become a pipe or a device.
        let flags = OFlag::O_RDONLY | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
        let how = OpenHow::new().flags(flags).resolve(ResolveFlag::RESOLVE_IN_ROOT);
        let file = File::from(openat2(&self.folder, path, how).ok()?);
        file.metadata().ok()?.is_file().then_some(file)
    }
}

/// What tells an open file from others; nothing where that cannot be had.
pub(super) fn key(file: &File) -> Option<FileKey> {
    file.metadata().ok().map(|metadata| FileKey::of(&metadata))
}

fn open_folder(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_PATH | libc::O_DIRECTORY).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    fn held(folder: &Path) -> Root {
        Root { folder: open_folder(folder).expect("a folder"), mounts: None }
    }

    fn texts(roots: &Roots, path: &str) -> Vec<String> {
        let read = |mut file: File| {
            let mut text = String::new();
            file.read_to_string(&mut text).map(|_| text).expect("read")
        };
        roots.open(path).map(read).collect()
    }

    #[test]
    fn a_path_leads_inside_each_tree_by_its_own_links() {
        let (one, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        for (tree, text) in [(&one, "one"), (&other, "other")] {
            fs::create_dir(tree.path().join("usr")).expect("a folder");
            fs::write(tree.path().join("usr/library"), text).expect("written");
            symlink("/usr", tree.path().join("lib")).expect("linked");
        }
        let mut roots = Roots::default();
        for tree in [&one, &other, &one] {
            roots.add(held(tree.path()));
        }
        assert_eq!(texts(&roots, "/lib/library"), ["other", "one"]);
        assert_eq!(texts(&roots, "/../usr/library"), ["other", "one"]);
        assert_eq!(texts(&roots, "/usr"), Vec::<String>::new(), "a folder is no file");
    }

    #[test]
    fn a_tree_is_held_when_its_process_is_gone() {
        let mut sleeper = std::process::Command::new("sleep").arg("60").spawn().expect("sleep");
        let mut roots = Roots::default();
        roots.hold(sleeper.id());
        roots.hold(sleeper.id());
        sleeper.kill().and_then(|()| sleeper.wait()).expect("ended");
        roots.hold(sleeper.id());
        assert_eq!(roots.0.len(), 1);
        assert_eq!(roots.open("/proc/self/status").count(), 1);
    }
}
