//! Whose files cases are. Root that was called with sudo touches them with the rights of whoever called it: what a hostile program
//! puts in their place (a link to somebody else's file, another folder under the same name) then leads nowhere that its own
//! user could not go. Files are the caller's from the moment that they are made, so nothing is given away afterwards.

use nix::unistd::{Gid, Uid, setfsgid, setfsuid};
use std::sync::OnceLock;

/// Who called sudo; none where we are who we seem to be.
static CALLER: OnceLock<Caller> = OnceLock::new();

/// Whoever called sudo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The user's number.
    pub uid: u32,
    /// That of the user's group.
    pub gid: u32,
}

/// From now on files of cases are this caller's. Says nothing where another was named before: the first counts.
pub fn act_for(caller: Caller) {
    let _ = CALLER.set(caller);
}

/// The one who called sudo, where somebody did.
pub fn caller() -> Option<Caller> {
    CALLER.get().copied()
}

/// Does something to files with the caller's rights, in this thread; as we are where nobody called sudo.
pub fn as_caller<T>(work: impl FnOnce() -> T) -> T {
    let _rights = CALLER.get().map(|caller| Rights::of(*caller));
    work()
}

/// The same with the rights of a user that is named.
pub fn as_user<T>(user: Caller, work: impl FnOnce() -> T) -> T {
    let _rights = Rights::of(user);
    work()
}

/// The rights of the caller, until dropped. The kernel checks files by them (`setfsuid(2)`), and takes root's capabilities over
/// files away as long as they are not root's; all other capabilities stay.
struct Rights {
    before: (Uid, Gid),
}

impl Rights {
    fn of(caller: Caller) -> Rights {
        let gid = setfsgid(Gid::from_raw(caller.gid));
        Rights { before: (setfsuid(Uid::from_raw(caller.uid)), gid) }
    }
}

impl Drop for Rights {
    fn drop(&mut self) {
        setfsuid(self.before.0);
        setfsgid(self.before.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    #[test]
    fn with_the_callers_rights_files_are_the_callers_and_others_are_out_of_reach() {
        if !nix::unistd::geteuid().is_root() {
            return;
        }
        let home = tempfile::tempdir().expect("a folder");
        let (ours, secret) = (home.path().join("ours"), home.path().join("secret"));
        std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o777)).expect("open to all");
        std::fs::write(&secret, "root's").expect("written");
        std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).expect("root's alone");
        {
            let _rights = Rights::of(Caller { uid: 65_534, gid: 65_534 });
            std::fs::write(&ours, "").expect("written");
            assert!(std::fs::write(&secret, "another's").is_err() && std::fs::read(&secret).is_err());
        }
        let metadata = ours.metadata().expect("there");
        assert_eq!((metadata.uid(), metadata.gid()), (65_534, 65_534));
        assert_eq!(std::fs::read_to_string(&secret).expect("root again"), "root's");
    }
}
