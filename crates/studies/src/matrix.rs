//! `whyslow matrix --library NAME=VERSION,... -- CMD`: which version of a library is slow, where, and which one to take.

mod candidate;
mod libraries;
mod plan;
mod program;
mod tries;

use crate::manifest::manifest;
use crate::recording::{self, Quiet};
use crate::unfinished::remove_empty;
use crate::{Activity, Console, Document, Done, StudyError, views};
use candidate::{Candidate, candidates};
use case::{CaseWriter, Contrast, Matrix, Version, VersionState, redact_arguments};
use lab::compare::{excess_of, extent_of};
use lab::matrix::{self, Measured, Terms, Workshop, advice, figures, ratios};
use lab::{End, Extent, Journal, Laboratory, Metric, Subject, Treatment, World};
use plan::Plan;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tries::Field;

pub use libraries::{Libraries, Named, tried};

/// A profile of this many samples shows functions of a few percent; shorter programs are recorded again for it.
const WANTED_SAMPLES: usize = 1_000;
/// Recordings of a version at most, and the time for those after the first.
const MOST_RECORDINGS: usize = 16;
const RECORDING_TIME: Duration = Duration::from_secs(10);
/// A run is recorded for so long at most, ...
const LONGEST: Duration = Duration::from_secs(20);
/// ... or for this part of the budget: longer ones do not fit into it four times on all versions.
const LONGEST_PART: u32 = 8;

/// What is to be measured.
pub struct Request {
    /// What is built.
    pub libraries: Libraries,
    /// What is run.
    pub subject: Subject,
    /// Where.
    pub world: World,
    /// The end that sees the versions.
    pub end: End,
    /// What is compared; empty for what is usual.
    pub metrics: Vec<Metric>,
    /// What is tried on each version besides, by names of interventions.
    pub tries: Vec<String>,
    /// Time for trials.
    pub budget: Duration,
    /// The case's folder, which is not there yet.
    pub folder: PathBuf,
}

/// Builds and measures. Of the summary only what to take is there.
///
/// # Errors
/// Where a version is not to be had, the program cannot be measured, or the case cannot be written.
pub fn matrix(request: &Request, console: &dyn Console) -> Result<Done, StudyError> {
    let workshop = Workshop::open()?;
    let plan = &plan::plan(request, &workshop, console)?;
    Measuring { request, plan, console }.all(&workshop).inspect_err(|_| remove_empty(&request.folder))
}

/// A matrix under way.
struct Measuring<'a> {
    request: &'a Request,
    plan: &'a Plan,
    console: &'a dyn Console,
}

