//! `trial`: one trial from a file, and the case it leaves.

use crate::manifest::manifest;
use crate::{Activity, Console, StudyError};
use case::tables::Trial;
use case::{Answer, Case, CaseWriter, Manifest, Recording};
use diagnose::Analysis;
use lab::{Journal, LabError, Laboratory, Subject, TrialSpec};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is to be run.
pub struct Request {
    /// The file that describes the trial.
    pub file: PathBuf,
    /// What stands in it.
    pub spec: TrialSpec,
    /// The programs, their placeholders filled in.
    pub subject: Subject,
    /// The case's folder, which is not there yet.
    pub folder: PathBuf,
}

/// Reads the file of a trial.
///
/// # Errors
/// Where it cannot be read, or describes none.
pub fn read(file: &Path) -> Result<TrialSpec, StudyError> {
    let text = std::fs::read_to_string(file).map_err(|error| LabError::World(error.to_string()));
    text.and_then(|text| TrialSpec::read(&text)).map_err(|why| StudyError::Spec { file: file.to_path_buf(), why })
}

/// Runs the trial and keeps it: its row.
///
/// # Errors
/// Where the file asks for what there is not, the programs cannot be started, or the case cannot be written.
pub fn trial(request: &Request, console: &dyn Console) -> Result<Trial, StudyError> {
    let (spec, folder) = (&request.spec, &request.folder);
    let row = run(request, console)?;
    let server = (!spec.server.is_empty()).then(|| spec.server.clone());
    let typed = Subject { client: spec.command.clone(), server, ..Subject::default() };
    let head = Manifest { start: row.start, end: row.start + row.wall, ..manifest(&typed, &spec.world) };
    let mut writer = CaseWriter::create(folder, head)?;
    writer.append([row.clone()])?;
    writer.close()?.keep("spec.json", &spec.clone().redacted())?;
    Ok(row)
}

fn run(request: &Request, console: &dyn Console) -> Result<Trial, StudyError> {
    let spec = &request.spec;
    let seen = spec.case.as_deref().map(seen).transpose()?;
    let findings = seen.as_ref().map_or(&[][..], |(_, answer)| &answer.findings);
    let arm = spec.arm(seen.as_ref().map(|(recording, _)| recording), findings);
    let arm = arm.map_err(|why| StudyError::Spec { file: request.file.clone(), why })?;
    let _activity = Activity::of(console, &format!("trial of {}", arm.name));
    let journal = Journal::open()?;
    let mut wait = |longest: Duration| console.next(longest).is_some();
    let mut laboratory = Laboratory::open(&journal, spec.metric.as_ref(), &mut wait)?;
    let outcome = laboratory.run(&request.subject, &spec.world, &arm.treatment, &spec.extent())?;
    Ok(outcome.of_arm(&arm, 0, 0).row)
}

/// A case whose recording the interventions may look at, and what it means.
fn seen(folder: &Path) -> Result<(Recording, Answer), StudyError> {
    let case = Case::open(folder)?;
    let recording = Recording::load(&case)?;
    let answer = Analysis::new(&recording).answer(&folder.display().to_string(), diagnose::Options { all: true });
    Ok((recording, answer))
}
