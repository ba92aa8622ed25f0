//! apt's own sandbox: what talks to a mirror, and unpacks and verifies its answers, is no root but a user that owns nothing else.
//! apt leaves it without a word to a program where that user cannot get to its folders; here it is made sure of, or said.

use crate::passable::is_reachable;
use nix::unistd::{User, geteuid};
use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, chown};
use std::path::Path;

/// Whom apt becomes, on every Debian.
pub(super) const USER: &str = "_apt";
/// apt's setting of it.
pub(super) const SETTING: &str = "APT::Sandbox::User";

/// Whom apt becomes for the network below a folder.
pub(super) enum Sandbox {
    /// Nobody else, and no root either: we are not.
    Needless,
    /// That user.
    On(User),
    /// It stays root: why, and what to do about it.
    Off(String),
}

impl Sandbox {
    /// Whom it can become that is to keep files below this folder.
    pub fn below(folder: &Path) -> Sandbox {
        if !geteuid().is_root() {
            return Sandbox::Needless;
        }
        let Some(user) = User::from_name(USER).ok().flatten() else {
            return Sandbox::Off(format!("there is no user {USER} (sudo apt install --reinstall apt)"));
        };
        if is_reachable(&folder.join("file")) {
            return Sandbox::On(user);
        }
        Sandbox::Off(format!(
            "{} is closed to the user {USER} (name a folder that is open to all in WHYSLOW_CACHE)",
            folder.display()
        ))
    }

    /// What apt is told.
    pub fn setting(&self) -> Option<(&'static str, String)> {
        match self {
            Sandbox::Needless => None,
            Sandbox::On(user) => Some((SETTING, user.name.clone())),
            Sandbox::Off(_) => Some((SETTING, "root".to_string())),
        }
    }

    /// Says where packages are fetched by root.
    pub fn admit(&self, say: &dyn Fn(&str)) {
        if let Sandbox::Off(why) = self {
            say(&format!("packages are fetched by root itself: {why}"));
        }
    }

    /// Makes a folder that apt downloads into.
    ///
    /// # Errors
    /// Where it is there already, or the system refuses.
    pub fn make_folder(&self, path: &Path) -> std::io::Result<()> {
        DirBuilder::new().mode(0o700).create(path)?;
        match self {
            Sandbox::On(user) => chown(path, Some(user.uid.as_raw()), Some(user.gid.as_raw())),
            Sandbox::Needless | Sandbox::Off(_) => Ok(()),
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
