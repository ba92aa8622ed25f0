//! Building one version, into a prefix that is there whole or not at all.

use super::builder::Builder;
use super::download::beside;
use super::order::Item;
use super::prefix::Prefix;
use super::problem::Fault;
use super::process::{self, Stop};
use super::recipe;
use record::{Input, Program};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often it is seen whether somebody else has built the same.
const TICK: Duration = Duration::from_millis(200);
/// Whatever else runs on the machine goes first.
const NICENESS: &str = "10";

/// Where and how things are built.
pub struct Site<'a> {
    /// The folder of all prefixes.
    pub folder: &'a Path,
    /// An empty folder, in which the trees that builds see are put together.
    pub place: &'a Path,
    /// Processors to use.
    pub jobs: usize,
    /// Set when the user wants an end.
    pub stop: &'a Stop,
    /// Called with what is being done, and the log that it writes.
    pub doing: &'a dyn Fn(&str, &Path),
}

/// What was built, or was there.
#[derive(Clone, Debug)]
pub struct Made {
    /// It.
    pub prefix: Prefix,
    /// How long it took; zero where it was there.
    pub took: Duration,
    /// The build's log; empty where it was there.
    pub log: PathBuf,
}

/// Builds an item on others, unless that was done before. `fetch` gets the package's file.
///
/// The prefix is compiled in, so what is built is installed below a stage, looked at there, and moved to where it belongs
/// in one step.
///
/// # Errors
/// Where it cannot be fetched or built, or the user wants an end.
pub fn make(
    item: &Item,
    on: &[&Prefix],
    site: &Site,
    fetch: &dyn Fn() -> Result<PathBuf, Fault>,
) -> Result<Made, Fault> {
    let begun = Instant::now();
    let (name, version) = (&item.source.name, &item.release.upstream);
    let on = on.iter().copied().filter(|prefix| item.source.on.contains(&prefix.name)).collect::<Vec<_>>();
    let key = recipe::key(&item.source, &item.release, &on);
    let folder = site.folder.join(format!("{name}-{version}-{key}"));
    let inspect = |root: &Path| Prefix::inspect(&item.source, version, &key, root, &folder);
    let there = |prefix| Made { prefix, took: Duration::ZERO, log: PathBuf::new() };
    if let Ok(prefix) = inspect(Path::new("/")) {
        return Ok(there(prefix));
    }
    std::fs::create_dir_all(site.folder).map_err(Fault::io(site.folder))?;
    // Held until the end: whoever wants the same at the same time waits for us and finds it made.
    let _lock = lock(&beside(&folder, "lock"), site)?;
    if let Ok(prefix) = inspect(Path::new("/")) {
        return Ok(there(prefix));
    }
    let (part, log) = (beside(&folder, "part"), beside(&folder, "log"));
    remove(&part)?;
    // A log of an earlier try is none of this one.
    let _ = std::fs::remove_file(&log);
    (site.doing)(&format!("fetching {name} {version}"), &log);
    let package = fetch()?;
    let builder = Builder::of(&part);
    let yard = Yard { item, on: &on, site, part: &part, prefix: &folder, log: &log, builder };
    let built = yard.build(&package).and_then(|stage| inspect(&stage).map_err(Fault::building).map(|_| stage));
    let moved = built.and_then(|stage| {
        remove(&folder)?;
        let below = stage.join(folder.strip_prefix("/").unwrap_or(&folder));
        std::fs::rename(&below, &folder).map_err(Fault::io(&below))
    });
    // What is left of the building is of no use any more.
    let _ = std::fs::remove_dir_all(&part);
    moved.map_err(|fault| with_log(fault, &log))?;
    let prefix = inspect(Path::new("/")).map_err(Fault::building)?;
    Ok(Made { prefix, took: begun.elapsed(), log })
}

/// Where one item is built.
struct Yard<'a> {
    item: &'a Item,
    on: &'a [&'a Prefix],
    site: &'a Site<'a>,
    part: &'a Path,
    prefix: &'a Path,
    log: &'a Path,
    builder: Builder,
}

