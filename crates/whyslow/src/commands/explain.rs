//! `whyslow explain [NAME]`: a pathology's page, or the list of all.

use crate::arguments::ExplainArguments;
use crate::fail::Failure;
use crate::nearest::nearest;
use crate::output;

/// Prints the page asked for, or all names.
pub fn explain(typed: &ExplainArguments) -> Result<u8, Failure> {
    let Some(name) = &typed.name else {
        let lines = diagnose::pages().iter().map(|page| format!("{:<5}{}\n", page.id, page.name));
        output::print(&lines.collect::<String>())?;
        return Ok(0);
    };
    let Some(page) = diagnose::explain(name) else {
        let pages = diagnose::pages();
        return Err(Failure::unknown_page(name, &nearest(name, pages.iter().map(|page| page.name))));
    };
    // The page begins with its name as a heading; the identifier goes beside it.
    let body = page.text.trim_start_matches(&format!("# {}", page.name)).trim();
    output::print(&format!("# {} ({})\n\n{body}\n", page.name, page.id))?;
    Ok(0)
}
