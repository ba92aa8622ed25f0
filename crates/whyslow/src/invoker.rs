//! On whose behalf we run: under sudo, the user who called it.

use case::Caller;
use fail::Failure;
use nix::unistd::{Gid, Uid, geteuid};
use record::User;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The user on whose behalf we run.
#[derive(Clone, Debug)]
pub struct Invoker {
    /// The user who called sudo; none where we are who we seem to be.
    pub sudo_caller: Option<User>,
    /// The home folder.
    home: Option<PathBuf>,
}

impl Invoker {
    /// Who it is: found once, while we are who we were started as.
    pub fn find() -> &'static Invoker {
        static FOUND: OnceLock<Invoker> = OnceLock::new();
        FOUND.get_or_init(Invoker::look)
    }

    /// Reads it from what sudo leaves in the environment. Only root believes it.
    fn look() -> Invoker {
        let number = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
        let caller = number("SUDO_UID").zip(number("SUDO_GID")).map(|(uid, gid)| User { uid, gid });
        let sudo_caller = caller.filter(|caller| geteuid().is_root() && caller.uid != 0);
        let own_home = std::env::var_os("HOME").map(PathBuf::from);
        let home = match sudo_caller {
            Some(caller) => passwd(|| nix::unistd::User::from_uid(Uid::from_raw(caller.uid))).map(|user| user.dir),
            None => own_home.or_else(|| passwd(|| nix::unistd::User::from_uid(geteuid())).map(|user| user.dir)),
        };
        Invoker { sudo_caller, home }
    }

    /// The folder for cases that have no other: below XDG_STATE_HOME, else below `~/.local/state`.
    pub fn state_folder(&self) -> Option<PathBuf> {
        let named = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let state = named.or_else(|| Some(self.home.as_ref()?.join(".local/state")))?;
        Some(state.join("whyslow"))
    }

    /// From here on files of cases are touched with the rights of the user who called sudo, and root has the groups of nobody else.
    ///
    /// # Errors
    /// Where the groups cannot be set.
    pub fn act_for(&self) -> Result<(), Failure> {
        let Some(User { uid, gid }) = self.sudo_caller else { return Ok(()) };
        let name = passwd(|| nix::unistd::User::from_uid(Uid::from_raw(uid))).map(|user| user.name);
        let name = name.and_then(|name| CString::new(name).ok());
        let set = match name {
            Some(name) => nix::unistd::initgroups(&name, Gid::from_raw(gid)),
            None => nix::unistd::setgroups(&[Gid::from_raw(gid)]),
        };
        set.map_err(|error| Failure::internal(&format!("the groups of the user who called sudo: {error}")))?;
        case::act_for(Caller { uid, gid });
        Ok(())
    }
}

/// The user that programs are to run as: the one named, else the one who called sudo; none stays as we are.
pub fn subject_user(named: Option<User>) -> Result<Option<User>, Failure> {
    let is_other = |user: User| user.uid != geteuid().as_raw() && !broker::acts_as_root();
    match named {
        Some(user) if is_other(user) => {
            Err(Failure::needs_root("run the program as another user", "only root can do that"))
        }
        Some(user) => Ok(Some(user)),
        None => Ok(Invoker::find().sudo_caller),
    }
}

fn passwd(find: impl Fn() -> nix::Result<Option<nix::unistd::User>>) -> Option<nix::unistd::User> {
    find().ok().flatten()
}
