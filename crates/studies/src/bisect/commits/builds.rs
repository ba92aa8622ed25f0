//! Builds of commits: which of them need one, as many side by side as there are cores, and what each was built into.

use super::super::baseline::Baseline;
use super::super::question::Asked;
use super::super::runs::Runs;
use crate::Console;
use lab::LabError;
use lab::bisect::Artefact;
use lab::compare::Which;
use lab::worlds::{Commit, Ready, Repository, WorldName};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often it is asked whether the user wants an end while commits are built, in another thread.
const TURN: Duration = Duration::from_millis(50);

/// What commits are built with.
pub struct Builds<'a> {
    asked: &'a Asked,
    console: &'a dyn Console,
    repository: Repository,
    /// The names of files that runs of the good and the bad world open.
    opened: BTreeSet<String>,
    /// How many are built at a time. Nothing is measured meanwhile.
    pub side_by_side: usize,
}

impl<'a> Builds<'a> {
    /// Builds for a question.
    ///
    /// # Errors
    /// Where there is no folder to build in.
    pub fn new(asked: &'a Asked, baseline: &Baseline, console: &'a dyn Console) -> Result<Builds<'a>, LabError> {
        let sides = [Which::A, Which::B].map(|side| baseline.recordings(side));
        let opened =
            sides.iter().flatten().flat_map(|recording| lab::bisect::opened(recording, asked.terms.end)).collect();
        let side_by_side = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Builds { asked, console, repository: asked.terms.repository()?, opened, side_by_side })
    }

    /// The commits without those that change documents only: they count for the one before them, and so the last that is
    /// left is as bad as the bad one.
    ///
    /// # Errors
    /// Where git cannot be started.
    pub fn that_matter(&self, commits: &[Commit]) -> Result<Vec<Commit>, LabError> {
        let idle = self.repository.documents_only(commits)?;
        let rest = commits.iter().filter(|commit| !idle.contains(&commit.hash)).cloned().collect::<Vec<_>>();
        // A difference that documents make is a riddle for the search itself.
        Ok(if rest.is_empty() { commits.to_vec() } else { rest })
    }

    /// What a world was built into.
    ///
    /// # Errors
    /// Where a file of it cannot be read.
    pub fn artefact(&self, ready: &Ready) -> Result<Artefact, LabError> {
        self.repository.artefact(ready, &self.opened)
    }

    /// A commit's world, which was built before.
    ///
    /// # Errors
    /// Where it is not there any more and does not build.
    pub fn ready(&self, commit: &Commit) -> Result<Ready, LabError> {
        self.asked.terms.ready(&world(commit), self.console, &|_| {})
    }

    /// Builds commits side by side: what each was built into, or why it does not build.
    ///
    /// # Errors
    /// [`LabError::Interrupted`] where the user wants an end or time is up.
    pub fn build(&self, commits: &[&Commit], runs: &Runs) -> Result<Vec<Result<Artefact, String>>, LabError> {
        let names = commits.iter().map(|commit| commit.short()).collect::<Vec<_>>().join(" and ");
        runs.say(&format!("building {names}"));
        let is_over = AtomicBool::new(false);
        let (terms, repository, opened) = (&self.asked.terms, &self.repository, &self.opened);
        let one = |commit: &Commit| {
            let mut wait = |_: Duration| is_over.load(Ordering::Relaxed);
            let ready = terms.ready_while(&world(commit), &|_| {}, &mut wait)?;
            repository.artefact(&ready, opened)
        };
        let built = std::thread::scope(|scope| {
            let builds = commits.iter().map(|commit| scope.spawn(|| one(commit))).collect::<Vec<_>>();
            while builds.iter().any(|build| !build.is_finished()) {
                if self.console.next(TURN).is_some() || runs.left() == Duration::ZERO {
                    is_over.store(true, Ordering::Relaxed);
                }
            }
            let joined =
                builds.into_iter().map(|build| build.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            joined.collect::<Vec<_>>()
        });
        let told = built.into_iter().map(|built| match built {
            Err(LabError::Interrupted) => Err(LabError::Interrupted),
            Err(error) => Ok(Err(error.to_string())),
            Ok(artefact) => Ok(Ok(artefact)),
        });
        told.collect()
    }
}

fn world(commit: &Commit) -> WorldName {
    WorldName::Git(commit.hash.clone())
}
