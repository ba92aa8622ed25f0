//! What a case means: its recording, loaded once, and what that suspects.

use crate::{Activity, Console, StudyError};
use case::{Answer, Case, Recording};

/// What is being done while a recording is read and diagnosed.
pub const LOOKING: &str = "analysing the recording";

/// A recording and what it suspects.
pub struct Diagnosis {
    /// What was recorded.
    pub recording: Recording,
    /// What that suspects. Its page is still to be filled in.
    pub answer: Answer,
}

impl Diagnosis {
    /// Loads the recording of a case and reads it.
    pub fn of(case: &Case, reading: diagnose::Options, console: &dyn Console) -> Result<Diagnosis, StudyError> {
        let _activity = Activity::of(console, LOOKING);
        let recording = Recording::load(case)?;
        let folder = std::path::absolute(case.folder()).unwrap_or_else(|_| case.folder().to_path_buf());
        let answer = diagnose::diagnose(&recording, &folder.display().to_string(), &reading);
        Ok(Diagnosis { recording, answer })
    }
}
