//! Single packages of any release, unpacked into the cache: no root, no solver, nothing installed.
//!
//! apt is given folders of its own, so that the host's lists stay as they are. It verifies lists by their signature, as the
//! user of its sandbox; a package is checked against the list once more where that user can change it no longer.

use super::debian::refused;
use super::mirror::{self, PATIENCE};
use super::sandbox::Sandbox;
use super::store::{PART, Store};
use super::tool::{self, Watch};
use crate::{LabError, digest};
use nix::fcntl::OFlag;
use record::Program;
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

/// Lists are brought up to date at most this often: a release changes every few months, the others daily.
const FRESH: Duration = Duration::from_hours(24);

/// Packages with programs and libraries have some hundred megabytes at most.
const LARGEST_PACKAGE: u64 = 2 << 30;

/// A package that was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The source package that it was built from.
    pub source: String,
    /// The folder with its files, as they lie below `/`.
    pub folder: PathBuf,
}

/// Fetches packages of a suite (`bookworm`, `bookworm-backports`) and unpacks each into a folder of its own. A name may have
/// a version behind it: `libssl3=3.0.15-1`.
///
/// # Errors
/// Where the mirror cannot be reached, or has no such suite or package; [`LabError::Interrupted`].
pub fn fetch(
    store: &Store,
    suite: &str,
    names: &[String],
    say: &dyn Fn(&str),
    wait: &mut dyn FnMut(Duration) -> bool,
) -> Result<Vec<Fetched>, LabError> {
    let apt = Apt::of(store, suite)?;
    apt.update(say, wait)?;
    let mut fetched = Vec::new();
    for (number, name) in names.iter().enumerate() {
        say(&format!("fetching {name} of {suite}: {} of {}", number + 1, names.len()));
        fetched.push(apt.fetch(name, say, wait)?);
    }
    Ok(fetched)
}

/// The versions of a package that a suite has, the newest first; none where it cannot be asked.
pub fn versions(store: &Store, suite: &str, name: &str) -> Vec<String> {
    let asked = || {
        let apt = Apt::of(store, suite)?;
        apt.update(&|_| (), &mut |longest| {
            std::thread::sleep(longest);
            false
        })?;
        mirror::check_package(name)?;
        apt.records(name)
    };
    let records = asked().unwrap_or_default();
    records.lines().filter_map(|line| line.strip_prefix("Version: ")).map(String::from).collect()
}

/// apt with folders of its own.
struct Apt<'a> {
    store: &'a Store,
    suite: &'a str,
    mirror: String,
    folder: PathBuf,
    sandbox: Sandbox,
}

