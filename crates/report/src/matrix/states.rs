//! What became of every version: built or not, what was loaded, and of a failed build the last lines and its log.

use crate::style::Style;
use crate::text::{clean, shorten, wrap};
use case::{Matrix, Nanos, Version, VersionState};

/// Lines of a failed build that are shown.
const MOST_LINES: usize = 8;

/// A paragraph a version.
pub(super) fn states(matrix: &Matrix, style: Style) -> String {
    let versions = matrix.versions.iter().map(|version| one(version, style)).collect::<String>();
    if versions.is_empty() { versions } else { format!("Versions:\n{versions}") }
}

fn one(version: &Version, style: Style) -> String {
    let head = format!("{}: {}", clean(&version.version), told(version));
    let mut text = wrap(&head, style.columns(), "  ", "    ");
    for path in &version.mapped {
        text += &format!("    loaded {}\n", clean(path));
    }
    for line in last_lines(version) {
        text += &format!("    | {}\n", shorten(&line, style.columns() - 6));
    }
    if !version.log.is_empty() {
        text += &format!("    log {}\n", clean(&version.log));
    }
    text
}

/// The state in words, with what else there is to say.
pub(crate) fn told(version: &Version) -> String {
    let details = details(version);
    let comma = if details.is_empty() { "" } else { ", " };
    format!("{}{comma}{details}.", word(version.state))
}

/// What there is to say beside the state; empty for nothing.
pub(crate) fn details(version: &Version) -> String {
    let built = if version.built_ns > 0 { format!("built in {}", Nanos(version.built_ns)) } else { String::new() };
    let sonames = version.sonames.iter().map(|name| clean(name));
    let problem = clean(&version.problem).trim_end_matches('.').to_string();
    let parts = [built].into_iter().chain(sonames).chain([problem]).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(", ")
}

/// A state in a word or two.
pub(crate) fn word(state: VersionState) -> &'static str {
    match state {
        VersionState::Measured => "measured",
        VersionState::NotFetched => "not fetched",
        VersionState::NotBuilt => "not built",
        VersionState::NotLoaded => "not loaded",
    }
}

/// The last lines of a failed build.
pub(crate) fn last_lines(version: &Version) -> Vec<String> {
    let from = version.last_lines.len().saturating_sub(MOST_LINES);
    version.last_lines[from..].iter().map(|line| clean(line)).collect()
}
