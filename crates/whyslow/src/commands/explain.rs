//! `whyslow explain [NAME]`: a pathology's page, or the list of all.

use crate::arguments::ExplainArguments;
use crate::fail::Failure;
use crate::nearest::nearest;
use crate::output;

/// Prints the page asked for, or all names.
pub fn explain(typed: &ExplainArguments) -> Result<u8, Failure> {
    let Some(name) = &typed.name else {
        output::print(&diagnose::pages().iter().map(line).collect::<String>())?;
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

/// A page in the list: identifier, name, and the first sentence of what it is.
fn line(page: &diagnose::Page) -> String {
    let body = page.text.split("## What it is").nth(1).unwrap_or_default().replace('\n', " ");
    let sentence = body.trim().split_inclusive(". ").next().unwrap_or_default();
    report::wrap(sentence.trim_end(), 80, &format!("{:<5}{:<23}", page.id, page.name), &" ".repeat(28))
}