impl Apt<'_> {
    fn of<'a>(store: &'a Store, suite: &'a str) -> Result<Apt<'a>, LabError> {
        Apt::at(store, suite, mirror::mirror())
    }

    fn at<'a>(store: &'a Store, suite: &'a str, mirror: String) -> Result<Apt<'a>, LabError> {
        mirror::check_suite(suite)?;
        let folder = store.folder(&format!("packages/apt/{}", suite.replace('/', "-")))?;
        for part in ["state/lists/partial", "cache/archives/partial", "etc/apt.conf.d", "etc/preferences.d"] {
            let path = folder.join(part);
            std::fs::create_dir_all(&path).map_err(LabError::io(path))?;
        }
        let sandbox = Sandbox::below(&folder);
        let apt = Apt { store, suite, mirror, folder, sandbox };
        // Another mirror has other lists.
        let (sources, line) = (apt.folder.join("etc/sources.list"), mirror::source_line(&apt.mirror, suite)? + "\n");
        if std::fs::read_to_string(&sources).is_ok_and(|known| known == line) {
            return Ok(apt);
        }
        std::fs::write(&sources, line).map_err(LabError::io(sources))?;
        let _ = std::fs::remove_file(apt.stamp());
        Ok(apt)
    }

    /// What tells by its age how old the lists are.
    fn stamp(&self) -> PathBuf {
        self.folder.join("updated")
    }

    fn update(&self, say: &dyn Fn(&str), wait: &mut dyn FnMut(Duration) -> bool) -> Result<(), LabError> {
        let _lock = self.store.lock(&format!("lists-{}", self.suite.replace('/', "-")), say, wait)?;
        let made = std::fs::metadata(self.stamp()).and_then(|found| found.modified());
        if made.is_ok_and(|made| SystemTime::now().duration_since(made).is_ok_and(|age| age < FRESH)) {
            return Ok(());
        }
        self.sandbox.admit(say);
        say(&format!("fetching the list of packages of {}", self.suite));
        // By default a list that cannot be had is a warning.
        let words =
            [vec!["apt-get".to_string()], self.options(), vec!["--error-on=any".into(), "update".into()]].concat();
        let done = tool::run(program(words, &self.folder), &self.folder.join("log"), &Watch::SILENT, say, wait)?;
        if !done.is_well() {
            return Err(refused::refused(self.suite, &self.mirror, &[], &done));
        }
        std::fs::write(self.stamp(), "").map_err(LabError::io(self.stamp()))
    }

    fn fetch(
        &self,
        wanted: &str,
        say: &dyn Fn(&str),
        wait: &mut dyn FnMut(Duration) -> bool,
    ) -> Result<Fetched, LabError> {
        let (name, version) = wanted.split_once('=').map_or((wanted, None), |(name, version)| (name, Some(version)));
        mirror::check_package(name)?;
        let record = self.record(name, version)?;
        let field = |field: &str| record.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(": "));
        let version = field("Version").unwrap_or_default().to_string();
        let checksum = field("SHA256").unwrap_or_default().to_string();
        let source = field("Source").and_then(|source| source.split_whitespace().next()).unwrap_or(name).to_string();
        let folder = self.store.folder("packages/unpacked")?.join(format!("{name}_{version}"));
        let fetched = Fetched { name: name.to_string(), version: version.clone(), source, folder: folder.clone() };
        let _lock = self.store.lock(&format!("{name}_{version}"), say, wait)?;
        if folder.is_dir() {
            return Ok(fetched);
        }
        let part = folder.with_file_name(format!("{name}_{version}{PART}"));
        let clear = || if part.exists() { std::fs::remove_dir_all(&part).map_err(LabError::io(&part)) } else { Ok(()) };
        clear()?;
        std::fs::create_dir_all(part.join("tree")).map_err(LabError::io(&part))?;
        let downloads = part.join("downloads");
        self.sandbox.make_folder(&downloads).map_err(LabError::io(&downloads))?;
        let words = [vec!["apt-get".to_string()], self.options(), vec!["download".into(), format!("{name}={version}")]];
        let done = tool::run(program(words.concat(), &downloads), &part.join("log"), &Watch::SILENT, say, wait)?;
        if !done.is_well() {
            clear()?;
            return Err(refused::refused(self.suite, &self.mirror, &[], &done));
        }
        let unpacked = verified(&part, &checksum).and_then(|package| unpack(&part, &package));
        unpacked.inspect_err(|_| {
            let _ = clear();
        })?;
        std::fs::rename(part.join("tree"), &folder).map_err(LabError::io(&part))?;
        clear()?;
        Ok(fetched)
    }

    /// What the list says of a package.
    fn record(&self, name: &str, version: Option<&str>) -> Result<String, LabError> {
        let records = self.records(name)?;
        let is_it = |record: &&str| {
            version.is_none_or(|version| record.lines().any(|line| line.strip_prefix("Version: ") == Some(version)))
        };
        let record = records.split("\n\n").filter(|record| record.starts_with("Package: ")).find(is_it);
        record.map(String::from).ok_or_else(|| LabError::NoWorld {
            world: format!("the package {name}{}", version.map(|version| format!("={version}")).unwrap_or_default()),
            why: format!("{} of {} has none of that name and version", self.suite, self.mirror),
            remedy: format!("apt-cache policy {name}"),
        })
    }

    fn records(&self, name: &str) -> Result<String, LabError> {
        let mut command = Command::new("apt-cache");
        command.args(self.options()).args(["show", "--", name]).env("LC_ALL", "C.UTF-8").env_remove("APT_CONFIG");
        let output = command.output().map_err(LabError::io("apt-cache"))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Folders of its own for everything, and nothing of the host's settings.
    fn options(&self) -> Vec<String> {
        let path = |part: &str| self.folder.join(part).display().to_string();
        let folders = [
            ("Dir::State", path("state")),
            ("Dir::State::Lists", path("state/lists")),
            // No package is installed here: the host's would count, as they decide what `policy` says.
            ("Dir::State::status", "/dev/null".to_string()),
            ("Dir::Cache", path("cache")),
            ("Dir::Etc", path("etc")),
            ("Dir::Etc::SourceList", path("etc/sources.list")),
            ("Dir::Etc::SourceParts", "/dev/null".to_string()),
            ("Acquire::Languages", "none".to_string()),
        ];
        let patience = PATIENCE.iter().map(|(option, value)| (*option, (*value).to_string()));
        let settings = folders.into_iter().chain(patience).chain(self.sandbox.setting());
        settings.flat_map(|(name, value)| ["-o".into(), format!("{name}={value}")]).collect()
    }
}

fn program(arguments: Vec<String>, folder: &Path) -> Program {
    let environment = vec![("LC_ALL".into(), Some("C.UTF-8".into())), ("APT_CONFIG".into(), None)];
    Program { arguments, environment, folder: Some(folder.to_path_buf()), ..Program::default() }
}

/// The one package among the downloads, copied to where nobody else can change it, if it is what the list says (its SHA-256).
fn verified(part: &Path, checksum: &str) -> Result<PathBuf, LabError> {
    let downloads = part.join("downloads");
    let entries = std::fs::read_dir(&downloads).map_err(LabError::io(&downloads))?;
    let mut paths = entries.flatten().map(|entry| entry.path());
    let found = paths.find(|path| path.extension().is_some_and(|ending| ending == "deb"));
    let found = found.ok_or_else(|| LabError::World(format!("apt left no package in {}", part.display())))?;
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let opened = OpenOptions::new().read(true).custom_flags(flags.bits()).open(&found);
    let mut bytes = Vec::new();
    let read = opened.and_then(|file| file.take(LARGEST_PACKAGE).read_to_end(&mut bytes));
    read.map_err(LabError::io(&found))?;
    if !digest::hexadecimal(&bytes).eq_ignore_ascii_case(checksum) {
        let name = found.file_name().unwrap_or_default().to_string_lossy().into_owned();
        return Err(LabError::World(format!("{name} does not match the signed list of packages (SHA-256 {checksum})")));
    }
    let package = part.join("package.deb");
    std::fs::write(&package, bytes).map_err(LabError::io(&package))?;
    Ok(package)
}

/// Unpacks a package into `tree`.
fn unpack(part: &Path, package: &Path) -> Result<(), LabError> {
    let unpacked = Command::new("dpkg-deb").arg("-x").arg(package).arg(part.join("tree")).output();
    let unpacked = unpacked.map_err(LabError::io("dpkg-deb"))?;
    if unpacked.status.success() {
        return Ok(());
    }
    Err(LabError::World(format!("{}: {}", package.display(), String::from_utf8_lossy(&unpacked.stderr).trim())))
}

#[cfg(test)]
mod tests;
