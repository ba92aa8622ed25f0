//! Whom a program runs as.

use nix::unistd::{Uid, geteuid};
use serde::{Deserialize, Serialize};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::str::FromStr;

/// Who owns nothing.
const NOBODY: User = User { uid: 65_534, gid: 65_534 };

/// Writable for the group or for others.
const WRITABLE: u32 = 0o022;

/// What is in such a folder only its owner renames or removes.
const STICKY: u32 = 0o1000;

/// The user that a program runs as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

impl User {
    /// As whom something is executed that only answers questions about a file, such as the loader that the file itself names: the
    /// one who called sudo; else root where only root can have put the file there, its owner, or nobody. None stays as we are.
    pub fn asking_about(path: &Path) -> Option<User> {
        let caller = case::caller().map(|caller| User { uid: caller.uid, gid: caller.gid });
        if caller.is_some() || !geteuid().is_root() {
            return caller;
        }
        let real = std::fs::canonicalize(path).ok()?;
        let is_roots = |path: &Path| {
            let mode = path.metadata().ok().filter(|found| found.uid() == 0).map(|found| found.mode());
            mode.is_some_and(|mode| mode & WRITABLE == 0 || (path != real && mode & STICKY != 0))
        };
        if real.ancestors().all(is_roots) {
            return None;
        }
        let owner = real.metadata().ok().map(|found| User { uid: found.uid(), gid: found.gid() });
        Some(owner.filter(|owner| owner.uid != 0).unwrap_or(NOBODY))
    }
}

impl FromStr for User {
    type Err = String;

    /// Reads a name or a number that the user database knows.
    fn from_str(text: &str) -> Result<User, String> {
        let by_name = || nix::unistd::User::from_name(text).ok().flatten();
        let by_number = || nix::unistd::User::from_uid(Uid::from_raw(text.parse().ok()?)).ok().flatten();
        let found = by_name().or_else(by_number).ok_or_else(|| format!("there is no user `{text}`"))?;
        Ok(User { uid: found.uid.as_raw(), gid: found.gid.as_raw() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_root_alone_can_have_put_there_is_asked_about_as_root() {
        if !geteuid().is_root() {
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("program");
        std::fs::copy("/bin/true", &program).expect("copied");
        // Below a folder in which everybody may make files, and nobody exchange root's.
        assert_eq!(User::asking_about(&program), None);
        let open_to_all = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(folder.path(), open_to_all).expect("ours");
        assert_eq!(User::asking_about(&program), Some(NOBODY));
        std::os::unix::fs::chown(&program, Some(7), Some(8)).expect("root's right");
        assert_eq!(User::asking_about(&program), Some(User { uid: 7, gid: 8 }));
        assert_eq!(User::asking_about(Path::new("/bin/true")), None);
    }

    #[test]
    fn a_user_is_read_by_name_and_by_number() {
        let root = User { uid: 0, gid: 0 };
        assert_eq!(("root".parse(), "0".parse()), (Ok(root), Ok(root)));
        assert!("no-such-user".parse::<User>().is_err_and(|why| why.contains("no-such-user")));
    }
}
