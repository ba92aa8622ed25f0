//! A tree of files of a program's own: folders laid over each other, with parts of the host seen inside. What the program
//! writes to it goes to memory. All of it lives in a mount namespace and vanishes with the namespace's last process.

mod paths;

use super::c_string::c_string;
use super::rights::Rights;
use super::trees;
use crate::RecordError;
use serde::{Deserialize, Serialize};
use std::ffi::{CString, OsString};
use std::os::fd::RawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Programs of another world are old: none of them gains rights by its mode, and no file of it is a device.
const HARMLESS: libc::c_ulong = libc::MS_NOSUID | libc::MS_NODEV;

/// The kernel takes a page of options for a mount, its end included.
const MOST_OPTIONS: usize = 4095;
/// Where the host's tree hangs inside until the program begins.
const HOST: &str = "/.whyslow-host";
/// The descriptor of the first layer: above all that a child of the broker's keeps, below what any process may have open.
const FIRST_LAYER: RawFd = 256;

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

impl Root {
    /// The same as the broker knows it: layers that it has handed over by their own paths.
    pub(super) fn with_own_paths(mut self) -> Root {
        self.layers.iter_mut().for_each(|layer| *layer = trees::real(layer));
        self
    }
}

/// A tree in the form in which the child needs it.
pub(super) struct Tree {
    place: CString,
    /// `place/upper`, `place/work`, `place/root`.
    folders: [CString; 3],
    options: CString,
    /// Layers that are followed with the command's rights, each by the descriptor that it is opened as.
    layers: Vec<(CString, RawFd)>,
    targets: Vec<Target>,
    /// Source and target of what is shared.
    shared: Vec<[CString; 2]>,
    rights: Rights,
}

/// Something that is made inside where it is not there, to be mounted on.
struct Target {
    folder: CString,
    name: CString,
    is_folder: bool,
}

impl Tree {
    pub fn prepare(root: &Root, rights: Rights) -> Result<Tree, RecordError> {
        if rights.are_less() && !trees::is_roots(&root.place) {
            let action = format!("putting a tree together in {}", root.place.display());
            return Err(RecordError::io(action)(std::io::Error::from_raw_os_error(libc::EPERM)));
        }
        let inside = |name: &str| root.place.join(name);
        let (mut layers, mut lower) = (Vec::new(), Vec::new());
        for (number, layer) in (FIRST_LAYER..).zip(&root.layers) {
            if rights.are_less() && !trees::is_handed_over(layer) {
                layers.push((c_string(layer.as_os_str())?, number));
                lower.push(PathBuf::from(format!("/proc/self/fd/{number}")));
            } else {
                lower.push(layer.clone());
            }
        }
        let options = options(&lower, &inside("upper"), &inside("work"));
        if options.len() > MOST_OPTIONS {
            let source = std::io::Error::from_raw_os_error(libc::E2BIG);
            return Err(RecordError::Io {
                action: format!("laying {} folders over each other", root.layers.len()),
                source,
            });
        }
        let mut tree = Tree {
            place: c_string(root.place.as_os_str())?,
            folders: [
                c_string(inside("upper").as_os_str())?,
                c_string(inside("work").as_os_str())?,
                c_string(inside("root").as_os_str())?,
            ],
            options: c_string(&options)?,
            layers,
            targets: Vec::new(),
            shared: Vec::new(),
            rights,
        };
        root.shared.iter().filter(|path| path.exists()).try_for_each(|path| tree.share(path))?;
        Ok(tree)
    }

    fn share(&mut self, path: &Path) -> Result<(), RecordError> {
        let source = path.canonicalize().map_err(RecordError::io(format!("looking for {}", path.display())))?;
        let mut made = path.ancestors().filter(|folder| *folder != Path::new("/")).collect::<Vec<_>>();
        made.reverse();
        for one in made {
            let (Some(folder), Some(name)) = (one.parent(), one.file_name()) else { continue };
            let is_folder = one != path || source.is_dir();
            self.targets.push(Target { folder: c_string(folder.as_os_str())?, name: c_string(name)?, is_folder });
        }
        self.shared.push([c_string(&on_host(&source))?, c_string(path.as_os_str())?]);
        Ok(())
    }

