//! The folder of files that is staged for a subject: shims with their parameters and counters, and files that take the
//! place of the host's.

use crate::LabError;
use crate::hierarchy::PREFIX;
use crate::intervention_counters::ShimCounts;
use crate::journal::{Entry, Journal, Undo, UndoResult};
use crate::shim;
use crate::treatment::Treatment;
use case::Caller;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use nix::sys::statvfs::{FsFlags, statvfs};
use record::Mount;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The size of a file of counts: four numbers of 64 bits (`shim.h`).
const COUNTS_BYTES: usize = 32;

/// Numbers the folders of this process.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// The folder. It is removed when dropped.
pub(crate) struct Staged {
    folder: PathBuf,
    shims: Vec<&'static str>,
    mounts: Vec<Mount>,
    /// Tells which of the files shown were opened. None where there are none, or the kernel has no watch left.
    openings: Option<Inotify>,
    journal: Journal,
    entry: Entry,
}

impl Staged {
    /// Lays out what a treatment needs; none where it needs no files.
    pub fn lay(treatment: &Treatment, journal: &Journal) -> Result<Option<Staged>, LabError> {
        if treatment.preloads.is_empty() && treatment.replacements.is_empty() {
            return Ok(None);
        }
        let (folder, entry) = make(journal)?;
        let (shims, mounts) = (Vec::new(), Vec::new());
        let mut staged = Staged { folder, shims, mounts, openings: None, journal: journal.clone(), entry };
        for preload in &treatment.preloads {
            staged.lay_shim(preload.shim, &preload.parameter)?;
        }
        for (number, replacement) in treatment.replacements.iter().enumerate() {
            let source = staged.write(&format!("replacement-{number}"), &replacement.content, 0o644)?;
            staged.mounts.push(Mount { source, target: replacement.path.clone() });
        }
        staged.openings = watch(&staged.mounts);
        Ok(Some(staged))
    }

    /// What a subject's environment needs to load the shims; `already` is what it preloads anyway.
    pub fn environment(&self, already: Option<OsString>) -> Vec<(OsString, Option<OsString>)> {
        if self.shims.is_empty() {
            return Vec::new();
        }
        let objects = self.shims.iter().map(|shim| self.folder.join(format!("{shim}.so")).into_os_string());
        let objects = objects.chain(already.filter(|already| !already.is_empty())).collect::<Vec<_>>();
        let folder = self.folder.clone().into_os_string();
        vec![("LD_PRELOAD".into(), Some(objects.join(":".as_ref()))), ("WHYSLOW_SHIMS".into(), Some(folder))]
    }

    /// What is to be mounted over what.
    pub fn mounts(&self) -> &[Mount] {
        &self.mounts
    }

    /// What each shim has counted.
    pub fn counts(&self) -> BTreeMap<&'static str, ShimCounts> {
        let read = |shim: &&'static str| {
            let bytes = std::fs::read(self.folder.join(format!("{shim}.counts"))).unwrap_or_default();
            (*shim, shim::counts(&bytes))
        };
        self.shims.iter().map(read).collect()
    }

    /// How many of the files shown have been opened since the last call.
    pub fn opened(&self) -> u64 {
        let Some(openings) = &self.openings else { return 0 };
        let mut opened = BTreeSet::new();
        while let Ok(events) = openings.read_events() {
            opened.extend(events.into_iter().map(|event| event.wd));
        }
        opened.len() as u64
    }

    fn lay_shim(&mut self, name: &'static str, parameter: &str) -> Result<(), LabError> {
        let object = shim::object(name).ok_or_else(|| LabError::World(format!("there is no shim `{name}`")))?;
        self.write(&format!("{name}.so"), object, 0o755)?;
        self.write(&format!("{name}.parameter"), parameter.as_bytes(), 0o644)?;
        // Whoever the subject becomes, it counts here.
        self.write(&format!("{name}.counts"), &[0; COUNTS_BYTES], 0o666)?;
        self.shims.push(name);
        Ok(())
    }

    fn write(&self, name: &str, content: &[u8], mode: u32) -> Result<PathBuf, LabError> {
        let path = self.folder.join(name);
        let written = std::fs::write(&path, content).and_then(|()| set_mode(&path, mode));
        written.map(|()| path.clone()).map_err(LabError::io(path))
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if std::fs::remove_dir_all(&self.folder).is_ok() {
            self.journal.tick_off(self.entry);
        }
    }
}

