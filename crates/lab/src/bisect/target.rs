//! Where what is taken from the good world goes in the bad one.

use super::inside::Inside;
use crate::worlds::Ready;
use std::path::{Path, PathBuf};

/// Where libraries of a folder of libraries are seen inside: one folder in front of all others, whichever layers are laid.
pub(super) const LIBRARIES: &str = "/.whyslow-libraries";

/// Where a file of the good world belongs in the bad one.
pub(super) fn target(path: &Path, good: &Ready, bad: &Ready, inside: &Inside) -> PathBuf {
    let name = path.file_name().unwrap_or_default();
    let real = |folder: &PathBuf| folder.canonicalize().unwrap_or_else(|_| folder.clone());
    let is_of_folder = |world: &Ready| world.libraries.as_ref().is_some_and(|folder| path.starts_with(real(folder)));
    let is_in_folder = || bad.libraries.as_ref().is_some_and(|folder| folder.join(name).symlink_metadata().is_ok());
    if is_of_folder(good) || is_in_folder() {
        return Path::new(LIBRARIES).join(name);
    }
    // One of the worlds may keep below /usr what the other keeps beside it: where both can be had, the place in use counts.
    let without = path.strip_prefix("/usr").map_or_else(
        |_| Path::new("/usr").join(path.strip_prefix("/").unwrap_or(path)),
        |below| Path::new("/").join(below),
    );
    let places = [path.to_path_buf(), without].map(|place| inside.settled(&place));
    let used = places.iter().find(|place| inside.entry(place).is_some());
    used.unwrap_or(&places[0]).clone()
}