impl Yard<'_> {
    /// Unpacks, builds and installs: the stage.
    fn build(&self, package: &Path) -> Result<PathBuf, Fault> {
        let [unpacked, folder, stage, temporary] = ["source", "build", "stage", "tmp"].map(|name| self.part.join(name));
        for folder in [&unpacked, &folder, &stage, &temporary] {
            std::fs::create_dir_all(folder).map_err(Fault::io(folder))?;
            self.builder.give(folder).map_err(Fault::io(folder))?;
        }
        let to = unpacked.display().to_string();
        let tar = ["tar", "-xz", "-C", &to, "--strip-components=1", "--no-same-owner"];
        self.run("unpack", &tar, &folder, Input::File(package.to_path_buf()))?;
        let source = unpacked.join(&self.item.source.folder);
        if !source.is_dir() {
            let why = format!("the package {} has no folder {}", package.display(), self.item.source.folder);
            return Err(Fault::building(why));
        }
        let version = &self.item.release.upstream;
        let steps = self.item.source.steps.iter().filter(|step| recipe::applies(step, version, &source));
        let values = self.values(&source, &stage);
        for step in steps {
            let lines = recipe::filled(step, &values).map_err(Fault::building)?;
            self.run(&step.name, &["nice", "-n", NICENESS, "sh", "-eu", "-c", &lines], &folder, Input::Nothing)?;
        }
        // What programs will load is for nobody to change.
        self.builder.take_back(&stage).map_err(Fault::io(&stage))?;
        Ok(stage)
    }

    fn run(&self, step: &str, words: &[&str], folder: &Path, input: Input) -> Result<(), Fault> {
        let (name, version) = (&self.item.source.name, &self.item.release.upstream);
        (self.site.doing)(&format!("building {name} {version} ({step})"), self.log);
        let arguments = words.iter().map(ToString::to_string).collect();
        let program = Program { arguments, folder: Some(folder.to_path_buf()), input, ..Program::default() };
        let program = self.builder.confined(program, self.part, self.site.place);
        let status = process::run(program, self.log, self.site.stop)?;
        if status.success() {
            return Ok(());
        }
        Err(Fault::building(format!("the step `{step}` of {name} {version} ended with {status}")))
    }

    fn values(&self, source: &Path, stage: &Path) -> Vec<(String, String)> {
        let version = &self.item.release.upstream;
        let major = version.split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or_default();
        let plain = [
            ("source", source.display().to_string()),
            ("prefix", self.prefix.display().to_string()),
            ("stage", stage.display().to_string()),
            ("jobs", self.site.jobs.to_string()),
            ("version", version.clone()),
            ("major", major.to_string()),
            ("machine", std::env::consts::ARCH.to_string()),
        ];
        let on = self.on.iter().map(|prefix| (format!("on.{}", prefix.name), prefix.folder.display().to_string()));
        plain.into_iter().map(|(name, value)| (name.to_string(), value)).chain(on).collect()
    }
}

/// Waits for a lock. It is let go when the file is closed, however that comes.
fn lock(path: &Path, site: &Site) -> Result<File, Fault> {
    let file = File::options().create(true).append(true).open(path).map_err(Fault::io(path))?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if site.stop.is_set() => return Err(Fault::Interrupted),
            Err(TryLockError::WouldBlock) => {
                (site.doing)("waiting for another whyslow that is building the same", path);
                std::thread::sleep(TICK);
            }
            Err(TryLockError::Error(error)) => return Err(Fault::io(path)(error)),
        }
    }
}

fn remove(folder: &Path) -> Result<(), Fault> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Fault::io(folder)(error)),
        _ => Ok(()),
    }
}

fn with_log(fault: Fault, log: &Path) -> Fault {
    match fault {
        Fault::Failed(mut problem) if log.is_file() => {
            (problem.last_lines, problem.log) = (process::last_lines(log), log.to_path_buf());
            Fault::Failed(problem)
        }
        other => other,
    }
}
