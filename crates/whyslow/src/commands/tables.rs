//! `whyslow tables`: the documentation of a case's tables. CASE-FORMAT.md is its output.

use crate::output;
use fail::Failure;

/// Prints the documentation as Markdown.
pub fn tables() -> Result<u8, Failure> {
    output::print(&case::format())?;
    Ok(0)
}
