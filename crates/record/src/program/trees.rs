//! Trees of files that only root can get to, such as worlds in its cache. The broker hands them over as descriptors, by which the
//! command reads what its own user may read in them, and which programs see as layers.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Writable for the group or for others.
const WRITABLE: u32 = 0o022;

/// In the broker, the trees that were handed over.
static HANDED_OVER: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// In the command, those that it got: the tree, and what it is open as.
static KEPT: Mutex<Vec<(PathBuf, OwnedFd)>> = Mutex::new(Vec::new());

/// Opens a tree for the command, by a path of root's without links. Whatever is executed through the descriptor gains no rights by
/// its mode, no device is one, and nothing can be written.
///
/// # Errors
/// Where it is not there, or the kernel is older than 5.12.
pub fn hand_over(tree: &Path) -> io::Result<OwnedFd> {
    let path = CString::new(tree.as_os_str().as_encoded_bytes())?;
    let flags = libc::OPEN_TREE_CLONE | libc::O_CLOEXEC as libc::c_uint;
    // SAFETY: a string that ends, and numbers.
    let opened = unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags) } as RawFd;
    if opened < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a descriptor that the kernel has just made for us.
    let opened = unsafe { OwnedFd::from_raw_fd(opened) };
    let mut harmless = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_RDONLY,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    let (own, size) = (c"".as_ptr(), size_of::<libc::mount_attr>());
    // SAFETY: the structure lives on the stack.
    let set = unsafe {
        let at = opened.as_raw_fd();
        libc::syscall(libc::SYS_mount_setattr, at, own, libc::AT_EMPTY_PATH, &raw mut harmless, size)
    };
    if set != 0 {
        return Err(io::Error::last_os_error());
    }
    held(&HANDED_OVER).push(tree.to_path_buf());
    Ok(opened)
}

/// Keeps a tree that was handed over until the end: where this process finds its files.
pub fn keep(tree: &Path, opened: OwnedFd) -> PathBuf {
    let mut kept = held(&KEPT);
    if let Some((_, before)) = kept.iter().find(|(before, _)| before == tree) {
        return seen(before);
    }
    let place = seen(&opened);
    kept.push((tree.to_path_buf(), opened));
    place
}

/// A tree by its own path, where it was handed over.
pub fn real(tree: &Path) -> PathBuf {
    let kept = held(&KEPT);
    let found = kept.iter().find(|(_, opened)| seen(opened) == tree);
    found.map_or_else(|| tree.to_path_buf(), |(own, _)| own.clone())
}

/// Whether the broker has handed over this very tree.
pub(super) fn is_handed_over(layer: &Path) -> bool {
    held(&HANDED_OVER).iter().any(|tree| tree == layer)
}

fn seen(opened: &OwnedFd) -> PathBuf {
    format!("/proc/self/fd/{}", opened.as_raw_fd()).into()
}

fn held<T>(list: &'static Mutex<Vec<T>>) -> MutexGuard<'static, Vec<T>> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a path leads over no link, and nobody but root can put another folder in its place.
pub fn is_roots(path: &Path) -> bool {
    let is_roots = |folder: &Path| {
        let Ok(found) = folder.symlink_metadata() else { return false };
        let is_closed = found.mode() & WRITABLE == 0 || (folder != path && found.mode() & libc::S_ISVTX != 0);
        found.is_dir() && found.uid() == 0 && is_closed
    };
    let is_plain = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    path.is_absolute() && is_plain && path.ancestors().all(is_roots)
}
