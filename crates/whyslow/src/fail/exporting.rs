//! Errors of turning a case into something else.

use super::{Failure, quote, quote_path};
use std::io;
use std::path::Path;

/// More recorded cases than this are not named one by one.
const MOST_NAMED: usize = 4;

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

    /// A comparison or a sweep that recorded nothing.
    pub fn nothing_recorded(case: &Path) -> Failure {
        let why = "it has trials only; recordings are made only if the trials differ";
        let remedy = format!("whyslow report {} --format html", quote_path(case));
        Failure::new("this case has no recording", why, remedy)
    }

    /// A profile of a recording without CPU samples.
    pub fn no_samples(case: &Path, format: &str) -> Failure {
        let why = "the recording has no CPU samples: it was made with --hz 0, or the program hardly ran";
        let remedy = format!("whyslow report {} --format html", quote_path(case));
        Failure::new(format!("nothing to export as {format}"), why, remedy)
    }

    /// Bytes that would upset a terminal.
    pub fn binary_on_terminal(case: &Path, format: &str) -> Failure {
        let remedy = format!("whyslow report {} --format {format} -o recording.{format}", quote_path(case));
        Failure::new(format!("{format} is binary"), "standard output is a terminal", remedy)
    }

    /// A name that no schema has.
    pub fn unknown_schema(name: &str, nearest: &[&str]) -> Failure {
        let why = match nearest {
            [] => "no schema has a similar name".to_string(),
            names => format!("similar names: {}", names.join(", ")),
        };
        let remedy = nearest.first().map_or("whyslow schema".into(), |name| format!("whyslow schema {name}"));
        Failure::new(format!("there is no schema `{name}`"), why, remedy)
    }

    /// A file of the user's choice that cannot be written.
    pub fn not_written(file: &Path, error: &io::Error) -> Failure {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let shown = quote(&folder.display().to_string());
        let remedy = match error.kind() {
            io::ErrorKind::NotFound => format!("mkdir -p {shown}"),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => format!("df -h {shown}"),
            io::ErrorKind::IsADirectory => format!("name a file in it: -o {}", quote_path(&file.join("report"))),
            _ => format!("ls -ld {shown}; name another file with -o"),
        };
        // The name of what is written beside the file says nothing to its reader.
        let why = error.to_string();
        let why = why.split(" at path ").next().unwrap_or_default();
        Failure::new(format!("{} was not written", file.display()), why, remedy)
    }
}
