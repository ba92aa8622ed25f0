//! `explain`: the page of a pathology or of an intervention, with what each has to do with the others.

use case::Purpose;
use diagnose::Page;
use lab::interventions::{ALL, Intervention, WITHOUT_CONTROL};

/// The casebook's table of stories: which one shows what.
const CASEBOOK: &str = include_str!("../../../casebook/README.md");

/// A page in the list of all.
pub struct Entry {
    /// The identifier of a pathology; an intervention has none.
    pub id: &'static str,
    /// The name.
    pub name: &'static str,
    /// What it is or does, in a sentence.
    pub sentence: String,
}

/// Every pathology.
pub fn pathologies() -> impl Iterator<Item = Entry> {
    diagnose::pages().iter().map(|page| {
        let body = page.text.split("## What it is").nth(1).unwrap_or_default().replace('\n', " ");
        let sentence = body.trim().split_inclusive(". ").next().unwrap_or_default().trim_end().to_string();
        Entry { id: page.id, name: page.name, sentence }
    })
}

/// Every intervention.
pub fn interventions() -> impl Iterator<Item = Entry> {
    ALL.iter().map(|one| Entry { id: "", name: one.name, sentence: one.summary.to_string() })
}

/// The page of a name or an identifier, as Markdown.
pub fn page(name: &str) -> Option<String> {
    if let Some(page) = diagnose::explain(name) {
        return Some(pathology(page));
    }
    ALL.iter().find(|one| one.name.eq_ignore_ascii_case(name)).map(intervention)
}

/// A pathology's page, with what is tried for it and the stories that show it.
fn pathology(page: &Page) -> String {
    // The page begins with its name as a heading; the identifier goes beside it.
    let body = page.text.trim_start_matches(&format!("# {}", page.name)).trim();
    let tried = ALL.iter().filter_map(|one| {
        let prediction = one.prediction(page.id)?;
        Some(format!("{} {}{}", one.name, one.summary, why(prediction.purpose)))
    });
    let without = WITHOUT_CONTROL.iter().filter(|(pathology, _)| *pathology == page.id);
    let reasons =
        diagnose::catalogue().into_iter().filter(|known| known.id == page.id && !known.not_switched.is_empty());
    let tried = tried.chain(without.map(|(_, why)| format!("No control: {why}")));
    let tried = tried.chain(reasons.map(|known| format!("None: {}", known.not_switched)));
    let stories = stories(page.name).map(|story| format!("whyslow story run {story}"));
    format!("# {} ({})\n\n{body}\n", page.name, page.id)
        + &section("Interventions tried", tried)
        + &section("Stories", stories)
}

/// An intervention's page, with what it is tried for.
fn intervention(one: &Intervention) -> String {
    let known = diagnose::pages();
    let tried = one.predictions.iter().filter_map(|one| known.iter().find(|page| page.id == one.pathology));
    one.page().trim_end().to_string()
        + "\n"
        + &section("Tried for", tried.map(|page| format!("{} ({})", page.name, page.id)))
}

/// A list below its heading; nothing where it is empty.
fn section(heading: &str, items: impl Iterator<Item = String>) -> String {
    let items = items.map(|item| format!("- {item}\n")).collect::<String>();
    if items.is_empty() { items } else { format!("\n## {heading}\n{items}") }
}

/// What an intervention is tried for, where that is not the cause itself.
fn why(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Dose => "; in several doses, which the cost must follow",
        Purpose::Control => "; as a control that must change nothing",
        Purpose::Incremental => "; on top of another, to see what else can be gained",
        Purpose::Cause | Purpose::Asked => "",
    }
}

/// The stories whose row in the casebook's table names a pathology as the answer to expect.
fn stories(pathology: &str) -> impl Iterator<Item = &'static str> {
    let rows = CASEBOOK.lines().filter_map(|line| line.strip_prefix("| [")?.split_once(']'));
    rows.filter_map(move |(story, rest)| {
        let mut words = rest.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-');
        words.any(|word| word == pathology).then_some(story)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pathology_names_what_is_tried_for_it_and_its_stories() {
        let text = page("P01").expect("a page");
        let lines = [
            "\n- tcp-nodelay disables ",
            "\n- whyslow story run nagle\n",
            "; in several doses, which the cost must follow\n",
        ];
        for line in lines {
            assert!(text.contains(line), "{text}");
        }
        assert!(page("tcp-nodelay").expect("a page").contains("\n- nagle-delayed-ack (P01)\n"));
        // What must change nothing is said, and where there is nothing of the kind, why.
        assert!(page("sync-disk").expect("a page").contains("; as a control that must change nothing\n"));
        assert!(page("busy-spin").expect("a page").contains("\n- No control: A spin lasts as long as "));
    }

    #[test]
    fn every_intervention_that_is_tried_is_named_by_a_pathology() {
        for one in ALL.iter().filter(|one| one.predictions.iter().any(|one| diagnose::explain(one.pathology).is_some()))
        {
            let named = diagnose::pages().iter().any(|page| pathology(page).contains(&format!("\n- {} ", one.name)));
            assert!(named, "{}", one.name);
        }
    }
}
