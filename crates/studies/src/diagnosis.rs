//! What a case means: its recording, loaded and indexed once, and what that suspects.

use crate::{Activity, Console, StudyError};
use case::{Answer, Case, Recording};
use diagnose::Analysis;

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

/// A recording, indexed, and what it suspects.
pub struct Diagnosis<'r> {
    /// What was recorded.
    pub analysis: Analysis<'r>,
    /// What that suspects. Its page is still to be filled in.
    pub answer: Answer,
}

impl<'r> Diagnosis<'r> {
    /// Reads the recording of a case.
    pub fn of(
        recording: &'r Recording,
        case: &Case,
        reading: diagnose::Options,
        console: &dyn Console,
    ) -> Diagnosis<'r> {
        let _activity = Activity::of(console, LOOKING);
        let folder = std::path::absolute(case.folder()).unwrap_or_else(|_| case.folder().to_path_buf());
        let analysis = Analysis::new(recording);
        let answer = analysis.answer(&folder.display().to_string(), reading);
        Diagnosis { analysis, answer }
    }
}
