//! What a program finds around it: files shown in the place of others, the processors it may use, its folder. Prepared
//! before the fork, put in place in the child.

use super::c_string::c_string;
use super::rights::Rights;
use super::root::{self, Root, Tree};
use crate::RecordError;
use std::ffi::{CString, OsStr, OsString};
use std::path::{Path, PathBuf};

/// A file or folder that is shown to the program in the place of another. It lives in a mount namespace of the
/// program's own and vanishes with its last process; nobody else sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// What is shown.
    pub source: PathBuf,
    /// In the place of which path; it has to be there.
    pub target: PathBuf,
}

/// Which of its surroundings the child could not put in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The mount namespace.
    Namespace,
    /// The tree of files.
    Tree,
    /// One of the mounts, by its place in the list.
    Mount(usize),
}

/// The surroundings in the form in which the child needs them.
pub(super) struct Surroundings {
    tree: Option<Tree>,
    /// Source and target of each.
    mounts: Vec<(CString, CString)>,
    processors: Option<libc::cpu_set_t>,
    folder: Option<CString>,
    /// With whose rights paths are followed that the command named.
    rights: Rights,
}

impl Surroundings {
    /// Checks what can be checked before there is a process.
    pub fn prepare(
        root: Option<&Root>,
        mounts: &[(OsString, OsString)],
        numbers: &[usize],
        folder: Option<&OsStr>,
    ) -> Result<Surroundings, RecordError> {
        let source = |source: &OsString| {
            if root.is_none() {
                return c_string(source);
            }
            let source = Path::new(source);
            let real = source.canonicalize().map_err(RecordError::io(format!("looking for {}", source.display())))?;
            c_string(&root::on_host(&real))
        };
        let mounts = mounts.iter().map(|(from, target)| Ok((source(from)?, c_string(target)?)));
        // Another tree has another folder of that name.
        let ours = root.and_then(|_| std::env::current_dir().ok()).map(PathBuf::into_os_string);
        let rights = Rights::of_command();
        Ok(Surroundings {
            tree: root.map(|root| Tree::prepare(root, rights)).transpose()?,
            mounts: mounts.collect::<Result<_, RecordError>>()?,
            processors: processors(numbers)?,
            folder: folder.map(OsStr::to_os_string).or(ours).map(|folder| c_string(&folder)).transpose()?,
            rights,
        })
    }

    /// A mount namespace from which nothing spreads, the tree of files, and the mounts in it.
    ///
    /// SAFETY: for the child after the fork: makes async-signal-safe calls only.
    pub unsafe fn mount(&self) -> Result<(), Refused> {
        if self.mounts.is_empty() && self.tree.is_none() {
            return Ok(());
        }
        let nothing = std::ptr::null();
        // SAFETY: numbers, constants and strings that were prepared before the fork.
        unsafe {
            // Recursively private: else the mounts would spread to the namespace that we came from.
            let private = libc::MS_REC | libc::MS_PRIVATE;
            if libc::unshare(libc::CLONE_NEWNS) != 0
                || libc::mount(nothing, c"/".as_ptr(), nothing, private, std::ptr::null()) != 0
            {
                return Err(Refused::Namespace);
            }
            if self.tree.as_ref().is_some_and(|tree| !tree.enter()) {
                return Err(Refused::Tree);
            }
            self.rights.take();
            for (place, (source, target)) in self.mounts.iter().enumerate() {
                if libc::mount(source.as_ptr(), target.as_ptr(), nothing, libc::MS_BIND, std::ptr::null()) != 0 {
                    return Err(Refused::Mount(place));
                }
            }
            self.rights.give_back();
            if self.tree.is_some() && !Tree::leave_host() {
                return Err(Refused::Tree);
            }
        }
        Ok(())
    }

    /// Sees to it that nobody becomes root by files that only seem to be the host's: where a command with less than root's rights
    /// has chosen them, programs gain none by their mode.
    ///
    /// SAFETY: as `mount`.
    pub unsafe fn keep_rights(&self) -> bool {
        let is_chosen = self.rights.are_less() && (self.tree.is_some() || !self.mounts.is_empty());
        // SAFETY: prctl with numbers only.
        !is_chosen || unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } == 0
    }

    /// Confines the process to its processors.
    ///
    /// SAFETY: as `mount`.
    pub unsafe fn confine(&self) -> bool {
        let size = std::mem::size_of::<libc::cpu_set_t>();
        // SAFETY: the set was prepared before the fork.
        self.processors.as_ref().is_none_or(|set| unsafe { libc::sched_setaffinity(0, size, set) } == 0)
    }

    /// Enters the folder.
    ///
    /// SAFETY: as `mount`.
    pub unsafe fn enter_folder(&self) -> bool {
        // SAFETY: the string was prepared before the fork.
        self.folder.as_ref().is_none_or(|folder| unsafe { libc::chdir(folder.as_ptr()) } == 0)
    }
}

/// The processors as the kernel wants them; none where any will do.
fn processors(numbers: &[usize]) -> Result<Option<libc::cpu_set_t>, RecordError> {
    if numbers.is_empty() {
        return Ok(None);
    }
    // SAFETY: a set of bits, for which all zeros is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for &number in numbers {
        if number >= libc::CPU_SETSIZE as usize {
            let source = std::io::Error::from_raw_os_error(libc::EINVAL);
            return Err(RecordError::Io { action: format!("choosing processor {number}"), source });
        }
        // SAFETY: the number is below the size of the set.
        unsafe { libc::CPU_SET(number, &mut set) };
    }
    Ok(Some(set))
}
