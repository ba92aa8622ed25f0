//! The environment and the groups that a program gets.

use super::{Program, User};
use std::collections::BTreeMap;
use std::ffi::{CString, OsString};

/// Our environment, with the variables that say who one is set for the user to become, then the program's own changes.
pub(super) fn environment(program: &Program, becomes: Option<User>) -> Vec<OsString> {
    let mut variables = std::env::vars_os().collect::<BTreeMap<OsString, OsString>>();
    if let Some(known) = becomes.and_then(|user| nix::unistd::User::from_uid(user.uid.into()).ok().flatten()) {
        variables.insert("HOME".into(), known.dir.into_os_string());
        variables.insert("USER".into(), OsString::from(&known.name));
        variables.insert("LOGNAME".into(), OsString::from(&known.name));
    }
    for (name, value) in &program.environment {
        match value {
            Some(value) => variables.insert(name.clone(), value.clone()),
            None => variables.remove(name),
        };
    }
    let pairs = variables.into_iter().map(|(mut name, value)| {
        name.push("=");
        name.push(value);
        name
    });
    pairs.collect()
}

/// The groups that a user belongs to; its first alone where the user database does not know it.
pub(super) fn groups(user: User) -> Vec<libc::gid_t> {
    let known = nix::unistd::User::from_uid(user.uid.into()).ok().flatten();
    let name = known.and_then(|known| CString::new(known.name).ok());
    let groups = name.and_then(|name| nix::unistd::getgrouplist(&name, user.gid.into()).ok());
    groups.map_or_else(|| vec![user.gid], |groups| groups.into_iter().map(nix::unistd::Gid::as_raw).collect())
}
