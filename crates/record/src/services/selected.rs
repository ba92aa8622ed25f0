//! Which service is meant: a process, whoever listens on a port, a systemd unit, or a control group.

use super::group::Group;
use super::hierarchy::{Hierarchy, mounts_of};
use crate::listeners::Listening;
use crate::listening;
use case::redact_target;
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// What the names of scripts end in.
const SCRIPTS: [&str; 7] = [".py", ".rb", ".pl", ".js", ".mjs", ".php", ".sh"];
/// A unit's group lies at most so deep below slices.
const DEEPEST: usize = 5;

/// What was named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selected {
    /// A process, with its children.
    Process(u32),
    /// Whoever listens on a TCP port, with its children.
    Port(u16),
    /// A systemd unit: its control group.
    Unit(String),
    /// A control group.
    Group(PathBuf),
}

impl FromStr for Selected {
    type Err = String;

    fn from_str(text: &str) -> Result<Selected, String> {
        let wrong = || {
            format!(
                "`{text}` is no service: name a process (1234), a port (:80), a unit (nginx) or a control group (/system.slice/nginx.service)"
            )
        };
        if let Some(port) = text.strip_prefix(':') {
            return port.parse().ok().filter(|port| *port > 0).map(Selected::Port).ok_or_else(wrong);
        }
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return text.parse().ok().filter(|pid| *pid > 0).map(Selected::Process).ok_or_else(wrong);
        }
        if let Some(path) = text.strip_prefix('/') {
            let is_plain = Path::new(path).components().all(|part| matches!(part, std::path::Component::Normal(_)));
            return if is_plain && !path.is_empty() {
                Ok(Selected::Group(within_hierarchy(text)))
            } else {
                Err(wrong())
            };
        }
        let is_unit = |byte: u8| byte.is_ascii_alphanumeric() || b"@._-:\\".contains(&byte);
        if !text.bytes().all(is_unit) {
            return Err(wrong());
        }
        let has_kind = [".service", ".scope", ".slice", ".socket"].iter().any(|kind| text.ends_with(kind));
        Ok(Selected::Unit(if has_kind { text.to_string() } else { format!("{text}.service") }))
    }
}

impl fmt::Display for Selected {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selected::Process(pid) => write!(out, "{pid}"),
            Selected::Port(port) => write!(out, ":{port}"),
            Selected::Unit(unit) => write!(out, "{unit}"),
            Selected::Group(path) => write!(out, "{}", path.display()),
        }
    }
}

impl Selected {
    /// The same, where it is a port of one of the system's services the service: that is found again without root when it was
    /// started anew.
    #[must_use]
    pub fn settled(self, listening: &Listening) -> Selected {
        let unit = match &self {
            Selected::Port(_) => self.main(listening).and_then(own_unit),
            _ => None,
        };
        unit.and_then(|path| path.rsplit('/').next().map(|name| Selected::Unit(name.to_string()))).unwrap_or(self)
    }

    /// What it is called: a unit by its name, a process by what it runs and the ports that it listens on.
    pub fn name(&self, listening: &Listening) -> String {
        match self {
            Selected::Unit(unit) => unit.trim_end_matches(".service").to_string(),
            Selected::Group(path) => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            Selected::Process(pid) => program_of(*pid),
            Selected::Port(port) => match self.main(listening) {
                Some(pid) => format!("{}:{port}", program_of(pid)),
                None => format!(":{port}"),
            },
        }
    }

    /// Whether its processes are those of a control group.
    pub fn is_group(&self) -> bool {
        matches!(self, Selected::Unit(_) | Selected::Group(_))
    }

    /// Its first process now; none where it does not run, or is a group.
    pub fn main(&self, listening: &Listening) -> Option<u32> {
        match self {
            Selected::Process(pid) => Some(*pid),
            Selected::Port(port) => listening.on(*port).first().copied(),
            Selected::Unit(_) | Selected::Group(_) => None,
        }
    }

    /// Its control group, where it is one that is there.
    pub fn group(&self) -> Option<Group> {
        match self {
            Selected::Unit(unit) => Group::at(&group_of_unit(unit)?),
            Selected::Group(path) => Group::at(path),
            Selected::Process(_) | Selected::Port(_) => None,
        }
    }

    /// Whether it is there.
    pub fn is_there(&self, listening: &Listening) -> bool {
        match self {
            Selected::Process(pid) => crate::running::is_running(*pid),
            Selected::Port(_) => self.main(listening).is_some(),
            Selected::Unit(_) | Selected::Group(_) => self.group().is_some(),
        }
    }

    /// The TCP ports that it listens on, as far as may be seen.
    pub fn ports(&self) -> BTreeSet<u16> {
        match self {
            Selected::Process(pid) => listening::ports(*pid),
            Selected::Port(port) => BTreeSet::from([*port]),
            Selected::Unit(_) | Selected::Group(_) => {
                let processes = self.group().map(|group| group.processes()).unwrap_or_default();
                processes.into_iter().flat_map(listening::ports).collect()
            }
        }
    }

