//! Whom a program runs as.

use nix::unistd::Uid;
use std::str::FromStr;

/// The user that a program runs as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct User {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
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
    fn a_user_is_read_by_name_and_by_number() {
        let root = User { uid: 0, gid: 0 };
        assert_eq!(("root".parse(), "0".parse()), (Ok(root), Ok(root)));
        assert!("no-such-user".parse::<User>().is_err_and(|why| why.contains("no-such-user")));
    }
}
