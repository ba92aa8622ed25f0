//! Whether programs start in a world, and what is missing where they do not, according to the world's own loader, asked
//! as `ldd -r` asks it. Nothing of the programs themselves is executed.

mod listing;

pub(super) use listing::fuzz;

use super::inside::Inside;
use crate::LabError;
use crate::treatment::End;
use crate::world::World;
use listing::Listing;
use record::executable::{self, Elf, MOST_INTERPRETERS};
use record::{Input, Output, ParentDeathSignal, Program, Root, User};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Makes the loader say what it loads, complain, and look for every symbol at once.
const ASKING: [(&str, &str); 3] = [("LD_TRACE_LOADED_OBJECTS", "1"), ("LD_WARN", "yes"), ("LD_BIND_NOW", "yes")];
/// Names libraries to be loaded besides.
const PRELOAD: &str = "LD_PRELOAD";
/// A loader answers in 10 ms; nobody waits longer than this for one that does not.
const LONGEST: Duration = Duration::from_secs(20);
/// How often to check whether it has answered.
const TICK: Duration = Duration::from_millis(1);
/// What the loader says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Linkage {
    /// Each library by the name that it is needed by, and the path at which it is found inside.
    pub loaded: BTreeMap<String, PathBuf>,
    /// What is not found, sorted.
    pub missing: Vec<Missing>,
}

/// Something that is not found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Missing {
    /// What kind of thing it is. Libraries come first: what else is missing may be for want of them.
    pub kind: MissingKind,
    /// Its name: a library's, a version's, or a symbol's.
    pub what: String,
    /// For a version, the library that should have it, as a path inside or as a name; for a symbol its version. Else empty.
    pub of: String,
    /// Who needs it, by the path at which the loader found that; empty where the loader does not say.
    pub wanted_by: PathBuf,
}

/// What can be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MissingKind {
    /// A library.
    Library,
    /// A version of a library's symbols.
    Version,
    /// A symbol.
    Symbol,
}

/// Asks about programs, and about libraries that programs open while they run (plug-ins, extension modules): each of those is
/// looked at beside each program, and misses only what it misses beside all of them. Paths are inside; what is not there
/// is passed over, and of a script its interpreter is asked about.
///
/// # Errors
/// Where the loader cannot be started or does not answer, or the user wants an end (`wait` passes the time).
pub fn check(
    world: &World,
    end: End,
    objects: &[PathBuf],
    wait: &mut dyn FnMut(Duration) -> bool,
) -> Result<Linkage, LabError> {
    let root = world.root_of(end).cloned();
    let host = Root { layers: vec!["/".into()], ..Root::default() };
    let inside = Inside::of(root.clone().unwrap_or(host));
    let (programs, libraries) = sorted(objects, &inside);
    let mut asking = Asking { world, root, inside, wait };
    let mut linkage = Listing::default();
    let mut with_libraries: Option<Listing> = None;
    for (program, loader) in &programs {
        linkage.join(asking.ask(loader, program, &[])?);
        if !libraries.is_empty() {
            let listing = asking.ask(loader, program, &libraries)?;
            match &mut with_libraries {
                Some(before) => before.meet(listing),
                None => with_libraries = Some(listing),
            }
        }
    }
    linkage.join(with_libraries.unwrap_or_default());
    Ok(linkage.into_linkage())
}

/// Programs with their loaders, and libraries.
fn sorted(objects: &[PathBuf], inside: &Inside) -> (BTreeMap<PathBuf, PathBuf>, Vec<PathBuf>) {
    let (mut programs, mut libraries) = (BTreeMap::new(), BTreeSet::new());
    for object in objects {
        let Some(program) = program(object, inside) else { continue };
        let Some(elf) = inside.on_host(&program).as_deref().and_then(Elf::read) else { continue };
        match elf.loader.and_then(|loader| inside.real(&loader)) {
            Some(loader) => {
                programs.insert(program, loader);
            }
            None => {
                libraries.insert(program);
            }
        }
    }
    let is_plain = |path: &PathBuf| path.to_str().is_some_and(|text| !text.contains([' ', ':', '\t', '\n']));
    (programs, libraries.into_iter().filter(is_plain).collect())
}

/// What is really executed: of a script, its interpreter. None where it is not there.
pub(super) fn program(path: &Path, inside: &Inside) -> Option<PathBuf> {
    let mut path = inside.real(path)?;
    for _ in 0..MOST_INTERPRETERS {
        let Some(words) = executable::interpreter(&inside.on_host(&path)?) else { return Some(path) };
        path = inside.real(Path::new(&words[0]))?;
    }
    None
}

/// What is needed to ask a loader.
struct Asking<'a> {
    world: &'a World,
    root: Option<Root>,
    inside: Inside,
    wait: &'a mut dyn FnMut(Duration) -> bool,
}

impl Asking<'_> {
    /// What a loader says of a program with these libraries.
    fn ask(&mut self, loader: &Path, program: &Path, libraries: &[PathBuf]) -> Result<Listing, LabError> {
        let (mut output, mut errors) = (nameless()?, nameless()?);
        let arguments = [loader, program].map(|path| path.display().to_string()).to_vec();
        // The loader is whatever the program names.
        let user = self.inside.on_host(program).and_then(|program| User::asking_about(&program));
        let asked = Program {
            arguments,
            user,
            input: Input::Nothing,
            output: Output::File(path_of(&output)),
            errors: Output::File(path_of(&errors)),
            environment: self.environment(libraries),
            // Our own folder need not be there inside.
            folder: self.world.folder.clone().or_else(|| self.root.is_some().then(|| "/".into())),
            root: self.root.clone(),
            parent_death_signal: ParentDeathSignal::Terminate,
            ..Program::default()
        };
        let mut running = asked.hold()?.release()?;
        let begun = Instant::now();
        while running.poll()?.is_none() {
            if (self.wait)(TICK) {
                return Err(LabError::Interrupted);
            }
            if begun.elapsed() > LONGEST {
                let (loader, program) = (loader.display(), program.display());
                return Err(LabError::World(format!("the loader {loader} timed out listing what {program} needs")));
            }
        }
        let mut text = String::new();
        for file in [&mut output, &mut errors] {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map_err(LabError::io(path_of(file)))?;
            text += &String::from_utf8_lossy(&bytes);
        }
        Ok(Listing::read(&text, program, &self.inside))
    }

    fn environment(&self, libraries: &[PathBuf]) -> Vec<(OsString, Option<OsString>)> {
        let world = self.world.environment.iter().map(|(name, value)| (name.into(), value.as_ref().map(Into::into)));
        let mut all = world.collect::<Vec<(OsString, Option<OsString>)>>();
        let preloaded = all.iter().rev().find(|(name, _)| name == PRELOAD).map(|(_, value)| value.clone());
        let preloaded = preloaded.unwrap_or_else(|| std::env::var_os(PRELOAD)).filter(|value| !value.is_empty());
        let preloaded = preloaded.into_iter().chain(libraries.iter().map(|path| path.clone().into_os_string()));
        let preloaded = preloaded.collect::<Vec<_>>().join(":".as_ref());
        all.extend(ASKING.map(|(name, value)| (name.into(), Some(value.into()))));
        all.push((PRELOAD.into(), (!preloaded.is_empty()).then_some(preloaded)));
        all
    }
}

/// A file without a name, which vanishes with us.
fn nameless() -> Result<File, LabError> {
    tempfile::tempfile().map_err(LabError::io(std::env::temp_dir()))
}

/// A path by which it can be opened a second time.
fn path_of(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

#[cfg(test)]
mod tests;
