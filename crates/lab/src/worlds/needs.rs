//! Which packages a command needs to run in another release: those which own on the host what it is started with.

use super::packages::Packages;
use super::script;
use super::shared::is_of_system;
use record::User;
use record::executable::{self, Elf, find};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The certificates that TLS libraries verify by. Nothing links them: whoever needs them recommends them.
const CERTIFICATES: &str = "ca-certificates";

/// A package, and what it is needed for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Need {
    /// Its name.
    pub package: String,
    /// What for: `/usr/bin/curl`, `libcurl.so.4, which ./client is linked to`, `asked for with --package`.
    pub role: String,
}

/// The packages that a command run in a folder needs, by the host's own packages, and those that were asked for.
pub(super) fn needs(command: &[String], folder: &Path, asked: &[String], host: &Packages) -> Vec<Need> {
    let mut search = Search { host, found: BTreeMap::new(), seen: BTreeSet::new() };
    for package in asked {
        search.found.entry(package.clone()).or_insert_with(|| "asked for with --package".to_string());
    }
    if let Some(program) = command.first().and_then(|name| find(name, folder)) {
        search.look_at(&program);
    }
    let named = command.iter().skip(1).map(|word| folder.join(word)).filter(|path| path.is_file());
    named.for_each(|path| search.look_at(&path));
    for program in script::words(command).iter().filter_map(|word| find(word, folder)) {
        search.look_at(&program);
    }
    search.add_certificates();
    search.found.into_iter().map(|(package, role)| Need { package, role }).collect()
}

struct Search<'a> {
    host: &'a Packages,
    /// Packages, with their roles.
    found: BTreeMap<String, String>,
    seen: BTreeSet<PathBuf>,
}

impl Search<'_> {
    /// A file that is executed or read: its package, else what it takes to execute it.
    fn look_at(&mut self, path: &Path) {
        if !self.seen.insert(path.to_path_buf()) || self.is_owned(path, || path.display().to_string()) {
            return;
        }
        if let Some(interpreter) = interpreter(path) {
            self.is_owned(&interpreter, || format!("{}, the interpreter of {}", interpreter.display(), path.display()));
            return;
        }
        for (library, place) in libraries(path) {
            let role = || format!("{library}, which {} is linked to", path.display());
            match place {
                // What is linked to it in turn comes with its package.
                Some(place) if is_of_system(&place) => drop(self.is_owned(&place, role)),
                Some(place) => self.look_at(&place),
                None => {}
            }
        }
    }

    fn is_owned(&mut self, path: &Path, role: impl FnOnce() -> String) -> bool {
        let Some(owner) = self.host.owner(path) else { return false };
        self.found.entry(owner.name.clone()).or_insert_with(role);
        true
    }

    /// Certificates, where something that comes along recommends them.
    fn add_certificates(&mut self) {
        let mut left = self.found.keys().cloned().collect::<Vec<_>>();
        let mut seen = left.iter().cloned().collect::<BTreeSet<_>>();
        while let Some(package) = left.pop().and_then(|name| self.host.answering(&name)) {
            if package.recommends.iter().chain(&package.depends).any(|name| name == CERTIFICATES) {
                let role = format!("recommended by {}", package.name);
                self.found.entry(CERTIFICATES.to_string()).or_insert(role);
                return;
            }
            left.extend(package.depends.iter().filter(|name| seen.insert((*name).clone())).cloned());
        }
    }
}

/// What a script is executed by: for `#!/usr/bin/env python3` python3.
fn interpreter(path: &Path) -> Option<PathBuf> {
    let words = executable::interpreter(path)?;
    let (program, words) = words.split_first()?;
    let program = PathBuf::from(program);
    if program.file_name().is_some_and(|name| name == "env") {
        let is_name = |word: &&String| !word.starts_with('-') && !word.contains('=');
        return find(words.iter().find(is_name)?, Path::new("/")).or(Some(program));
    }
    Some(program)
}

/// The libraries that a file is linked to itself, and where the host's loader finds them. The loader is asked because it
/// alone knows its paths.
fn libraries(path: &Path) -> Vec<(String, Option<PathBuf>)> {
    let needed = Elf::read(path).map(|elf| elf.needed).unwrap_or_default();
    if needed.is_empty() {
        return Vec::new();
    }
    let mut query = Command::new("ldd");
    // It may execute the loader that the file names.
    if let Some(User { uid, gid }) = User::asking_about(path) {
        query.uid(uid).gid(gid);
    }
    let said = query.arg(path).output().map(|output| output.stdout).unwrap_or_default();
    let said = String::from_utf8_lossy(&said).into_owned();
    let place = |name: &str| {
        let line = said.lines().find_map(|line| line.trim().strip_prefix(name)?.trim().strip_prefix("=> "))?;
        Some(PathBuf::from(line.split(" (").next()?)).filter(|place| place.is_absolute())
    };
    needed.iter().map(|name| (name.clone(), place(name))).collect()
}

#[cfg(test)]
mod tests;
