//! The pages of the ways of being slow, from their detectors' doc comments.

use crate::page::{Page, Shelf};
use crate::story::Story;
use lab::interventions::{ALL, Intervention, Purpose};
use std::fmt::Write;

/// The list, and a page for each.
pub fn pages(stories: &[Story]) -> Vec<Page> {
    let mut list = "# Ways of being slow\n\nWhat whyslow recognises. Each page says what it is, what shows it, what \
                    proves it and what to change; `whyslow explain NAME` prints the same.\n\n"
        .to_string();
    let mut pages = Vec::new();
    for page in diagnose::pages() {
        // Writing to a string cannot fail.
        let _ = writeln!(list, "- [{}]({}.md) ({}): {}", page.name, page.name, page.id, summary(page));
        let source = format!("docs/pathologies/{}.md", page.name);
        let address = format!("pathologies/{}.html", page.name);
        pages.push(Page::file(&source, &address, Shelf::Pathologies, text(page, stories)));
    }
    pages.insert(0, Page::file("docs/pathologies/index.md", "pathologies/index.html", Shelf::Pathologies, list));
    pages
}

/// The first sentence of what it is.
fn summary(page: &diagnose::Page) -> String {
    let body = page.text.split("## What it is").nth(1).unwrap_or_default().replace('\n', " ");
    body.trim().split_inclusive(". ").next().unwrap_or_default().trim_end().to_string()
}

fn text(page: &diagnose::Page, stories: &[Story]) -> String {
    let mut text =
        format!("{}\n\nIdentifier: `{}`. In a terminal: `whyslow explain {}`\n", page.text, page.id, page.name);
    let tried = ALL.iter().filter_map(|one| Some(item(one, one.prediction(page.id)?.purpose)));
    let tried = tried.collect::<String>();
    text += match tried.as_str() {
        "" => "\n## What is tried from outside\n\nNothing is known that could switch it off from outside.\n",
        _ => "\n## What is tried from outside\n\n",
    };
    text += &tried;
    let shown = stories.iter().filter(|story| story.expects(page.name));
    let shown = shown.map(|story| format!("- [{}](../../{}): {}\n", story.name, story.source(), story.about()));
    let shown = shown.collect::<String>();
    if !shown.is_empty() {
        let _ = write!(text, "\n## Stories that show it\n\n{shown}");
    }
    text
}

/// An intervention, and what it is tried for where that is not the cause itself.
fn item(one: &Intervention, purpose: Purpose) -> String {
    let why = match purpose {
        Purpose::Dose => "; in doses, and the cost must follow",
        Purpose::Control => "; as a control, which must change nothing",
        Purpose::Incremental => "; on top of another, to see what more can be had",
        Purpose::Cause | Purpose::Asked => "",
    };
    format!("- [{}](../interventions/{}.md) {}{why}\n", one.name, one.name, one.summary)
}
