//! Whether somebody else than root can get to a folder.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Everybody may pass through a folder.
const PASSABLE: u32 = 0o001;

/// Whether everybody may pass through all folders above a path, whether it is there or not.
pub(crate) fn is_reachable(path: &Path) -> bool {
    let is_passable =
        |folder: &Path| folder.metadata().is_ok_and(|found| found.permissions().mode() & PASSABLE == PASSABLE);
    path.ancestors().skip(1).all(is_passable)
}
