//! `whyslow explain [NAME]`: the page of a pathology or of an intervention, or the list of all.

use crate::arguments::ExplainArguments;
use crate::fail::Failure;
use crate::nearest::nearest;
use crate::output;
use case::Purpose;
use diagnose::Page;
use lab::interventions::{ALL, Intervention};
use std::fmt::Write;

/// The casebook's table of stories: which one shows what.
const CASEBOOK: &str = include_str!("../../../../casebook/README.md");

const COLUMNS: usize = 80;

/// Prints the page asked for, or all names.
pub fn explain(typed: &ExplainArguments) -> Result<u8, Failure> {
    let text = match &typed.name {
        None => list(),
        Some(name) => page(name).ok_or_else(|| {
            let names = diagnose::pages().iter().map(|page| page.name).chain(ALL.iter().map(|one| one.name));
            Failure::unknown_page(name, &nearest(name, names))
        })?,
    };
    output::print(&text)?;
    Ok(0)
}

/// All names, with what they are in a sentence.
fn list() -> String {
    let pathologies = diagnose::pages().iter().map(line).collect::<String>();
    let interventions = ALL.iter().map(summary).collect::<String>();
    format!("{pathologies}\nInterventions, which switch a cause off from outside to prove it:\n{interventions}")
}

/// The page of a name or an identifier.
fn page(name: &str) -> Option<String> {
    if let Some(page) = diagnose::explain(name) {
        return Some(pathology(page));
    }
    ALL.iter().find(|one| one.name.eq_ignore_ascii_case(name)).map(intervention)
}

/// A pathology's page, with what is tried for it and the stories that show it.
fn pathology(page: &Page) -> String {
    // The page begins with its name as a heading; the identifier goes beside it.
    let body = page.text.trim_start_matches(&format!("# {}", page.name)).trim();
    let mut text = format!("# {} ({})\n\n{}", page.name, page.id, wrapped(body));
    let tried = ALL.iter().filter_map(|one| {
        let (_, purpose) = one.tried_for.iter().find(|(id, _)| *id == page.id)?;
        Some(item(&format!("{} {}{}", one.name, one.summary, why(*purpose))))
    });
    let tried = tried.collect::<String>();
    if !tried.is_empty() {
        let _ = write!(text, "\n## Interventions tried\n{tried}");
    }
    let stories = stories(page.name).map(|story| item(&format!("whyslow story run {story}"))).collect::<String>();
    if !stories.is_empty() {
        let _ = write!(text, "\n## Stories\n{stories}");
    }
    text
}

/// An intervention's page, with what it is tried for.
fn intervention(one: &Intervention) -> String {
    let mut text = wrapped(&one.page());
    let known = diagnose::pages();
    let tried = one.tried_for.iter().filter_map(|(id, _)| known.iter().find(|page| page.id == *id));
    let tried = tried.map(|page| item(&format!("{} ({})", page.name, page.id))).collect::<String>();
    if !tried.is_empty() {
        let _ = write!(text, "\n## Tried for\n{tried}");
    }
    text
}

/// What an intervention is tried for, where that is not the cause itself.
fn why(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Dose => "; in several doses, which the cost must follow",
        Purpose::Control => "; as a control that must change nothing",
        Purpose::Ladder => "; on top of another, to see what else can be gained",
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

/// A page's text in lines that fit a terminal: paragraphs are filled anew, headings and what is indented stay.
fn wrapped(page: &str) -> String {
    let mut text = String::new();
    let mut paragraph = String::new();
    for line in page.lines().chain([""]) {
        let is_prose = !line.is_empty() && !line.starts_with(['#', ' ', '|']);
        if is_prose && !line.starts_with("- ") {
            paragraph = paragraph + line + " ";
            continue;
        }
        text += &filled(&paragraph);
        paragraph.clear();
        match line {
            bullet if is_prose => paragraph = format!("{bullet} "),
            _ => text = text + line + "\n",
        }
    }
    text.trim_end().to_string() + "\n"
}

/// A paragraph in lines; the lines of an item stand below its words.
fn filled(paragraph: &str) -> String {
    match paragraph.strip_prefix("- ") {
        _ if paragraph.is_empty() => String::new(),
        Some(words) => item(words),
        None => report::wrap(paragraph, COLUMNS, "", ""),
    }
}

fn item(words: &str) -> String {
    report::wrap(words, COLUMNS, "- ", "  ")
}

/// An intervention in the list: its name, and what it does.
fn summary(one: &Intervention) -> String {
    report::wrap(one.summary, COLUMNS, &format!("     {:<23}", one.name), &" ".repeat(28))
}

/// A page in the list: identifier, name, and the first sentence of what it is.
fn line(page: &Page) -> String {
    let body = page.text.split("## What it is").nth(1).unwrap_or_default().replace('\n', " ");
    let sentence = body.trim().split_inclusive(". ").next().unwrap_or_default();
    report::wrap(sentence.trim_end(), COLUMNS, &format!("{:<5}{:<23}", page.id, page.name), &" ".repeat(28))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_fits_a_terminal() {
        let names = diagnose::pages().iter().map(|page| page.name).chain(ALL.iter().map(|one| one.name));
        for text in names.map(|name| page(name).expect("a page")).chain([list()]) {
            let wide = text.lines().find(|line| line.chars().count() > 80 && !line.starts_with(' '));
            assert_eq!(wide, None, "{text}");
        }
    }

    #[test]
    fn a_pathology_names_what_is_tried_for_it_and_its_stories() {
        let text = page("P01").expect("a page");
        for line in [
            "\n- tcp-nodelay disables ",
            "\n- whyslow story run nagle\n",
            "in several doses,\n  which the cost must follow",
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert!(page("tcp-nodelay").expect("a page").contains("\n- nagle-delayed-ack (P01)\n"));
    }

    #[test]
    fn every_intervention_that_is_tried_is_named_by_a_pathology() {
        for one in ALL.iter().filter(|one| one.tried_for.iter().any(|(id, _)| diagnose::explain(id).is_some())) {
            let named = diagnose::pages().iter().any(|page| pathology(page).contains(&format!("\n- {} ", one.name)));
            assert!(named, "{}", one.name);
        }
    }

    #[test]
    fn prose_is_filled_and_headings_items_and_code_stay() {
        let text = wrapped("# a\n\nOne\ntwo.\n- first\n  more\n- second\n\n    code   here\n");
        assert_eq!(text, "# a\n\nOne two.\n- first\n  more\n- second\n\n    code   here\n");
    }
}
