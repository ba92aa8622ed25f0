//! What a case means: its recording, loaded and indexed once, and what that suspects.

use crate::{Activity, Console, StudyError};
use case::{Answer, Case, Names, Pseudonyms, Recording};
use diagnose::Analysis;
use std::path::Path;

/// What is being done while a recording is read and diagnosed.
pub const LOOKING: &str = "analysing the recording";

/// The recording of a case.
///
/// # Errors
/// Where it cannot be read.
pub fn load(case: &Case, console: &dyn Console) -> Result<Recording, StudyError> {
    let _activity = Activity::of(console, LOOKING);
    Ok(Recording::load(case)?)
}

/// The recording of a case that this process has made, with names where the case has pseudonyms: what is tried on the programs
/// needs them.
///
/// # Errors
/// Where it cannot be read.
pub fn load_with_names(case: &Case, console: &dyn Console) -> Result<Recording, StudyError> {
    let mut recording = load(case, console)?;
    if let Some(pseudonyms) = Pseudonyms::of_this_process().filter(|_| keeps_no_names(case)) {
        recording.reveal(pseudonyms);
    }
    Ok(recording)
}

/// Whether pseudonyms stand for names in a case.
pub fn keeps_no_names(case: &Case) -> bool {
    case.manifest().names == Names::Pseudonyms
}

/// A recording, indexed, and what it suspects.
pub struct Diagnosis<'r> {
    /// What was recorded.
    pub analysis: Analysis<'r>,
    /// What that suspects. Its page is still to be filled in.
    pub answer: Answer,
}

impl<'r> Diagnosis<'r> {
    /// Reads the recording of the case in a folder.
    pub fn of(
        recording: &'r Recording,
        folder: &Path,
        reading: diagnose::Options,
        console: &dyn Console,
    ) -> Diagnosis<'r> {
        let _activity = Activity::of(console, LOOKING);
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
        let analysis = Analysis::new(recording);
        let answer = analysis.answer(&folder.display().to_string(), reading);
        Diagnosis { analysis, answer }
    }
}
