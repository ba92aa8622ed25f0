//! A version on its way into the matrix: built, tried, recorded.

use super::plan::Plan;
use super::program;
use crate::recording::Quiet;
use case::{Recording, Version, VersionState};
use lab::matrix::{Built, Prefix, Problem, linkage};
use lab::{End, Outcome, Subject, World};
use std::path::{Path, PathBuf};

/// A version, and what runs on it.
pub struct Candidate {
    /// What the document says of it.
    pub version: Version,
    /// The programs, the one under study on this version.
    pub subject: Subject,
    /// Where they run.
    pub world: World,
    /// How the client ends on it; -1 where it runs on.
    pub exit: i32,
    /// Its recorded runs.
    pub recorded: Vec<Quiet>,
    /// What was built for it.
    prefixes: Vec<Prefix>,
    /// The program that is to load it.
    program: PathBuf,
    has_failed: bool,
}

/// All versions, as far as building has got them.
pub fn candidates(
    plan: &Plan,
    built: Vec<Result<Built, Problem>>,
    subject: &Subject,
    world: &World,
    end: End,
) -> Vec<Candidate> {
    let command = match end {
        End::Client => subject.client.first(),
        End::Server => subject.server.as_ref().and_then(|command| command.first()),
    };
    let program = command.and_then(|name| record::executable::find(name, Path::new(""))).unwrap_or_default();
    let each = plan.versions.iter().zip(built).map(|(version, built)| {
        let version = Version { version: version.clone(), ..Version::default() };
        let (subject, world, program) = (subject.clone(), world.clone(), program.clone());
        let (exit, recorded, prefixes) = (0, Vec::new(), Vec::new());
        let mut candidate = Candidate { version, subject, world, exit, recorded, prefixes, program, has_failed: false };
        match built {
            Ok(built) => candidate.set(&plan.library, built, end),
            Err(problem) => candidate.fail(problem),
        }
        candidate
    });
    each.collect()
}

impl Candidate {
    /// Whether nothing has failed so far.
    pub fn is_ready(&self) -> bool {
        !self.has_failed
    }

    /// Leaves it out, and says why.
    pub fn refuse(&mut self, state: VersionState, why: &str) {
        self.has_failed = true;
        self.version.state = state;
        self.version.problem = why.to_string();
    }

    fn fail(&mut self, problem: Problem) {
        self.refuse(problem.state, &problem.why);
        self.version.last_lines = problem.last_lines;
        self.version.log = shown(&problem.log);
    }

    /// Sets the programs upon what was built.
    fn set(&mut self, library: &str, built: Built, end: End) {
        self.version.built_ns = built.took.as_nanos() as u64;
        self.version.log = shown(&built.log);
        if let Some(own) = built.prefixes.iter().find(|prefix| prefix.name == library) {
            (self.version.prefix, self.version.sonames) = (shown(&own.folder), own.sonames());
        }
        let before = program::library_path(&self.world);
        let folders = linkage::library_path(&built.prefixes, before.map(Into::into));
        (self.subject, self.world) = program::on(&self.subject, &self.world, end, &folders);
        self.prefixes = built.prefixes;
        // Without a file to ask there is nothing to foresee; that it is missing is said when it is started.
        if let Err(why) = linkage::foresee(&self.program, &self.prefixes, &folders) {
            self.refuse(VersionState::NotLoaded, &why);
        }
    }

    /// Judges the run that shows whether it runs on this version. `usual` is how it ended on the first one that it runs on.
    /// What is worth a warning.
    pub fn judge(&mut self, outcome: &Outcome, usual: Option<&(String, i32)>) -> Vec<String> {
        self.exit = outcome.row.exit;
        let name = self.version.version.clone();
        match linkage::verify(&self.program, &self.prefixes, &outcome.mapped) {
            Ok(ours) => self.version.mapped = ours.iter().map(|path| shown(path)).collect(),
            Err(why) if outcome.row.exit > 0 => {
                let said = if outcome.errors.is_empty() { why } else { outcome.errors.clone() };
                self.refuse(
                    VersionState::NotLoaded,
                    &format!("the program exits with status {}: {said}", outcome.row.exit),
                );
            }
            Err(why) => self.refuse(VersionState::NotLoaded, &why),
        }
        if let Some((other, status)) = usual.filter(|(_, status)| *status != self.exit && self.is_ready()) {
            let (exit, said) = (self.exit, &outcome.errors);
            let why = format!("the program exits with status {exit}, but with {status} on {other}: {said}");
            self.refuse(VersionState::NotLoaded, &why);
        }
        let besides = linkage::besides(&self.prefixes, &outcome.mapped);
        let named = besides.iter().map(|path| shown(path)).collect::<Vec<_>>().join(", ");
        if named.is_empty() || !self.is_ready() {
            return Vec::new();
        }
        vec![format!(
            "With {name} the program also loads another copy: {named}. Time spent in that one is not {name}'s."
        )]
    }

    /// All its recordings.
    pub fn recordings(&self) -> Vec<Recording> {
        self.recorded.iter().map(|quiet| quiet.recording.clone()).collect()
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
