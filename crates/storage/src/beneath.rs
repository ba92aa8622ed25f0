//! A folder held open, and files beneath it. The folder is the one that was opened, whatever becomes of its name; no link in the
//! place of a file or a folder in it is followed, by whomever we run; what is read is a regular file, and opening it waits for
//! nobody. What is written is a new file, or takes the place of another in one step.

use crate::caller::as_caller;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, OpenHow, ResolveFlag, openat, openat2, renameat};
use nix::sys::stat::{Mode, fstatat, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};
use std::fs::File;
use std::io::{Error, ErrorKind, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Nothing in it leads out of it, nor over a link.
const INSIDE: ResolveFlag = ResolveFlag::RESOLVE_BENEATH.union(ResolveFlag::RESOLVE_NO_SYMLINKS);

/// For folders: held as a place only.
const FOLDER: OFlag = OFlag::O_PATH.union(OFlag::O_DIRECTORY).union(OFlag::O_CLOEXEC);

/// A folder that is held open. Files are touched with the rights of whoever called sudo ([`as_caller`]).
#[derive(Clone, Debug)]
pub struct Beneath {
    folder: Arc<OwnedFd>,
    path: PathBuf,
}

impl Beneath {
    /// The folder that a user named: links on the way to it are the user's.
    ///
    /// # Errors
    /// Where it is not there, or no folder.
    pub fn open(path: &Path) -> std::io::Result<Beneath> {
        let folder = as_caller(|| nix::fcntl::open(path, FOLDER, Mode::empty()))?;
        Ok(Beneath { folder: Arc::new(folder), path: path.to_path_buf() })
    }

    /// A new folder (mode 0700) and those above it that are missing.
    ///
    /// # Errors
    /// Where something has that name already, or it cannot be made.
    pub fn create(path: &Path) -> std::io::Result<Beneath> {
        let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
        as_caller(|| std::fs::DirBuilder::new().recursive(true).mode(0o700).create(above))?;
        let mut made = Beneath::open(above)?.new_folder(Path::new(name))?;
        made.path = path.to_path_buf();
        Ok(made)
    }

    /// How the folder was named when it was opened; for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A new folder in this one, of mode 0700.
    ///
    /// # Errors
    /// Where something has that name already, or it cannot be made.
    pub fn new_folder(&self, name: &Path) -> std::io::Result<Beneath> {
        as_caller(|| mkdirat(&self.folder, name, Mode::S_IRWXU))?;
        self.folder(name)
    }

    /// A folder in this one.
    ///
    /// # Errors
    /// Where there is none of that name.
    pub fn folder(&self, name: &Path) -> std::io::Result<Beneath> {
        let folder = self.at(name, FOLDER, Mode::empty())?;
        Ok(Beneath { folder: Arc::new(folder), path: self.path.join(name) })
    }

    /// Opens a regular file for reading.
    ///
    /// # Errors
    /// Where there is none of that name: a pipe, a device or a link is none.
    pub fn read(&self, name: &Path) -> std::io::Result<File> {
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
        regular(self.at(name, flags, Mode::empty())?.into())
    }

    /// A file that was not there, for writing; who may read it is left to the mask of whoever runs us, as the folder is private.
    ///
    /// # Errors
    /// Where something has that name, a link say.
    pub fn create_new(&self, name: &Path) -> std::io::Result<File> {
        let mode = Mode::from_bits_truncate(0o666);
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        Ok(File::from(self.at(name, flags, mode)?))
    }

    /// Writes a file beside its place and moves it there: it is there whole or not at all, and what was there before, a link say,
    /// is gone and was not written through.
    ///
    /// # Errors
    /// Where it cannot be written; what was there before is then still there.
    pub fn replace(&self, name: &Path, contents: &[u8]) -> std::io::Result<()> {
        let short = name.file_name().unwrap_or_default().to_string_lossy();
        let beside = name.with_file_name(format!(".{short}.{}", std::process::id()));
        let written = self.create_new(&beside).and_then(|mut file| file.write_all(contents));
        let moved = written.and_then(|()| self.rename(&beside, name));
        // What is incomplete is in nobody's way where it cannot be removed.
        moved.inspect_err(|_| drop(self.remove(&beside)))
    }

    /// A file that is there, to be written over from its beginning.
    ///
    /// # Errors
    /// Where there is none of that name: a pipe, a device or a link is none.
    pub fn write_over(&self, name: &Path) -> std::io::Result<File> {
        let flags = OFlag::O_WRONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
        regular(self.at(name, flags, Mode::empty())?.into())
    }

    /// Moves a file within its folder, in the place of what has the name there.
    ///
    /// # Errors
    /// Where it is not there, or may not be moved.
    pub fn rename(&self, from: &Path, to: &Path) -> std::io::Result<()> {
        let (folder, from, to) = (self.above(from)?, last(from), last(to));
        Ok(as_caller(|| renameat(&folder, from, &folder, to))?)
    }

    /// Removes a file; a link is removed, not what it leads to.
    ///
    /// # Errors
    /// Where it is not there, or may not be removed.
    pub fn remove(&self, name: &Path) -> std::io::Result<()> {
        let folder = self.above(name)?;
        Ok(as_caller(|| unlinkat(&folder, last(name), UnlinkatFlags::NoRemoveDir))?)
    }

    /// Whether something has that name, be it what it may.
    pub fn has(&self, name: &Path) -> bool {
        let found = |folder| as_caller(|| fstatat(&folder, last(name), AtFlags::AT_SYMLINK_NOFOLLOW));
        self.above(name).is_ok_and(|folder| found(folder).is_ok())
    }

    /// The folder in which the last part of a name stands.
    fn above(&self, name: &Path) -> std::io::Result<Arc<OwnedFd>> {
        match name.parent().filter(|above| !above.as_os_str().is_empty()) {
            Some(above) => self.at(above, FOLDER, Mode::empty()).map(Arc::new),
            None => Ok(Arc::clone(&self.folder)),
        }
    }

    fn at(&self, name: &Path, flags: OFlag, mode: Mode) -> std::io::Result<OwnedFd> {
        as_caller(|| {
            let how = OpenHow::new().flags(flags).mode(mode).resolve(INSIDE);
            match openat2(&self.folder, name, how) {
                // Kernels before 5.6, and sandboxes that know no newer calls.
                Err(Errno::ENOSYS) => self.step_by_step(name, flags, mode),
                opened => Ok(opened?),
            }
        })
    }

    /// The same without `openat2`: each folder on the way is opened by itself, and is no link.
    fn step_by_step(&self, name: &Path, flags: OFlag, mode: Mode) -> std::io::Result<OwnedFd> {
        let mut folder = Arc::clone(&self.folder);
        let mut parts = name.components().peekable();
        while let Some(part) = parts.next() {
            let Component::Normal(part) = part else { return Err(ErrorKind::InvalidInput.into()) };
            if parts.peek().is_none() {
                return Ok(openat(&folder, part, flags | OFlag::O_NOFOLLOW, mode)?);
            }
            folder = Arc::new(openat(&folder, part, FOLDER | OFlag::O_NOFOLLOW, Mode::empty())?);
        }
        Err(ErrorKind::InvalidInput.into())
    }
}

fn regular(file: File) -> std::io::Result<File> {
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(Error::new(ErrorKind::InvalidInput, "it is not a regular file"))
    }
}

