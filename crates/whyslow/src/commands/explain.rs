//! `whyslow explain [NAME]`: the page of a pathology or of an intervention, or the list of all.

use crate::arguments::ExplainArguments;
use crate::fail::Failure;
use crate::nearest::nearest;
use crate::output;
use lab::interventions::{ALL, Intervention};

/// Prints the page asked for, or all names.
pub fn explain(typed: &ExplainArguments) -> Result<u8, Failure> {
    let Some(name) = &typed.name else {
        let pathologies = diagnose::pages().iter().map(line).collect::<String>();
        let interventions = ALL.iter().map(summary).collect::<String>();
        output::print(&format!(
            "{pathologies}\nWhat is switched off from outside, to prove a cause:\n{interventions}"
        ))?;
        return Ok(0);
    };
    let Some(page) = diagnose::explain(name) else {
        let Some(intervention) = ALL.iter().find(|one| one.name.eq_ignore_ascii_case(name)) else {
            let pages = diagnose::pages().iter().map(|page| page.name).chain(ALL.iter().map(|one| one.name));
            return Err(Failure::unknown_page(name, &nearest(name, pages)));
        };
        output::print(&intervention.page())?;
        return Ok(0);
    };
    // The page begins with its name as a heading; the identifier goes beside it.
    let body = page.text.trim_start_matches(&format!("# {}", page.name)).trim();
    output::print(&format!("# {} ({})\n\n{body}\n", page.name, page.id))?;
    Ok(0)
}

/// An intervention in the list: its name, and what it does.
fn summary(one: &Intervention) -> String {
    report::wrap(one.summary, 80, &format!("     {:<23}", one.name), &" ".repeat(28))
}

/// A page in the list: identifier, name, and the first sentence of what it is.
fn line(page: &diagnose::Page) -> String {
    let body = page.text.split("## What it is").nth(1).unwrap_or_default().replace('\n', " ");
    let sentence = body.trim().split_inclusive(". ").next().unwrap_or_default();
    report::wrap(sentence.trim_end(), 80, &format!("{:<5}{:<23}", page.id, page.name), &" ".repeat(28))
}
