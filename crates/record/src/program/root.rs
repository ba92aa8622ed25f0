//! A tree of files of a program's own: folders laid over each other, with parts of the host seen inside. What the program
//! writes to it goes to memory. All of it lives in a mount namespace and vanishes with the namespace's last process.

mod paths;

use super::c_string::c_string;
use crate::RecordError;
use serde::{Deserialize, Serialize};
use std::ffi::{CString, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Programs of another world are old: none of them gains rights by its mode, and no file of it is a device.
const HARMLESS: libc::c_ulong = libc::MS_NOSUID | libc::MS_NODEV;

/// The kernel takes a page of options for a mount, its end included.
const MOST_OPTIONS: usize = 4095;
/// Where the host's tree hangs inside until the program begins.
const HOST: &str = "/.whyslow-host";

/// The tree of files that a program sees as `/`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Root {
    /// Folders laid over each other, the topmost first: a file is looked for in each in turn. The kernel refuses those
    /// of one file system that lie in each other: over `/` go layers from elsewhere (`/dev/shm`).
    pub layers: Vec<PathBuf>,
    /// Folders and files of the host that are seen inside at the same path. Those that the host lacks are left out.
    pub shared: Vec<PathBuf>,
    /// An empty folder of the host to put the tree together in; no layer lies in it. It stays empty for all others.
    pub place: PathBuf,
}

/// A tree in the form in which the child needs it.
pub(super) struct Tree {
    place: CString,
    /// `place/upper`, `place/work`, `place/root`.
    folders: [CString; 3],
    options: CString,
    /// `place/root/.whyslow-host`.
    host: CString,
    shared: Vec<Shared>,
}

/// One thing that is shared.
struct Shared {
    source: CString,
    target: CString,
    /// Folders above the target, outermost first.
    above: Vec<CString>,
    is_folder: bool,
}

impl Tree {
    pub fn prepare(root: &Root) -> Result<Tree, RecordError> {
        let inside = |name: &str| root.place.join(name);
        let options = options(root, &inside("upper"), &inside("work"));
        if options.len() > MOST_OPTIONS {
            let source = std::io::Error::from_raw_os_error(libc::E2BIG);
            return Err(RecordError::Io {
                action: format!("laying {} folders over each other", root.layers.len()),
                source,
            });
        }
        let tree = inside("root");
        let shared = root.shared.iter().filter(|path| path.exists()).map(|path| Shared::prepare(path));
        Ok(Tree {
            place: c_string(root.place.as_os_str())?,
            folders: [
                c_string(inside("upper").as_os_str())?,
                c_string(inside("work").as_os_str())?,
                c_string(tree.as_os_str())?,
            ],
            options: c_string(&options)?,
            host: c_string(&path_in(&tree, Path::new(HOST)))?,
            shared: shared.collect::<Result<_, _>>()?,
        })
    }

    /// Puts the tree together and makes it `/`, in a mount namespace from which nothing spreads.
    ///
    /// SAFETY: for the child after the fork: makes async-signal-safe calls only.
    pub unsafe fn enter(&self) -> bool {
        let (none, memory, overlay) = (std::ptr::null(), c"tmpfs".as_ptr(), c"overlay".as_ptr());
        let [upper, work, root] = &self.folders;
        // SAFETY: numbers, constants and strings that were prepared before the fork.
        unsafe {
            libc::mount(memory, self.place.as_ptr(), memory, HARMLESS, c"mode=755".as_ptr().cast()) == 0
                && [upper, work, root].iter().all(|folder| libc::mkdir(folder.as_ptr(), 0o755) == 0)
                && libc::mount(overlay, root.as_ptr(), overlay, HARMLESS, self.options.as_ptr().cast()) == 0
                && libc::mkdir(self.host.as_ptr(), 0o755) == 0
                && libc::syscall(libc::SYS_pivot_root, root.as_ptr(), self.host.as_ptr()) == 0
                && libc::chdir(c"/".as_ptr()) == 0
                && self.shared.iter().all(|shared| {
                    shared.above.iter().for_each(|folder| {
                        libc::mkdir(folder.as_ptr(), 0o755);
                    });
                    shared.make_target()
                        && libc::mount(
                            shared.source.as_ptr(),
                            shared.target.as_ptr(),
                            none,
                            libc::MS_BIND | libc::MS_REC,
                            std::ptr::null(),
                        ) == 0
                })
        }
    }

    /// Lets go of the host's tree.
    ///
    /// SAFETY: as `enter`.
    pub unsafe fn leave_host() -> bool {
        let host = c"/.whyslow-host".as_ptr();
        // SAFETY: constants only.
        unsafe { libc::umount2(host, libc::MNT_DETACH) == 0 && libc::rmdir(host) == 0 }
    }
}

impl Shared {
    fn prepare(path: &Path) -> Result<Shared, RecordError> {
        let source = path.canonicalize().map_err(RecordError::io(format!("looking for {}", path.display())))?;
        let mut above = path.ancestors().skip(1).filter(|folder| *folder != Path::new("/")).collect::<Vec<_>>();
        above.reverse();
        Ok(Shared {
            is_folder: source.is_dir(),
            source: c_string(&path_in(Path::new(HOST), &source))?,
            target: c_string(path.as_os_str())?,
            above: above.into_iter().map(|folder| c_string(folder.as_os_str())).collect::<Result<_, _>>()?,
        })
    }

    /// Makes what it is mounted on, where that is not there.
    ///
    /// SAFETY: as `Tree::enter`.
    unsafe fn make_target(&self) -> bool {
        // SAFETY: numbers and a string prepared before the fork.
        unsafe {
            if self.is_folder {
                return libc::mkdir(self.target.as_ptr(), 0o755) == 0 || *libc::__errno_location() == libc::EEXIST;
            }
            let made = libc::open(self.target.as_ptr(), libc::O_CREAT | libc::O_RDONLY | libc::O_CLOEXEC, 0o644);
            made >= 0 && libc::close(made) == 0
        }
    }
}

/// Where a path of the host is found by the child once the tree is `/` and the host hangs in it.
pub(super) fn on_host(source: &Path) -> OsString {
    path_in(Path::new(HOST), source)
}

/// A path under another one.
fn path_in(folder: &Path, path: &Path) -> OsString {
    folder.join(path.strip_prefix("/").unwrap_or(path)).into_os_string()
}

/// The options of the mount. Inodes are numbered such that what a mapping and what a path say of a file agree (`xino`).
fn options(root: &Root, upper: &Path, work: &Path) -> OsString {
    let layers = root.layers.iter().map(|layer| escaped(layer)).collect::<Vec<_>>().join(&b':');
    let parts: [&[u8]; 6] =
        [b"xino=on,lowerdir=", &layers, b",upperdir=", &escaped(upper), b",workdir=", &escaped(work)];
    OsString::from_vec(parts.concat())
}

/// A path as the kernel takes it among a mount's options.
fn escaped(path: &Path) -> Vec<u8> {
    let special = |byte: &u8| b":,\\".contains(byte);
    path.as_os_str()
        .as_bytes()
        .iter()
        .flat_map(|byte| special(byte).then_some(b'\\').into_iter().chain([*byte]))
        .collect()
}