/// The last part of a name.
fn last(name: &Path) -> &Path {
    name.file_name().map_or(name, Path::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// A folder with somebody's file outside it.
    fn stage() -> (tempfile::TempDir, Beneath, PathBuf) {
        let home = tempfile::tempdir().expect("a folder");
        let folder = Beneath::create(&home.path().join("a/b/case")).expect("made");
        let outside = home.path().join("precious");
        fs::write(&outside, "precious").expect("written");
        (home, folder, outside)
    }

    fn read(folder: &Beneath, name: &str) -> std::io::Result<String> {
        let mut text = String::new();
        folder.read(Path::new(name))?.read_to_string(&mut text).map(|_| text)
    }

    #[test]
    fn a_link_is_neither_read_nor_written_through_nor_stepped_over() {
        let (_home, folder, outside) = stage();
        symlink(&outside, folder.path().join("link")).expect("linked");
        symlink(outside.parent().expect("a folder"), folder.path().join("way")).expect("linked");
        for name in ["link", "way/precious", "../precious", "../../../precious", "/etc/hosts"] {
            assert!(read(&folder, name).is_err(), "{name} was read");
            assert!(folder.create_new(Path::new(name)).is_err(), "{name} was made");
            let flags = OFlag::O_RDONLY | OFlag::O_CLOEXEC;
            assert!(
                folder.step_by_step(Path::new(name), flags, Mode::empty()).is_err(),
                "{name} was read step by step"
            );
        }
        assert!(folder.replace(Path::new("way/precious"), b"x").is_err());
        folder.replace(Path::new("link"), b"a document").expect("replaced");
        assert_eq!(read(&folder, "link").expect("read"), "a document");
        folder.remove(Path::new("way")).expect("removed");
        assert_eq!(fs::read_to_string(outside).expect("there"), "precious");
    }

    #[test]
    fn pipes_and_devices_are_no_files_and_nobody_waits_for_them() {
        let (_home, folder, _) = stage();
        nix::unistd::mkfifo(&folder.path().join("pipe"), Mode::S_IRWXU).expect("a pipe");
        assert!(read(&folder, "pipe").is_err());
        assert!(read(&Beneath::open(Path::new("/dev")).expect("a folder"), "zero").is_err());
        assert!(folder.has(Path::new("pipe")));
    }

    #[test]
    fn the_folder_is_the_one_that_was_opened_whatever_takes_its_name() {
        let (home, folder, outside) = stage();
        fs::rename(folder.path(), home.path().join("moved")).expect("renamed");
        symlink(home.path(), folder.path()).expect("linked");
        folder.replace(Path::new("precious"), b"ours").expect("written");
        folder.new_folder(Path::new("tables")).expect("made");
        assert_eq!(fs::read_to_string(outside).expect("there"), "precious");
        assert_eq!(fs::read_to_string(home.path().join("moved/precious")).expect("there"), "ours");
        assert!(home.path().join("moved/tables").is_dir());
    }

    #[test]
    fn a_folder_that_is_made_is_its_owners_alone_and_nothing_is_made_twice() {
        let (_home, folder, _) = stage();
        drop(folder.create_new(Path::new("file")).expect("made"));
        assert!(folder.create_new(Path::new("file")).is_err());
        assert!(folder.new_folder(Path::new("file")).is_err());
        assert!(Beneath::create(folder.path()).is_err());
        let mode = |name: &str| folder.path().join(name).metadata().expect("there").permissions().mode() & 0o777;
        assert_eq!((mode("file") & 0o600, mode(".")), (0o600, 0o700));
    }
}
