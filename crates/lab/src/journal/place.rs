//! Where journals are kept: where only this user can write, since whoever repairs does what they say.

use crate::error::LabError;
use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The folder's name, wherever it is.
const NAME: &str = "whyslow";

/// The folders that may hold journals of this user, the best first.
pub(super) fn candidates() -> Vec<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let run = nix::unistd::geteuid().is_root().then(|| PathBuf::from("/run"));
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
    // Not the folder of cases itself: these are listed by people.
    let in_state = state.map(|state| state.join(NAME).join("undo"));
    let folders = [run, absolute("XDG_RUNTIME_DIR")].into_iter().flatten().map(|folder| folder.join(NAME));
    folders.chain(in_state).collect()
}

/// Those of them that are there and that nobody else can have written to.
pub(crate) fn existing() -> Vec<PathBuf> {
    candidates().into_iter().filter(|folder| is_private(folder)).collect()
}

/// The first of them that can be written, made where it is missing.
pub(super) fn writable() -> Result<PathBuf, LabError> {
    let mut refused = Vec::new();
    for folder in candidates() {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        let tried = made.and_then(|()| tempfile::tempfile_in(&folder));
        match tried {
            Ok(_) if is_private(&folder) => return Ok(folder),
            Ok(_) => refused.push(format!("{} is writable by others", folder.display())),
            Err(error) => refused.push(format!("{}: {error}", folder.display())),
        }
    }
    if refused.is_empty() {
        refused.push("neither XDG_RUNTIME_DIR, XDG_STATE_HOME nor HOME is set".to_string());
    }
    Err(LabError::NoJournal(refused.join("; ")))
}

fn is_private(folder: &Path) -> bool {
    let own = nix::unistd::geteuid().as_raw();
    let metadata = folder.symlink_metadata();
    metadata.is_ok_and(|found| found.is_dir() && found.uid() == own && found.permissions().mode() & 0o022 == 0)
}
