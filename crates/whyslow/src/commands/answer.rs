//! From a case to an answer on standard output: what `run` ends with and `report` repeats.

use super::attach;
use crate::arguments::AnswerArguments;
use crate::fail::{self, Failure};
use crate::progress::Progress;
use crate::recording::LOOKING;
use crate::{output, page, proof};
use case::{Answer, Case, Recording};
use report::Outcome;

/// Reads a case and works out what it means, what was tried included.
pub fn read(case: &Case, typed: AnswerArguments) -> Result<Answer, Failure> {
    let progress = Progress::of(LOOKING);
    let recording = Recording::load(case)?;
    let mut answer = draw(&recording, case, typed);
    proof::judge_again(&mut answer, case, &recording.trials)?;
    if let Some(kept) = case.kept::<attach::Kept>(attach::FILE)? {
        attach::enter(&mut answer, kept);
    }
    drop(progress);
    answer.page = page::kept(case);
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
    Ok(code_of(&report::outcome(answer)))
}

/// 0 nothing found, 1 findings, 3 inconclusive; 2 is for errors.
pub fn code_of(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Nothing => 0,
        Outcome::Findings => 1,
        Outcome::Inconclusive(_) => fail::INCONCLUSIVE,
    }
}
