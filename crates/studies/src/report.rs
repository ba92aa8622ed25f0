//! `report`: what a case means, read again here or on another machine, what was tried included.

use crate::diagnosis::{self, Diagnosis};
use crate::switched::Switched;
use crate::{Console, Document, StudyError, proof};
use case::{Answer, Case};
use std::path::Path;

/// Reads what a case holds: the document that it keeps, else what its recording means.
///
/// # Errors
/// Where the case is damaged.
pub fn read(case: &Case, reading: diagnose::Options, console: &dyn Console) -> Result<Document, StudyError> {
    match Document::kept(case)? {
        Some(document) => Ok(document),
        None => Ok(Document::Answer(Box::new(answer(case, reading, console)?))),
    }
}

/// Works out what a recording means, what was tried included. Its page is still to be filled in.
fn answer(case: &Case, reading: diagnose::Options, console: &dyn Console) -> Result<Answer, StudyError> {
    let recording = diagnosis::load(case, console)?;
    let Diagnosis { mut answer, .. } = Diagnosis::of(&recording, case.folder(), reading, console);
    proof::judge_again(&mut answer, case, &recording.trials)?;
    if let Some(switched) = Switched::kept(case)? {
        switched.enter(&mut answer);
    }
    Ok(answer)
}

/// The last names of the recorded cases inside a case; none for that of a run, which is recorded itself.
///
/// # Errors
/// Where what the case keeps is damaged, or nothing was recorded inside.
pub fn recorded_inside(case: &Case) -> Result<Vec<String>, StudyError> {
    let Some(document) = Document::kept(case)? else { return Ok(Vec::new()) };
    let last = |path: &String| Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
    let mut names: Vec<String> = match document {
        Document::Answer(_) => Vec::new(),
        Document::Comparison(one) => one.a.cases.iter().chain(&one.b.cases).filter_map(last).collect(),
        Document::Sweep(one) => one.regimes.iter().filter_map(|regime| last(&regime.case)).collect(),
        Document::Bisection(_) => ["good-1", "bad-1"].map(String::from).to_vec(),
        Document::Matrix(one) => one.versions.iter().filter_map(|version| last(&version.version)).collect(),
    };
    names.retain(|name| case.folder().join(name).is_dir());
    if names.is_empty() { Err(StudyError::NothingRecorded(case.folder().to_path_buf())) } else { Ok(names) }
}