impl Measuring<'_> {
    fn all(&self, workshop: &Workshop) -> Result<Done, StudyError> {
        let begun = Instant::now();
        let mut candidates = self.build(workshop)?;
        let preparing = begun.elapsed();
        let mut writer =
            CaseWriter::create(&self.request.folder, manifest(&self.request.subject, &self.request.world))?;
        let mut warnings = self.try_each(&mut candidates)?;
        let is_ready = |candidate: &&mut Candidate| candidate.is_ready();
        for candidate in candidates.iter_mut().filter(is_ready) {
            candidate.recorded.push(self.record(candidate, 1)?);
        }
        let ready = candidates.iter().filter(|candidate| candidate.is_ready()).collect::<Vec<_>>();
        let metrics = self.metrics_of(&ready);
        let field = Field::of(&ready, &self.request.tries);
        let measured = self.measure(&ready, &field, &metrics, writer.manifest().started_unix_seconds)?;
        if let Some(first) = ready.first().and_then(|first| first.recorded.first()) {
            writer.manifest().host = first.recording.manifest.host.clone();
        }
        if let Some((first, last)) = measured.trials.first().zip(measured.trials.last()) {
            (writer.manifest().start, writer.manifest().end) = (first.start, last.start + last.wall);
        }
        writer.append(measured.trials.clone())?;
        if measured.ended_early() {
            warnings.push("Interrupted by Ctrl-C or a signal; these are the results of the trials so far.".to_string());
        }
        enter(&mut candidates, &field, &metrics, &measured);
        self.explain(&mut candidates)?;
        let case = writer.close()?;
        let versions = candidates.into_iter().map(|candidate| candidate.version).collect();
        let mut matrix = self.document(versions, &metrics, warnings);
        matrix.rounds = measured.rounds;
        matrix.preparing_ns = preparing.as_nanos() as u64;
        matrix.spent_ns = begun.elapsed().saturating_sub(preparing).as_nanos() as u64;
        let document = Document::Matrix(Box::new(matrix));
        let views = views::gathered(self.console, || views::of(&document, &case));
        Ok(Done::of(document, case, views))
    }

    fn build(&self, workshop: &Workshop) -> Result<Vec<Candidate>, StudyError> {
        let activity = Activity::of(self.console, "fetching and building");
        let mut wait = |longest: Duration| self.console.next(longest).is_some();
        let built = workshop.build(&self.plan.chains, &mut wait, &|line| activity.say(line))?;
        drop(activity);
        Ok(candidates(self.plan, built, &self.request.subject, &self.request.world, self.request.end))
    }

    /// Runs each once, to see whether it runs on what was built for it. That run warms up, too, and is not measured.
    fn try_each(&self, candidates: &mut [Candidate]) -> Result<Vec<String>, StudyError> {
        let activity = Activity::of(self.console, "checking that the program runs on each version");
        let journal = Journal::open()?;
        let mut wait = |longest: Duration| self.console.next(longest).is_some();
        let mut laboratory = Laboratory::open(&journal, None, &mut wait)?;
        laboratory.keeps_mapped = Some(self.request.end);
        let extent = Extent::whole(self.longest());
        let mut usual: Option<(String, i32)> = None;
        let mut warnings = Vec::new();
        for candidate in candidates.iter_mut().filter(|candidate| candidate.is_ready()) {
            activity.say(&format!("checking that the program runs on {}", candidate.version.version));
            match laboratory.run(&candidate.subject, &candidate.world, &Treatment::default(), &extent) {
                Ok(outcome) => {
                    warnings.extend(candidate.judge(&outcome, usual.as_ref()));
                    if candidate.is_ready() {
                        usual.get_or_insert((candidate.version.version.clone(), candidate.exit));
                    }
                }
                Err(lab::LabError::Interrupted) => return Err(lab::LabError::Interrupted.into()),
                Err(error) => candidate.refuse(VersionState::NotLoaded, &error.to_string()),
            }
        }
        if let Some((_, status)) = usual.filter(|(_, status)| *status > 0) {
            warnings.push(format!("The program exits with status {status}: this may measure how fast it fails."));
        }
        Ok(warnings)
    }

    fn longest(&self) -> Duration {
        LONGEST.max(self.request.budget / LONGEST_PART)
    }

    fn record(&self, candidate: &Candidate, number: usize) -> Result<Quiet, StudyError> {
        let version = &candidate.version.version;
        let name = if number == 1 { version.clone() } else { format!("{version}-{number}") };
        recording::record_quietly(
            &format!("recording {name}"),
            &candidate.subject,
            &candidate.world,
            &Treatment::default(),
            &self.request.folder.join(name),
            self.longest(),
            self.console,
        )
    }

    /// What is compared: what was asked for, else CPU time and elapsed time of an exchange, or of a run.
    fn metrics_of(&self, ready: &[&Candidate]) -> Vec<Metric> {
        if !self.request.metrics.is_empty() {
            return self.request.metrics.clone();
        }
        let exchanges = ready.iter().flat_map(|one| &one.recorded).map(|quiet| quiet.answer.exchanges);
        match exchanges.min().unwrap_or_default() {
            0 | 1 => vec![Metric::Cpu, Metric::Wall],
            _ => vec![Metric::CpuPerExchange, Metric::ElapsedPerExchange],
        }
    }

    fn measure(
        &self,
        ready: &[&Candidate],
        field: &Field,
        metrics: &[Metric],
        seed: u64,
    ) -> Result<Measured, StudyError> {
        if ready.len() < 2 {
            return Ok(Measured::default());
        }
        let answers = ready.iter().flat_map(|one| &one.recorded).map(|quiet| &quiet.answer).collect::<Vec<_>>();
        // A round takes as much again for each intervention.
        let answers = answers.repeat(1 + self.request.tries.len());
        let whole = metrics.iter().find(|metric| metric.needs_whole_run());
        let extent = extent_of(&answers, whole, self.request.budget);
        if extent.window.is_none() && answers.iter().any(|answer| answer.subject_exit.is_none()) {
            return Err(StudyError::Endless {
                side: None,
                recorded: self.longest(),
                case: self.request.folder.clone(),
            });
        }
        if let Some(least) = excess_of(&answers, &extent, self.request.budget) {
            return Err(StudyError::OverBudget {
                least,
                budget: self.request.budget,
                case: self.request.folder.clone(),
            });
        }
        let most = self.request.budget.as_secs_f64();
        self.console.note(&format!("running all versions alternately, for up to {most:.0} s"));
        let activity = Activity::of(self.console, "measuring");
        let exits = ready.iter().map(|one| one.exit).collect::<Vec<_>>();
        let say = |line: &str| activity.say(line);
        let (arms, design, budget) = (field.arms.as_slice(), field.design, self.request.budget);
        let absent = &field.absent();
        let terms = Terms { arms, design, absent, exits: &exits, metrics, extent, budget, seed, say: &say };
        let journal = Journal::open()?;
        let mut wait = |longest: Duration| self.console.next(longest).is_some();
        let mut laboratory = Laboratory::open(&journal, None, &mut wait)?;
        let mut execute = |place: usize, extent: &Extent| {
            let (version, _) = design.of(place);
            laboratory.run(&ready[version].subject, &ready[version].world, &arms[place].treatment, extent)
        };
        Ok(matrix::measure(&terms, &mut execute)?)
    }

    /// Finds out where the CPU time differs, for each version that differs from the first.
    fn explain(&self, candidates: &mut [Candidate]) -> Result<(), StudyError> {
        let mut ready = candidates.iter_mut().filter(|candidate| candidate.is_ready());
        let Some(first) = ready.next() else { return Ok(()) };
        for candidate in ready.filter(|candidate| differs(&candidate.version)) {
            if self.console.has_come() {
                break;
            }
            self.record_more(first)?;
            self.record_more(candidate)?;
            let _activity = Activity::of(self.console, "looking for the source of the difference");
            let (mut before, after) = (first.recordings(), candidate.recordings());
            views::name_alike((&mut before, &first.version), (&after, &candidate.version));
            let why = diagnose::contrast(&before, &after);
            let version = &mut candidate.version;
            (version.libraries, version.functions) = (why.libraries, why.functions);
            (version.chain, version.hot_spots) = (why.chain, why.hot_spots);
        }
        Ok(())
    }

    /// Records a version again until there are enough samples or time is up.
    fn record_more(&self, candidate: &mut Candidate) -> Result<(), StudyError> {
        let begun = Instant::now();
        for number in candidate.recorded.len() + 1..=MOST_RECORDINGS {
            let samples = candidate.recorded.iter().map(|one| one.recording.samples.len()).sum::<usize>();
            if samples >= WANTED_SAMPLES || begun.elapsed() > RECORDING_TIME {
                break;
            }
            let quiet = self.record(candidate, number)?;
            candidate.recorded.push(quiet);
        }
        Ok(())
    }

    fn document(&self, versions: Vec<Version>, metrics: &[Metric], warnings: Vec<String>) -> Matrix {
        let mut matrix = Matrix {
            schema: case::SCHEMA,
            case: self.request.folder.display().to_string(),
            command: redact_arguments(&self.request.subject.client),
            server: redact_arguments(self.request.subject.server.as_deref().unwrap_or_default()),
            library: self.plan.library.clone(),
            with: self.plan.with.clone(),
            metrics: metrics.to_vec(),
            versions,
            warnings,
            ..Matrix::default()
        };
        let advice = advice::advice(&matrix);
        matrix.advice = advice.version;
        matrix.summary = advice.sentence;
        matrix
    }
}

/// Enters what the trials say into each version that was measured.
fn enter(candidates: &mut [Candidate], field: &Field, metrics: &[Metric], measured: &Measured) {
    let ready = candidates.iter_mut().filter(|candidate| candidate.is_ready());
    let contrasts = field.design.contrasts().len();
    for (place, candidate) in ready.enumerate().filter(|_| !measured.runs.is_empty()) {
        let version = &mut candidate.version;
        version.figures = figures(&measured.runs, metrics, field.design.plain(place));
        let against = field.design.against_first(place);
        version.ratios = against.map(|one| ratios(&measured.runs, metrics, one, contrasts)).unwrap_or_default();
        version.tried = field.tried(measured, metrics, place);
    }
}

/// Whether a version differs from the first in any metric.
fn differs(version: &Version) -> bool {
    version.ratios.iter().any(|one| matches!(one.outcome, Contrast::More | Contrast::Less))
}
