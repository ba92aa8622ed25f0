//! The pages of the interventions, from their doc comments.

use crate::page::{Page, Shelf};
use lab::interventions::{ALL, Intervention};
use std::fmt::Write;

/// The list, and a page for each.
pub fn pages() -> Vec<Page> {
    let mut list = "# Cures from outside\n\nWhat whyslow can switch off in a program that it does not change, to see \
                    whether it is the cause. Each is tried in turns with a sham: the same machinery, inert.\n\n"
        .to_string();
    let mut pages = Vec::new();
    for one in ALL {
        // Writing to a string cannot fail.
        let _ = writeln!(list, "- [{}]({}.md) {}", one.name, one.name, one.summary);
        let source = format!("docs/interventions/{}.md", one.name);
        let address = format!("interventions/{}.html", one.name);
        pages.push(Page::file(&source, &address, Shelf::Interventions, text(one)));
    }
    pages.insert(0, Page::file("docs/interventions/index.md", "interventions/index.html", Shelf::Interventions, list));
    pages
}

fn text(one: &Intervention) -> String {
    let mut text = one.page();
    let known = diagnose::pages();
    let tried = one.predictions.iter().filter_map(|one| known.iter().find(|page| page.id == one.pathology));
    let tried = tried.map(|page| format!("- [{}](../pathologies/{}.md) ({})\n", page.name, page.name, page.id));
    let tried = tried.collect::<String>();
    if !tried.is_empty() {
        let _ = write!(text, "\n## What it is tried for\n\n{tried}");
    }
    let value = match (one.doses.first(), one.about) {
        (Some(dose), _) => format!("={dose}"),
        (None, "") => String::new(),
        (None, about) => format!("={about}"),
    };
    if !one.doses.is_empty() {
        let doses = one.doses.iter().map(|dose| format!("{dose} {}", one.unit)).collect::<Vec<_>>().join(", ");
        let _ = write!(text, "\nDoses that are tried without being asked for: {doses}.\n");
    }
    let name = one.name;
    let _ = write!(text, "\n## Try it\n\n    whyslow run --try {name}{value} -- COMMAND\n");
    text
}
