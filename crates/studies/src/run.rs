//! `run`: starts the programs, records them, diagnoses, and proves what that suspects.

use crate::diagnosis::{self, Diagnosis};
use crate::experiment::{Ground, Wish};
use crate::manifest::manifest;
use crate::recording::{self, Take, Taken};
use crate::{Console, Document, Done, Limits, StudyError, proof, views};
use lab::{Kind, Outputs, Subject, Treatment, World};
use std::path::PathBuf;

/// What is to be done.
pub struct Request {
    /// What is run.
    pub subject: Subject,
    /// Where they run.
    pub world: World,
    /// Where their words go in the run that is recorded.
    pub outputs: Outputs,
    /// What is tried afterwards.
    pub proof: Wish,
    /// When to stop recording before the client ends.
    pub limits: Limits,
    /// The case's folder, which is not there yet.
    pub folder: PathBuf,
    /// What to record.
    pub options: record::Options,
    /// How to read it.
    pub reading: diagnose::Options,
}

/// Runs the programs, and says what the recording means and what of that is proved.
///
/// # Errors
/// Where nothing was recorded. What fails later is in [`Done::failed`].
pub fn run(request: &Request, console: &dyn Console) -> Result<Done, StudyError> {
    let Taken { case, ended, .. } = recording::record(take(request), console)?;
    let recording = diagnosis::load_with_names(&case, console)?;
    let Diagnosis { analysis, mut answer } = Diagnosis::of(&recording, case.folder(), request.reading, console);
    case.add(analysis.wait_rows())?;
    let ground = Ground { subject: &request.subject, world: &request.world, wish: &request.proof };
    let proved = proof::prove(&mut answer, &case, &recording, &ground, console);
    if diagnosis::keeps_no_names(&case) {
        let done = Done::without_names(case, request.reading, console)?;
        return Ok(Done { failed: proved.err(), ended, ..done });
    }
    // The trials are newer than the recording.
    let views = views::gathered(console, || Ok(views::of_answer(&answer, &analysis, &case.read()?)));
    let done = Done::of(Document::Answer(Box::new(answer)), case, views);
    Ok(Done { failed: proved.err(), ended, ..done })
}

/// What is recorded: the user's own run, its words passed through.
fn take(request: &Request) -> Take<'_> {
    Take {
        subject: &request.subject,
        world: &request.world,
        treatment: Treatment::default(),
        outputs: request.outputs.clone(),
        doing: "recording",
        kind: Kind::Watched,
        limits: request.limits,
        folder: &request.folder,
        manifest: manifest(&request.subject, &request.world),
        options: &request.options,
    }
}