    /// Puts the tree together and makes it `/`, in a mount namespace from which nothing spreads.
    ///
    /// SAFETY: for the child after the fork: makes async-signal-safe calls only.
    pub unsafe fn enter(&self) -> bool {
        let (memory, overlay) = (c"tmpfs".as_ptr(), c"overlay".as_ptr());
        let [upper, work, root] = &self.folders;
        // SAFETY: numbers, constants and strings that were prepared before the fork.
        unsafe {
            libc::mount(memory, self.place.as_ptr(), memory, HARMLESS, c"mode=755".as_ptr().cast()) == 0
                && [upper, work, root].iter().all(|folder| libc::mkdir(folder.as_ptr(), 0o755) == 0)
                && self.open_layers()
                && libc::mount(overlay, root.as_ptr(), overlay, HARMLESS, self.options.as_ptr().cast()) == 0
                && self.turn_into(root)
                && self.show_shared()
        }
    }

    /// Opens the layers that the command named, where the mount looks for them.
    ///
    /// SAFETY: as `enter`.
    unsafe fn open_layers(&self) -> bool {
        let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
        // SAFETY: as `enter`; nothing else has these descriptors: the broker's child keeps few, and has closed the others.
        unsafe {
            self.rights.take();
            let are_open = self.layers.iter().all(|(path, number)| {
                let opened = libc::open(path.as_ptr(), flags);
                opened >= 0 && libc::dup3(opened, *number, libc::O_CLOEXEC) >= 0 && libc::close(opened) == 0
            });
            self.rights.give_back();
            are_open
        }
    }

    /// Makes what is mounted on, then the tree the root of all paths, with the host's hanging in it.
    ///
    /// SAFETY: as `enter`.
    unsafe fn turn_into(&self, root: &CString) -> bool {
        // SAFETY: as `enter`.
        unsafe {
            let inside = libc::open(root.as_ptr(), libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC);
            if inside < 0 {
                return false;
            }
            // Before anything of the host hangs inside: whatever a layer's links say, what is made is made in memory.
            self.targets.iter().for_each(|target| target.make(inside));
            libc::fchdir(inside) == 0
                && libc::mkdir(c".whyslow-host".as_ptr(), 0o755) == 0
                && libc::syscall(libc::SYS_pivot_root, c".".as_ptr(), c".whyslow-host".as_ptr()) == 0
                && libc::chdir(c"/".as_ptr()) == 0
                && libc::close(inside) == 0
        }
    }

    /// Shows what is shared: to a command with less than root's rights what it could get at itself.
    ///
    /// SAFETY: as `enter`.
    unsafe fn show_shared(&self) -> bool {
        let bind = libc::MS_BIND | libc::MS_REC;
        let show = |[source, target]: &[CString; 2]| {
            // SAFETY: as `enter`; the address of the thread's own errno is always valid.
            unsafe {
                libc::mount(source.as_ptr(), target.as_ptr(), std::ptr::null(), bind, std::ptr::null()) == 0
                    || (self.rights.are_less() && *libc::__errno_location() == libc::EACCES)
            }
        };
        // SAFETY: as `enter`.
        unsafe {
            self.rights.take();
            let are_shown = self.shared.iter().all(show);
            self.rights.give_back();
            are_shown
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

impl Target {
    /// Makes it, where it is not there. That it cannot be made shows when something is mounted on it.
    ///
    /// SAFETY: as `Tree::enter`; `inside` is the tree.
    unsafe fn make(&self, inside: RawFd) {
        // SAFETY: the structure lives on the stack (Linux 5.6); numbers and strings prepared before the fork.
        unsafe {
            let mut how: libc::open_how = std::mem::zeroed();
            how.flags = (libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC) as u64;
            how.resolve = libc::RESOLVE_IN_ROOT;
            let size = std::mem::size_of_val(&how);
            let folder = libc::syscall(libc::SYS_openat2, inside, self.folder.as_ptr(), &raw const how, size) as RawFd;
            if folder < 0 {
                return;
            }
            if self.is_folder {
                libc::mkdirat(folder, self.name.as_ptr(), 0o755);
            } else {
                libc::mknodat(folder, self.name.as_ptr(), libc::S_IFREG | 0o644, 0);
            }
            libc::close(folder);
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
fn options(layers: &[PathBuf], upper: &Path, work: &Path) -> OsString {
    let layers = layers.iter().map(|layer| escaped(layer)).collect::<Vec<_>>().join(&b':');
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