/// Removes a folder that was left behind.
pub(crate) fn undo(folder: &Path, owner: Option<u32>) -> UndoResult {
    let Ok(found) = folder.symlink_metadata() else { return UndoResult::WasGone };
    let is_named = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
    let ours = nix::unistd::geteuid().as_raw();
    if !found.is_dir() || found.uid() != owner.unwrap_or(ours) || !is_named {
        return UndoResult::Left(format!("{} is not a folder of whyslow's", folder.display()));
    }
    let remove = || std::fs::remove_dir_all(folder);
    let removed = match owner.filter(|owner| *owner != ours) {
        // With its owner's rights: it may have been exchanged for another meanwhile.
        Some(uid) => case::as_user(Caller { uid, gid: found.gid() }, remove),
        None => remove(),
    };
    match removed {
        Ok(()) => UndoResult::Undone(format!("removed the folder {}", folder.display())),
        Err(error) => UndoResult::Left(format!("could not remove the folder {}: {error}", folder.display())),
    }
}

/// Makes the folder, where programs can be executed and any user can read.
pub(crate) fn make(journal: &Journal) -> Result<(PathBuf, Entry), LabError> {
    let place = places().into_iter().find(|place| allows_execution(place)).ok_or_else(|| {
        let tried = places().iter().map(|place| place.display().to_string()).collect::<Vec<_>>().join(", ");
        LabError::World(format!("shims need a folder on a file system without noexec; none of {tried} is on one"))
    })?;
    make_in(&place, journal)
}

/// Makes the folder in a place, where any user can read it.
pub(crate) fn make_in(place: &Path, journal: &Journal) -> Result<(PathBuf, Entry), LabError> {
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = place.join(format!("{PREFIX}{}-{number}", std::process::id()));
        let undo = Undo::Folder { path: path.clone(), owner: None };
        let entry = journal.note(&[undo])?.remove(0);
        let made = std::fs::DirBuilder::new().mode(0o700).create(&path);
        match made.and_then(|()| set_mode(&path, 0o755)) {
            Ok(()) => return Ok((path, entry)),
            Err(error) => {
                journal.tick_off(entry);
                if error.kind() != std::io::ErrorKind::AlreadyExists {
                    return Err(LabError::io(path)(error));
                }
            }
        }
    }
}

/// Folders that may hold ours; the last for hosts that forbid execution wherever anybody can write. The loader takes a
/// blank or a colon in LD_PRELOAD for the end of a path.
fn places() -> Vec<PathBuf> {
    let places = [std::env::temp_dir(), "/var/tmp".into(), "/dev/shm".into(), "/var/lib".into()];
    let is_plain = |place: &PathBuf| place.to_str().is_some_and(|text| !text.contains([' ', ':', '\t', '\n']));
    places.into_iter().filter(|place| place.is_absolute() && is_plain(place)).collect()
}

fn allows_execution(place: &Path) -> bool {
    let is_open = place.metadata().is_ok_and(|found| found.permissions().mode() & 0o001 != 0);
    is_open && statvfs(place).is_ok_and(|found| !found.flags().intersects(FsFlags::ST_NOEXEC | FsFlags::ST_RDONLY))
}

pub(crate) fn set_mode(path: &Path, mode: u32) -> std::io::Result<()> {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

/// Watches for openings of the files that are shown in the place of others: the kernel watches files, not names.
fn watch(mounts: &[Mount]) -> Option<Inotify> {
    if mounts.is_empty() {
        return None;
    }
    let openings = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC).ok()?;
    let watched = mounts.iter().all(|mount| openings.add_watch(&mount.source, AddWatchFlags::IN_OPEN).is_ok());
    watched.then_some(openings)
}
