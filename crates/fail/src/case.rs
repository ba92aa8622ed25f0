//! Errors of cases, and of turning one into something else.

use super::{Failure, quote_path};
use case::CaseError;
use std::path::Path;

/// More recorded cases than this are not named one by one.
const MOST_NAMED: usize = 4;

impl From<CaseError> for Failure {
    fn from(error: CaseError) -> Failure {
        let why = error.to_string();
        match error {
            CaseError::Exists(path) => {
                let remedy = format!("whyslow report {}; or choose another folder with -o", quote_path(&path));
                Failure::new("the case already exists", why, remedy)
            }
            CaseError::NoHistory(path) => {
                let remedy = format!("whyslow watch --history {}", quote_path(&path));
                Failure::new("there is no history", why, remedy)
            }
            CaseError::NotACase(path) if !path.exists() => {
                let why = format!("{} does not exist", path.display());
                Failure::new("there is no such case", why, "ls ~/.local/state/whyslow   (where cases go without -o)")
            }
            CaseError::NotACase(_) => {
                Failure::new("not a case", why, "ls ~/.local/state/whyslow   (where cases go without -o)")
            }
            CaseError::Schema { .. } => {
                Failure::new("this case is from another version", why, "read it with the version that wrote it")
            }
            CaseError::Damaged { path, .. } => {
                let folder = path.parent().unwrap_or(&path).display().to_string();
                let remedy = format!("ls -l {folder}; then copy the case again or repeat the run");
                Failure::new("the case is damaged", why, remedy)
            }
            CaseError::Io { path, source } => Failure::system(Some(&path), "writing the case", &source),
        }
    }
}

impl Failure {
    /// `--json` together with another format.
    pub fn two_formats(format: &str) -> Failure {
        let why = format!("--json and --format {format} ask for different formats");
        Failure::new("conflicting output formats", why, format!("whyslow report CASE --format {format}"))
    }

    /// A format that needs one recording, asked of a case that holds several.
    pub fn several_recordings(case: &Path, inside: &[String], format: &str) -> Failure {
        let named = inside.iter().take(MOST_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = inside.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let first = inside.first().map_or_else(|| case.to_path_buf(), |name| case.join(name));
        Failure::new(
            format!("{format} needs one recording; this case has {}", inside.len()),
            format!("the cases inside are {named}{more}"),
            format!("whyslow report {} --format {format}", quote_path(&first)),
        )
    }

    /// A format that a case has no rows for: a comparison or a sweep that recorded nothing, a recording without samples.
    pub fn not_recorded(case: &Path, what: &str, why: &str) -> Failure {
        Failure::new(what, why, format!("whyslow report {} --format html", quote_path(case)))
    }

    /// Bytes that would upset a terminal.
    pub fn binary_on_terminal(case: &Path, format: &str) -> Failure {
        let remedy = format!("whyslow report {} --format {format} -o recording.{format}", quote_path(case));
        Failure::new(format!("{format} is binary"), "standard output is a terminal", remedy)
    }
}