    /// For the broker, before the division: the process that it is, and the end of its group's path.
    pub fn named(&self, listening: &Listening) -> (Vec<u32>, Vec<PathBuf>) {
        let unit = |pid: u32| own_unit(pid).map(PathBuf::from);
        match self {
            Selected::Process(pid) => (vec![*pid], unit(*pid).into_iter().collect()),
            Selected::Port(_) => {
                let main = self.main(listening);
                (main.into_iter().collect(), main.and_then(unit).into_iter().collect())
            }
            Selected::Unit(unit) => (Vec::new(), group_of_unit(unit).into_iter().collect()),
            Selected::Group(path) => (Vec::new(), vec![path.clone()]),
        }
    }
}

/// Every service that listens: units by their groups, other programs by their first process.
pub fn all_listening(listening: &Listening) -> Vec<Selected> {
    let mut found: Vec<Selected> = Vec::new();
    for pid in listening.on_any() {
        let one = match own_unit(pid).and_then(|path| Some(Path::new(&path).file_name()?.to_str()?.to_string())) {
            Some(unit) => Selected::Unit(unit),
            None => Selected::Process(pid),
        };
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found.truncate(super::counters::MOST);
    found
}

/// A group's path within its hierarchy, also where its folder was named.
fn within_hierarchy(path: &str) -> PathBuf {
    let kinds = [Hierarchy::Unified, Hierarchy::Of("name=systemd"), Hierarchy::Of("cpu"), Hierarchy::Of("memory")];
    let mounts = kinds.into_iter().flat_map(mounts_of);
    let within = mounts.filter_map(|mount| Path::new(path).strip_prefix(mount).ok().map(Path::to_path_buf)).min();
    within.map_or_else(|| PathBuf::from(path), |within| Path::new("/").join(within))
}

/// The path of the system's service that a process belongs to; none for a user's sessions, and where there is no systemd.
fn own_unit(pid: u32) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let paths = text.lines().filter_map(|line| line.splitn(3, ':').nth(2));
    let is_service = |path: &&str| path.starts_with("/system.slice/") && path.ends_with(".service");
    paths.into_iter().find(is_service).map(str::to_string)
}

/// The path of a unit's group: it has the unit's name, below slices.
fn group_of_unit(unit: &str) -> Option<PathBuf> {
    let mounts = [Hierarchy::Unified, Hierarchy::Of("name=systemd")].into_iter().flat_map(mounts_of);
    mounts.into_iter().find_map(|mount| {
        let found = find(&mount, unit, DEEPEST)?;
        Some(Path::new("/").join(found.strip_prefix(&mount).ok()?))
    })
}

fn find(folder: &Path, unit: &str, deeper: usize) -> Option<PathBuf> {
    let here = folder.join(unit);
    if here.is_dir() {
        return Some(here);
    }
    if deeper == 0 {
        return None;
    }
    let slices = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let is_slice =
        |path: &PathBuf| path.extension().is_some_and(|kind| kind == "slice" || kind == "service") && path.is_dir();
    slices.filter(is_slice).find_map(|slice| find(&slice, unit, deeper - 1))
}

/// What a process runs: for an interpreter the script, else the program.
fn program_of(pid: u32) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = words.split(|byte| *byte == 0).filter(|word| !word.is_empty()).map(String::from_utf8_lossy);
    let words = words.take(4).collect::<Vec<_>>();
    let last = |word: &str| redact_target(word.rsplit('/').next().unwrap_or(word));
    let Some(first) = words.first() else {
        return fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_string();
    };
    // An interpreter's first word that is a file is what it runs; a program renames itself as `nginx: master process`.
    let is_script = |word: &str| SCRIPTS.iter().any(|kind| word.ends_with(kind));
    let script = words.iter().skip(1).find(|word| !word.starts_with('-')).filter(|word| is_script(word));
    let program = first.split(['\u{20}', ':']).next().unwrap_or_default();
    script.map_or_else(|| last(program), |word| last(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_named_in_four_ways() {
        let read = |text: &str| text.parse::<Selected>();
        assert_eq!(read("1234"), Ok(Selected::Process(1234)));
        assert_eq!(read(":80"), Ok(Selected::Port(80)));
        assert_eq!(read("nginx"), Ok(Selected::Unit("nginx.service".into())));
        assert_eq!(read("user@1000.service"), Ok(Selected::Unit("user@1000.service".into())));
        assert_eq!(read("/system.slice/nginx.service"), Ok(Selected::Group("/system.slice/nginx.service".into())));
        for wrong in ["", ":0", ":x", "0", "/", "/a/../b", "a b", "99999999999"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_interpreter_is_called_by_its_script() {
        let script = tempfile::Builder::new().suffix(".sh").tempfile().expect("a file");
        // It waits by itself: another program would be left when it is killed.
        std::fs::write(&script, "read word\n").expect("written");
        let mut command = std::process::Command::new("sh");
        let mut child = command.arg(script.path()).stdin(std::process::Stdio::piped()).spawn().expect("sh");
        // It is this program until it has executed the shell.
        let is_shell =
            || fs::read(format!("/proc/{}/cmdline", child.id())).is_ok_and(|words| words.starts_with(b"sh\0"));
        while !is_shell() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let name = Selected::Process(child.id()).name(&Listening::default());
        child.kill().expect("killed");
        child.wait().expect("collected");
        assert_eq!(name, script.path().file_name().expect("a name").to_string_lossy());
    }
}
