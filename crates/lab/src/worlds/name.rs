//! What a world is called on the command line.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The name of a world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorldName {
    /// The host as it is: `host`.
    Host,
    /// A Debian release, made and cached: `debian:bookworm`.
    Debian(String),
    /// A folder that holds a whole tree of files: `dir:ROOT`.
    Folder(PathBuf),
    /// The host, with the libraries of a folder in front of its own: `libs:FOLDER`.
    Libraries(PathBuf),
    /// The host, with a commit of the repository in the working folder, built: `git:REVISION`.
    Git(String),
    /// The host, with the variables of a file (`NAME=VALUE` lines): `env:FILE`.
    Environment(PathBuf),
}

impl WorldName {
    /// The forms that a name can have.
    pub const FORMS: &'static str = "host, debian:SUITE, dir:ROOT, libs:FOLDER, git:REVISION or env:FILE";
}

impl FromStr for WorldName {
    type Err = String;

    fn from_str(text: &str) -> Result<WorldName, String> {
        let wrong = || format!("`{text}` is not a world; use {}", WorldName::FORMS);
        if text == "host" {
            return Ok(WorldName::Host);
        }
        let (kind, value) = text.split_once(':').filter(|(_, value)| !value.is_empty()).ok_or_else(wrong)?;
        match kind {
            "debian" => Ok(WorldName::Debian(value.to_string())),
            "dir" => Ok(WorldName::Folder(value.into())),
            "libs" => Ok(WorldName::Libraries(value.into())),
            "git" => Ok(WorldName::Git(value.to_string())),
            "env" => Ok(WorldName::Environment(value.into())),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for WorldName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WorldName::Host => formatter.write_str("host"),
            WorldName::Debian(suite) => write!(formatter, "debian:{suite}"),
            WorldName::Folder(folder) => write!(formatter, "dir:{}", folder.display()),
            WorldName::Libraries(folder) => write!(formatter, "libs:{}", folder.display()),
            WorldName::Git(revision) => write!(formatter, "git:{revision}"),
            WorldName::Environment(file) => write!(formatter, "env:{}", file.display()),
        }
    }
}
