//! Copying the files of a factor into its layer.

use crate::bisect::content::same;
use crate::bisect::inside::Inside;
use crate::bisect::target::LIBRARIES;
use crate::error::LabError;
use nix::sys::stat::{Mode, SFlag, mknod};
use std::fs::{FileTimes, Metadata, OpenOptions, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Folders of documentation, which no program's speed depends on.
const DOCUMENTATION: [&str; 5] =
    ["/usr/share/doc", "/usr/share/man", "/usr/share/info", "/usr/share/locale", "/usr/share/lintian"];

/// The part of a mode that says who may read, write and execute.
const RIGHTS: u32 = 0o777;
/// That of the owner, who is to put something into a folder.
const OWNERS: u32 = 0o700;

/// From the good world, over the bad one, into a layer.
pub(super) struct Copying {
    pub good: Inside,
    pub bad: Inside,
    pub layer: PathBuf,
}

impl Copying {
    /// Copies one file or link; false where that would change nothing, or where it is neither.
    pub fn copy(&self, path: &Path, target: &Path) -> Result<bool, LabError> {
        if DOCUMENTATION.iter().any(|folder| path.starts_with(folder)) {
            return Ok(false);
        }
        // A library of a folder comes by the name that it is found by, without the links that this leads over.
        let is_of_folder = target.starts_with(LIBRARIES);
        let real = if is_of_folder { self.good.real(path) } else { Some(path.to_path_buf()) };
        let Some((source, metadata)) = real.and_then(|path| self.good.entry(&path)) else { return Ok(false) };
        let there = self.bad.entry(target);
        // A file laid over a folder would hide all that is in it.
        let is_over_folder = there.as_ref().is_some_and(|(_, found)| found.is_dir());
        if is_over_folder || there.is_some_and(|there| same((&source, &metadata), (&there.0, &there.1))) {
            return Ok(false);
        }
        let place = self.layer.join(target.strip_prefix("/").unwrap_or(target));
        self.make_folders(target)?;
        let copied = if metadata.is_symlink() {
            std::fs::read_link(&source).and_then(|to| std::os::unix::fs::symlink(to, &place))
        } else if metadata.is_file() {
            copy_dated(&source, &metadata, &place)
        } else {
            return Ok(false);
        };
        match copied {
            // The subject, which runs as we do, could not read it either.
            Err(error) if error.kind() == ErrorKind::PermissionDenied && !place.exists() => Ok(false),
            copied => copied.map(|()| true).map_err(LabError::io(source)),
        }
    }

    /// Hides a file of the bad world: a device of number 0 in a layer stands for nothing (overlayfs, "whiteouts").
    pub fn hide(&self, path: &Path) -> Result<(), LabError> {
        let place = self.layer.join(path.strip_prefix("/").unwrap_or(path));
        self.make_folders(path)?;
        mknod(&place, SFlag::S_IFCHR, Mode::empty(), 0)
            .map_err(|error| LabError::io(place.clone())(std::io::Error::from(error)))
    }

    /// Makes the folders above a file as they are in the bad world, or else in the good one: the topmost layer's count.
    fn make_folders(&self, target: &Path) -> Result<(), LabError> {
        let mut folders = target.ancestors().skip(1).collect::<Vec<_>>();
        folders.reverse();
        for folder in folders {
            let place = self.layer.join(folder.strip_prefix("/").unwrap_or(folder));
            if place.is_dir() {
                continue;
            }
            let like = self.bad.entry(folder).or_else(|| self.good.entry(folder));
            let mode = like.map_or(0o755, |(_, metadata)| metadata.permissions().mode() | OWNERS);
            let made = std::fs::create_dir(&place)
                .and_then(|()| std::fs::set_permissions(&place, Permissions::from_mode(mode)));
            made.map_err(LabError::io(place))?;
        }
        Ok(())
    }
}

/// Copies a file with its date: what was compiled or indexed from it is of use only while that is the same.
fn copy_dated(source: &Path, metadata: &Metadata, place: &Path) -> std::io::Result<()> {
    let dates = FileTimes::new().set_modified(metadata.modified()?);
    std::fs::copy(source, place)?;
    let copied = std::fs::set_permissions(place, Permissions::from_mode(0o600))
        .and_then(|()| OpenOptions::new().write(true).open(place));
    copied?.set_times(dates)?;
    // In a tree no program gains rights by its mode; beside it a copy of ours must not lend ours.
    std::fs::set_permissions(place, Permissions::from_mode(metadata.permissions().mode() & RIGHTS))
}
