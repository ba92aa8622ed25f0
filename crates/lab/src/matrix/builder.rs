//! Whom builds run as, and what they see. What a registry carries is executed while it is built: with root's rights it would be
//! root's program.

use crate::passable::is_reachable;
use crate::worlds::shared;
use nix::unistd::geteuid;
use record::{Mount, Network, Program, Root, User};
use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, lchown};
use std::path::{Path, PathBuf};

/// Who owns nothing else.
const NOBODY: User = User { uid: 65_534, gid: 65_534 };
/// Who owns what root has had built.
const ROOT: User = User { uid: 0, gid: 0 };

/// As whom something is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Builder {
    /// As nobody, without a network: by root.
    Nobody,
    /// As we are, the caller of sudo: without a network, in a tree in which only the build's own folder is written to.
    Apart,
    /// As we are: without root's rights, or where only we can get to the folder.
    Ourselves,
}

impl Builder {
    /// The one of what is built in a folder.
    pub fn of(folder: &Path) -> Builder {
        if geteuid().is_root() && is_reachable(folder) {
            return Builder::Nobody;
        }
        if broker::has_dropped() { Builder::Apart } else { Builder::Ourselves }
    }

    /// A program of the build's, such as it is to run; `folder` is the build's.
    pub fn confined(self, program: Program, folder: &Path, place: &Path) -> Program {
        match self {
            Builder::Ourselves => program,
            Builder::Nobody => Program { user: Some(NOBODY), network: Network::Own, ..program },
            Builder::Apart => {
                let temporary = folder.join("tmp");
                let environment = vec![("TMPDIR".into(), Some(temporary.clone().into()))];
                let hidden = home().filter(|home| !folder.starts_with(home));
                let mounts = hidden.map(|home| Mount { source: temporary, target: home }).into_iter().collect();
                let shared = shared::for_build(folder);
                let root = Some(Root { layers: vec!["/".into()], shared, place: place.to_path_buf() });
                Program { network: Network::Own, root, mounts, environment, ..program }
            }
        }
    }

    /// Gives a folder to whom builds run as.
    ///
    /// # Errors
    /// Where the system refuses.
    pub fn give(self, folder: &Path) -> std::io::Result<()> {
        if self == Builder::Nobody { give(folder, NOBODY) } else { Ok(()) }
    }

    /// Takes back what was built: what programs will load is for nobody else to change.
    ///
    /// # Errors
    /// Where the system refuses.
    pub fn take_back(self, folder: &Path) -> std::io::Result<()> {
        if self == Builder::Nobody { give(folder, ROOT) } else { Ok(()) }
    }
}

/// Our own home, as the user database has it: no build reads what is in it. None where the tree of a build lacks it anyhow, being
/// another file system's.
fn home() -> Option<PathBuf> {
    let user = nix::unistd::User::from_uid(geteuid()).ok().flatten()?;
    let device = |path: &Path| path.metadata().ok().filter(Metadata::is_dir).map(|found| found.dev());
    Some(user.dir)
        .filter(|home| home.parent().is_some() && device(home).is_some_and(|own| device(Path::new("/")) == Some(own)))
}

/// Gives what is below a path to a user. Links are given away themselves, and what they lead to is not.
///
/// # Errors
/// Where the system refuses.
fn give(path: &Path, user: User) -> std::io::Result<()> {
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
        assert_eq!(Builder::of(&place), Builder::Ourselves, "the folder is private");
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("ours");
        let expected = if geteuid().is_root() { Builder::Nobody } else { Builder::Ourselves };
        assert_eq!(Builder::of(&place), expected);
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
