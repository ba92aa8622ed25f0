//! `whyslow trial SPEC.toml`: one trial from a file, and the case it leaves.

use crate::arguments::TrialArguments;
use crate::console::Terminal;
use crate::{folder, output, requests};
use case::TrialFigures;
use fail::Failure;

/// Runs the trial, keeps it, and prints what was measured.
pub fn trial(typed: TrialArguments) -> Result<u8, Failure> {
    let as_json = typed.json;
    let request = requests::trial::request(typed)?;
    folder::make_parents(&request.folder)?;
    let row = studies::trial::trial(&request, &Terminal::take()?)?;
    let figures = TrialFigures::of(&row, &request.folder);
    let case = format!("Case: {}\n", request.folder.display());
    output::document(&figures, as_json, |_| report::trial(&row) + &case)?;
    Ok(u8::from(!row.problem.is_empty()) * output::INCONCLUSIVE)
}
