//! `report`: what a case means, read again here or on another machine, what was tried included.

use crate::recording::LOOKING;
use crate::{Activity, Console, Document, StudyError, attach, proof};
use case::{Answer, Case, Recording};
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
    let _activity = Activity::of(console, LOOKING);
    let recording = Recording::load(case)?;
    let mut answer = draw(&recording, case, reading);
    proof::judge_again(&mut answer, case, &recording.trials)?;
    if let Some(kept) = case.kept::<attach::Kept>(attach::FILE)? {
        attach::enter(&mut answer, kept);
    }
    Ok(answer)
}

/// What a recording suspects.
pub(crate) fn draw(recording: &Recording, case: &Case, reading: diagnose::Options) -> Answer {
    let folder = std::path::absolute(case.folder()).unwrap_or_else(|_| case.folder().to_path_buf());
    diagnose::diagnose(recording, &folder.display().to_string(), &reading)
}

/// The last names of the recorded cases inside the case of a document; none for a run, which is recorded itself.
pub fn recorded_inside(document: &Document, case: &Case) -> Vec<String> {
    let last = |path: &String| Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
    let names: Vec<String> = match document {
        Document::Answer(_) => Vec::new(),
        Document::Comparison(one) => one.a.cases.iter().chain(&one.b.cases).filter_map(last).collect(),
        Document::Sweep(one) => one.regimes.iter().filter_map(|regime| last(&regime.case)).collect(),
        Document::Bisection(_) => ["good-1", "bad-1"].map(String::from).to_vec(),
        Document::Matrix(one) => one.versions.iter().filter_map(|version| last(&version.version)).collect(),
    };
    names.into_iter().filter(|name| case.folder().join(name).is_dir()).collect()
}
