//! From a world's name to a world that is there.

use super::git::Repository;
use super::packages::Packages;
use super::store::Store;
use super::{Ready, WorldName, debian, needs, shared};
use crate::LabError;
use record::User;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a world is wanted for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The command that is to run in it; empty for none in particular.
    pub command: &'a [String],
    /// Packages of a Debian release that it is to have besides.
    pub packages: &'a [String],
    /// The folder that the command runs in: absolute.
    pub folder: &'a Path,
    /// What builds a commit, for `sh -c`.
    pub build: Option<&'a str>,
    /// Who runs it: a commit is read, built and owned by that user. None is who we are.
    pub user: Option<User>,
}

/// Makes a world ready, from the cache if it is there. `say` gets a line about what is being done; `wait` passes time and
/// is true when the user wants an end.
///
/// # Errors
/// Where the world cannot be had, with what to try; [`LabError::Interrupted`] where the user wanted an end.
pub fn prepare(
    name: &WorldName,
    wanted: &Wanted,
    store: &Store,
    say: &dyn Fn(&str),
    wait: &mut dyn FnMut(Duration) -> bool,
) -> Result<Ready, LabError> {
    let mut ready = Ready {
        name: name.clone(),
        title: String::new(),
        base: PathBuf::from("/"),
        environment: BTreeMap::new(),
        libraries: None,
        folder: None,
        shared: shared::shared(wanted.command, wanted.folder),
        place: store.place()?,
    };
    match name {
        WorldName::Host => ready.title = format!("this host: {}", title(Path::new("/"))),
        WorldName::Debian(suite) => {
            let host = Packages::read(Path::new("/"))?;
            let needs = needs::needs(wanted.command, wanted.folder, wanted.packages, &host);
            ready.base = debian::find_or_make(suite, &needs, store, say, wait)?.files;
            ready.title = title(&ready.base);
        }
        WorldName::Folder(folder) => {
            ready.base = tree(folder, name)?;
            ready.title = format!("{}, in {}", title(&ready.base), ready.base.display());
        }
        WorldName::Libraries(folder) => {
            let folder = libraries(folder, name)?;
            ready.title = format!("this host with the libraries of {}", folder.display());
            shared::add(&mut ready.shared, folder.clone());
            ready.libraries = Some(folder);
        }
        WorldName::Environment(file) => {
            let text = std::fs::read_to_string(file)
                .map_err(|error| no_world(name, &format!("{}: {error}", file.display())))?;
            ready.environment =
                variables(&text).map_err(|why| no_world(name, &format!("{}, {why}", file.display())))?;
            ready.title = format!("this host with the variables of {}", file.display());
        }
        WorldName::Git(revision) => return commit(revision, wanted, store, &ready, wait),
    }
    if ready.base == Path::new("/") {
        shared::add_mounts(&mut ready.shared);
    }
    Ok(ready)
}

fn commit(
    revision: &str,
    wanted: &Wanted,
    store: &Store,
    host: &Ready,
    wait: &mut dyn FnMut(Duration) -> bool,
) -> Result<Ready, LabError> {
    let build = wanted.build.unwrap_or_default().to_string();
    let folder = wanted.folder.to_path_buf();
    let (cache, command) = (store.folder("builds")?, wanted.command.to_vec());
    let repository = Repository { folder, build, cache, user: wanted.user, command };
    let wait = RefCell::new(wait);
    let mut ready = repository.ready(revision, &host.shared, &host.place, &|| wait.borrow_mut()(Duration::ZERO))?;
    shared::add_mounts(&mut ready.shared);
    Ok(ready)
}

/// A folder that holds a whole tree.
fn tree(folder: &Path, name: &WorldName) -> Result<PathBuf, LabError> {
    let tree = folder.canonicalize().map_err(|error| no_world(name, &format!("{}: {error}", folder.display())))?;
    if ["usr", "lib", "bin"].iter().any(|part| tree.join(part).is_dir()) {
        return Ok(tree);
    }
    Err(no_world(name, &format!("{} is not a root file system: it has no usr, lib or bin", tree.display())))
}

/// A folder with libraries in it.
fn libraries(folder: &Path, name: &WorldName) -> Result<PathBuf, LabError> {
    let wrong = |error: std::io::Error| no_world(name, &format!("{}: {error}", folder.display()));
    let folder = folder.canonicalize().map_err(wrong)?;
    if folder.to_string_lossy().contains([':', ';']) {
        let why =
            format!("{}: the loader would take a colon or semicolon as the end of the folder's name", folder.display());
        return Err(no_world(name, &why));
    }
    let mut names = std::fs::read_dir(&folder).map_err(wrong)?.flatten().map(|entry| entry.file_name());
    if names.any(|name| name.to_string_lossy().contains(".so")) {
        return Ok(folder);
    }
    Err(no_world(name, &format!("{} holds no library: no file in it has .so in its name", folder.display())))
}

/// The variables of a file: `NAME=VALUE` sets, `NAME` or `unset NAME` removes, `#` begins a comment line.
fn variables(text: &str) -> Result<BTreeMap<String, Option<String>>, String> {
    let mut variables = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_start();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (line.strip_prefix("unset ").unwrap_or(line).trim(), None),
        };
        if name.is_empty() || name.contains(char::is_whitespace) || line.contains('\0') {
            return Err(format!("line {number}: neither NAME=VALUE nor NAME"));
        }
        variables.insert(name.to_string(), value);
    }
    Ok(variables)
}

/// `Debian 12 (bookworm), 113 packages`, as far as a tree says it.
fn title(base: &Path) -> String {
    let places = ["etc/os-release", "usr/lib/os-release"].map(|place| base.join(place));
    let release = places.iter().find_map(|place| std::fs::read_to_string(place).ok()).unwrap_or_default();
    let value = |name: &str| {
        let line = release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
        Some(line.trim_matches('"').to_string())
    };
    let named = value("ID").filter(|id| id == "debian").and(value("VERSION_CODENAME"));
    let system = match (value("VERSION_ID"), named) {
        (Some(number), Some(codename)) => format!("Debian {number} ({codename})"),
        (None, Some(codename)) => format!("Debian ({codename})"),
        _ => value("PRETTY_NAME").unwrap_or_else(|| "a tree of no named system".to_string()),
    };
    match Packages::named(base).map_or(0, |packages| packages.len()) {
        0 => system,
        count => format!("{system}, {count} packages"),
    }
}

fn no_world(name: &WorldName, why: &str) -> LabError {
    LabError::NoWorld {
        world: name.to_string(),
        why: why.to_string(),
        remedy: format!("a world is one of {}", WorldName::FORMS),
    }
}

#[cfg(test)]
mod tests;
