//! `whyslow explain [NAME]`: the page of a pathology or of an intervention, or the list of all.

use crate::arguments::ExplainArguments;
use crate::output;
use fail::Failure;
use report::page_text;
use studies::explain::{Entry, interventions, page, pathologies};

/// Prints the page asked for, or all names.
pub fn explain(typed: &ExplainArguments) -> Result<u8, Failure> {
    let text = match &typed.name {
        None => list(),
        Some(name) => page(name).map(|page| page_text(&page)).ok_or_else(|| {
            let names = pathologies().chain(interventions()).map(|one| one.name);
            Failure::unknown("cause or intervention", name, names, ("whyslow explain", "whyslow explain"))
        })?,
    };
    output::print(&text)?;
    Ok(0)
}

/// All names, with what they are in a sentence.
fn list() -> String {
    let line = |one: Entry| report::page_entry(one.id, one.name, &one.sentence);
    let (pathologies, interventions): (String, String) =
        (pathologies().map(line).collect(), interventions().map(line).collect());
    format!("{pathologies}\nInterventions, which switch a cause off from outside to prove it:\n{interventions}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_fits_a_terminal() {
        let names = pathologies().chain(interventions()).map(|one| one.name);
        for text in names.map(|name| page_text(&page(name).expect("a page"))).chain([list()]) {
            let wide = text.lines().find(|line| line.chars().count() > 80 && !line.starts_with(' '));
            assert_eq!(wide, None, "{text}");
        }
    }
}
