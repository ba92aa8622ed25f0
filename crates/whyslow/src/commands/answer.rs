//! From a case to an answer on standard output: what `run` ends with and `report` repeats.

use crate::arguments::AnswerArguments;
use crate::fail::Failure;
use crate::output;
use case::{Answer, Case, Recording};
use lab::Experiment;
use report::Outcome;

/// Reads a case and works out what it means, what was tried included.
pub fn read(case: &Case, typed: AnswerArguments) -> Result<Answer, Failure> {
    let recording = Recording::load(case)?;
    let mut answer = draw(&recording, case, typed);
    if let Some(experiment) = case.kept::<Experiment>(lab::EXPERIMENT_FILE)? {
        lab::judge(&mut answer, &experiment, &recording.trials);
    }
    Ok(answer)
}

/// What a recording suspects.
pub fn draw(recording: &Recording, case: &Case, typed: AnswerArguments) -> Answer {
    let folder = std::path::absolute(case.folder()).unwrap_or_else(|_| case.folder().to_path_buf());
    diagnose::diagnose(recording, &folder.display().to_string(), &diagnose::Options { all: typed.all })
}

/// Prints an answer, and says how it comes out.
pub fn show(answer: &Answer, typed: AnswerArguments) -> Result<u8, Failure> {
    if typed.json {
        let text = serde_json::to_string_pretty(answer).map_err(|error| Failure::internal(&error.to_string()))?;
        output::print(&(text + "\n"))?;
    } else {
        output::print(&report::terminal(answer, &output::style()))?;
    }
    Ok(exit_code(answer))
}

/// 0 nothing found, 1 findings, 3 inconclusive; 2 is for errors.
fn exit_code(answer: &Answer) -> u8 {
    match report::outcome(answer) {
        Outcome::Nothing => 0,
        Outcome::Findings => 1,
        Outcome::Inconclusive(_) => 3,
    }
}
