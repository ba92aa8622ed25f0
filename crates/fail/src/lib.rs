//! Errors as a user sees them: three lines, what failed, why, and the command to try. The one place that formats them.
//!
//! The crates' errors say what failed; the modules here add, type by type, why and what to try.

mod case;
mod feeds;
mod import;
mod lab;
mod nearest;
mod record;
mod studies;

use crate::nearest::nearest;
use report::clean;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// An error: a line for what failed, one for why, one for what to try.
pub struct Failure {
    what: String,
    why: String,
    remedy: String,
}

impl Failure {
    /// An error in its three lines.
    pub fn new(what: impl Into<String>, why: impl Into<String>, remedy: impl Into<String>) -> Failure {
        Failure { what: what.into(), why: why.into(), remedy: remedy.into() }
    }

    /// What failed and why, for a line of its own where all else stands.
    pub fn in_a_line(&self) -> String {
        format!("{}: {}", self.what, self.why)
    }

    /// The same, at one of several places where it could have happened.
    fn at(self, place: &str) -> Failure {
        Failure { what: format!("{place}: {}", self.what), ..self }
    }

    /// An option's value that cannot be read.
    pub fn value(option: &str, why: &str, example: &str) -> Failure {
        Failure::new(format!("invalid value for {option}"), why, format!("{example} (see: {})", help()))
    }

    /// Something that only root may do.
    pub fn needs_root(what: &str, why: &str) -> Failure {
        let uid = nix::unistd::geteuid();
        Failure::new(format!("cannot {what}"), format!("{why}, and this is user {uid}"), sudo())
    }

    /// A service that is not there.
    pub fn no_service(service: &::studies::services::Selected) -> Failure {
        use ::studies::services::Selected;
        let (why, remedy) = match service {
            Selected::Process(_) => ("no process has that PID, or it has exited", "pgrep -a NAME"),
            Selected::Port(_) => ("no process you may inspect listens on that TCP port", "sudo ss -ltnp"),
            Selected::Unit(_) => ("no unit of that name runs", "systemctl list-units --type=service --state=running"),
            Selected::Group(_) => ("no hierarchy has a control group at that path", "systemd-cgls"),
        };
        Failure::new(format!("cannot watch {service}"), why, remedy)
    }

    /// There is nothing to watch.
    pub fn nobody_listens() -> Failure {
        let why = "no process you may inspect listens on a TCP port";
        Failure::new("there is no service to watch", why, "whyslow watch PID; sudo whyslow watch")
    }

    /// Neither HOME nor the user database say where cases could go.
    pub fn no_home() -> Failure {
        let why = "neither XDG_STATE_HOME nor HOME is set, and the user database has no home for this user";
        Failure::new("no folder for the case", why, "whyslow run -o FOLDER -- COMMAND")
    }

    /// A name that nothing of this kind has: `command` takes the nearest one, `list` shows all.
    pub fn unknown<'a>(
        kind: &str,
        name: &str,
        names: impl Iterator<Item = &'a str>,
        (command, list): (&str, &str),
    ) -> Failure {
        let near = nearest(name, names);
        let (why, remedy) = match near.first() {
            None => (format!("no {kind} has a similar name"), list.to_string()),
            Some(first) => (format!("similar names: {}", near.join(", ")), format!("{command} {first}")),
        };
        Failure::new(format!("there is no {kind} `{name}`"), why, remedy)
    }

    /// Something that a killed run has left behind and that stays.
    pub fn not_undone(left: &[String]) -> Failure {
        let remedy = if broker::acts_as_root() { again() } else { sudo() };
        Failure::new("some leftovers could not be cleaned up", left.join("; "), remedy)
    }

    /// Our own output cannot be written.
    pub fn output(error: &io::Error) -> Failure {
        Failure::new("the answer could not be written", error.to_string(), "whyslow report CASE prints it again")
    }

    /// A file of the user's choice that cannot be written.
    pub fn not_written(file: &Path, error: &io::Error) -> Failure {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let shown = quote_path(folder);
        let remedy = match error.kind() {
            io::ErrorKind::NotFound => format!("mkdir -p {shown}"),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => format!("df -h {shown}"),
            io::ErrorKind::IsADirectory => format!("name a file in it: -o {}", quote_path(&file.join("report"))),
            _ => format!("ls -ld {shown}; name another file with -o"),
        };
        // The name of what is written beside the file says nothing to its reader.
        let why = error.to_string();
        let why = why.split(" at path ").next().unwrap_or_default();
        Failure::new(format!("{} was not written", file.display()), why, remedy)
    }

    /// A defect of ours.
    pub fn internal(why: &str) -> Failure {
        let version = env!("CARGO_PKG_VERSION");
        let remedy = format!("file an issue with these lines (whyslow {version}) and the command: {}", again());
        Failure::new("this is a bug in whyslow", why, remedy)
    }

    /// What the system refused, at a path or while doing something.
    fn system(path: Option<&Path>, action: &str, error: &io::Error) -> Failure {
        let place = path.map_or_else(|| action.to_string(), |path| path.display().to_string());
        let why = format!("{place}: {error}");
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                let remedy = format!("df -h {}; whyslow run -o FOLDER-ON-ANOTHER-DISK -- COMMAND", folder_of(path));
                Failure::new("the disk is full", why, remedy)
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem if path.is_some() => {
                let remedy = format!("ls -ld {}; whyslow run -o FOLDER -- COMMAND", folder_of(path));
                Failure::new("the folder is not readable or writable", why, remedy)
            }
            io::ErrorKind::PermissionDenied => Failure::needs_root(action, &error.to_string()),
            _ => Failure::new(format!("the system refused: {action}"), why, "whyslow doctor"),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "whyslow: {}", clean(&self.what))?;
        writeln!(out, "  why: {}", clean(&self.why))?;
        writeln!(out, "  try: {}", clean(&self.remedy))
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// The help of the command that was typed.
pub fn help() -> String {
    let command = std::env::args().nth(1).filter(|word| !word.starts_with('-'));
    format!("whyslow {}--help", command.map(|word| word + " ").unwrap_or_default())
}

fn own_path() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| "whyslow".into())
}

/// The command as it was typed, with the path of this very program, since root's PATH may not have it.
fn again() -> String {
    again_with("", "")
}

/// The same with one word replaced.
fn again_with(word: &str, by: &str) -> String {
    let replace = |argument: String| if argument == word { by.to_string() } else { argument };
    let arguments = std::env::args_os().skip(1).map(|argument| replace(argument.to_string_lossy().into_owned()));
    let words = [own_path().display().to_string()].into_iter().chain(arguments);
    words.map(|word| quote(&word)).collect::<Vec<_>>().join(" ")
}

fn sudo() -> String {
    format!("sudo {}", again())
}

fn quote(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_string(), std::borrow::Cow::into_owned)
}

fn quote_path(path: &Path) -> String {
    quote(&path.display().to_string())
}

/// The nearest folder above a path that exists.
fn folder_of(path: Option<&Path>) -> String {
    let folder = path.and_then(|path| path.ancestors().skip(1).find(|folder| folder.is_dir()));
    quote_path(folder.unwrap_or(Path::new(".")))
}

#[cfg(test)]
mod tests;
