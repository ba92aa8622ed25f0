//! Where versions are fetched and built, two at a time.

use super::build::{self, Site};
use super::order::Item;
use super::prefix::Prefix;
use super::problem::{Fault, Problem};
use super::process::{self, Stop};
use super::registry::Registry;
use super::release::Release;
use super::source::Source;
use crate::LabError;
use crate::worlds::Store;
use case::VersionState;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Builds at the same time: while one configures, which uses one processor, the other compiles.
const SIDE_BY_SIDE: usize = 2;
/// How often progress is shown, and an interrupt noticed.
const TICK: Duration = Duration::from_millis(200);

/// Waits for at most so long; true where the user wants an end.
pub type Wait<'a> = &'a mut dyn FnMut(Duration) -> bool;

/// A workshop.
#[derive(Debug)]
pub struct Workshop {
    registry: Registry,
    builds: PathBuf,
    place: PathBuf,
    jobs: usize,
}

/// What a version runs on: the library, and what is built beside it.
#[derive(Clone, Debug)]
pub struct Built {
    /// In the order of building.
    pub prefixes: Vec<Prefix>,
    /// Time that building took.
    pub took: Duration,
    /// The last log; empty where all was there.
    pub log: PathBuf,
}

/// What a worker does just now.
struct Doing {
    what: String,
    log: PathBuf,
    since: Instant,
}

impl Workshop {
    /// The user's, with the registry that the environment names.
    ///
    /// # Errors
    /// Where there is no folder to keep things in.
    pub fn open() -> Result<Workshop, LabError> {
        let store = Store::open()?;
        // What is built has its place compiled in: one that does not change with a link.
        let folder = std::fs::canonicalize(store.root()).map_err(LabError::io(store.root()))?;
        let registry = Registry::open(folder.join("crates"));
        Ok(Workshop { place: store.place()?, ..Workshop::at(&folder, registry) })
    }

    /// One in this folder.
    pub fn at(folder: &Path, registry: Registry) -> Workshop {
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        Workshop { registry, builds: folder.join("builds"), place: folder.join("place"), jobs }
    }

    /// Where everything is that was built.
    pub(super) fn builds(&self) -> &Path {
        &self.builds
    }

    /// The versions that there are of a library.
    ///
    /// # Errors
    /// Where the registry cannot be reached and never was, or the user wants an end.
    pub fn releases(&self, source: &Source, wait: Wait) -> Result<Vec<Release>, Fault> {
        let stop = Stop::default();
        attended(&stop, wait, &|| {}, || self.registry.releases(source, &stop))
    }

    /// Makes what each version runs on; each item is built on those before it. What fails does not keep the others.
    ///
    /// # Errors
    /// Where the user wants an end.
    pub fn build(
        &self,
        chains: &[Vec<Item>],
        wait: Wait,
        say: &dyn Fn(&str),
    ) -> Result<Vec<Result<Built, Problem>>, LabError> {
        let stop = Stop::default();
        let workers = SIDE_BY_SIDE.min(chains.len()).max(1);
        let jobs = (self.jobs / workers).max(1);
        let doing = (0..workers).map(|_| Mutex::new(None)).collect::<Vec<Mutex<Option<Doing>>>>();
        let results = chains.iter().map(|_| Mutex::new(None)).collect::<Vec<_>>();
        let next = AtomicUsize::new(0);
        let work = |worker: usize| {
            let report = |what: &str, log: &Path| turn(&doing[worker], what, log);
            while let Some(place) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|place| *place < chains.len()) {
                let site = Site { folder: &self.builds, place: &self.place, jobs, stop: &stop, doing: &report };
                *held(&results[place]) = Some(self.make(&chains[place], &site));
            }
            *held(&doing[worker]) = None;
        };
        let (stop, work) = (&stop, &work);
        attended(stop, wait, &|| say(&in_a_line(&doing)), || {
            std::thread::scope(|scope| (0..workers).for_each(|worker| drop(scope.spawn(move || work(worker)))));
        });
        let outcomes = results.into_iter().map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner));
        let each = outcomes.map(|outcome| match outcome {
            Some(Ok(built)) => Ok(Ok(built)),
            Some(Err(Fault::Failed(problem))) => Ok(Err(problem)),
            Some(Err(Fault::Interrupted)) | None => Err(LabError::Interrupted),
        });
        each.collect()
    }

    fn make(&self, chain: &[Item], site: &Site) -> Result<Built, Fault> {
        let mut built = Built { prefixes: Vec::new(), took: Duration::ZERO, log: PathBuf::new() };
        for item in chain {
            let fetch = || self.registry.fetch(&item.source.package, &item.release, site.stop).map_err(not_fetched);
            let made = build::make(item, &built.prefixes.iter().collect::<Vec<_>>(), site, &fetch)?;
            built.took += made.took;
            built.log = if made.took.is_zero() { built.log } else { made.log };
            built.prefixes.push(made.prefix);
        }
        Ok(built)
    }
}

/// Whatever happens while fetching, it is the fetching that failed.
fn not_fetched(fault: Fault) -> Fault {
    match fault {
        Fault::Failed(problem) => Fault::Failed(Problem { state: VersionState::NotFetched, ..problem }),
        Fault::Interrupted => Fault::Interrupted,
    }
}

/// Does something on a thread of its own, while ours shows progress and notices an interrupt.
fn attended<T: Send>(stop: &Stop, wait: Wait, report: &dyn Fn(), work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let worker = scope.spawn(work);
        while !worker.is_finished() {
            report();
            if wait(TICK) {
                stop.set();
            }
        }
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn turn(doing: &Mutex<Option<Doing>>, what: &str, log: &Path) {
    let mut doing = held(doing);
    // A step of the same version goes on counting.
    let name = |what: &str| what.split(" (").next().unwrap_or_default().to_string();
    let since = doing.as_ref().filter(|before| name(&before.what) == name(what)).map(|before| before.since);
    let since = since.unwrap_or_else(Instant::now);
    *doing = Some(Doing { what: what.to_string(), log: log.to_path_buf(), since });
}

/// All that is being done, in a line.
fn in_a_line(doing: &[Mutex<Option<Doing>>]) -> String {
    let each = doing.iter().filter_map(|one| {
        held(one).as_ref().map(|doing| {
            let last = process::last_lines(&doing.log).pop().unwrap_or_default();
            format!("{}, {:.1} min: {}", doing.what, doing.since.elapsed().as_secs_f64() / 60.0, shortened(&last))
        })
    });
    each.collect::<Vec<_>>().join(" | ")
}

/// The end of a line, which shows which file is being compiled.
fn shortened(line: &str) -> String {
    const MOST: usize = 40;
    let letters = line.chars().count();
    if letters <= MOST {
        line.to_string()
    } else {
        format!("...{}", line.chars().skip(letters - MOST).collect::<String>())
    }
}

fn held<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
