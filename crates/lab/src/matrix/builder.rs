//! Whom builds run as. What a registry carries is executed while it is built: with root's rights it would be root's program.

use crate::passable::is_reachable;
use nix::unistd::geteuid;
use record::User;
use std::os::unix::fs::lchown;
use std::path::Path;

/// Who owns nothing else.
const NOBODY: User = User { uid: 65_534, gid: 65_534 };

/// The user that something is built as below a folder, by root: nobody. None stays as we are: without root's rights, or where only
/// we can get to the folder.
pub(super) fn builder(folder: &Path) -> Option<User> {
    (geteuid().is_root() && is_reachable(folder)).then_some(NOBODY)
}

/// Gives what is below a path to a user. Links are given away themselves, and what they lead to is not.
///
/// # Errors
/// Where the system refuses.
pub(super) fn give(path: &Path, user: User) -> std::io::Result<()> {
    lchown(path, Some(user.uid), Some(user.gid))?;
    if path.symlink_metadata()?.is_dir() {
        for entry in std::fs::read_dir(path)? {
            give(&entry?.path(), user)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    #[test]
    fn root_has_things_built_by_nobody_wherever_nobody_can_get_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("part");
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).expect("ours");
        assert_eq!(builder(&place), None, "the folder is private");
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("ours");
        assert_eq!(builder(&place), geteuid().is_root().then_some(NOBODY));
    }

    #[test]
    fn what_a_link_leads_to_is_not_given_away() {
        if !geteuid().is_root() {
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let (inside, outside) = (folder.path().join("inside"), folder.path().join("outside"));
        std::fs::create_dir(&inside).expect("made");
        std::fs::write(&outside, "").expect("written");
        std::os::unix::fs::symlink(&outside, inside.join("link")).expect("linked");
        give(&inside, NOBODY).expect("given");
        assert_eq!(inside.join("link").symlink_metadata().expect("there").uid(), NOBODY.uid);
        assert_eq!(outside.metadata().expect("there").uid(), 0);
    }
}
