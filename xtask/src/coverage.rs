//! The table of all ways of being slow: what looks for each, what switches it off, which story shows it.

use crate::page::{Page, Shelf};
use crate::story::{Shown, Story};
use diagnose::{Known, catalogue};
use lab::interventions::{ALL, Purpose};
use std::fmt::Write;

/// What stands above the table.
const HEAD: &str = "\
# What is known, and what shows it

From the detectors, the interventions and the declarations of the [casebook](../casebook/README.md). A story runs a real
program, and its declaration says what must come of it: that the cause is confirmed, or suspected where nothing outside can
switch it off, or observed. Its twin does the same work without the cause; it must be silent, or at least without that finding.

What a recording does not show by itself is asked otherwise: `whyslow bisect` for P43, `whyslow logs` for P44. P02 has no
story, since its receiving end takes a kernel before 6.6.
";

/// One way of being slow.
struct Row {
    id: &'static str,
    name: &'static str,
    is_looked_for: bool,
    cures: Vec<&'static str>,
    shown: Vec<String>,
}

/// The table as a page.
pub fn page(stories: &[Story]) -> Page {
    Page::file("docs/catalogue.md", "catalogue.html", Shelf::Reference, markdown(stories))
}

/// The table as Markdown.
pub fn markdown(stories: &[Story]) -> String {
    let rows = catalogue().into_iter().map(|known| row(known, stories)).collect::<Vec<_>>();
    let count = |is: fn(&Row) -> bool| rows.iter().filter(|row| is(row)).count();
    let mut text = HEAD.to_string();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "\nOf {} ways of being slow, {} are looked for, {} can be switched off from outside, and {} have a story.\n\n\
         | | way of being slow | looked for | switched off by | shown by |\n|---|---|---|---|---|",
        rows.len(),
        count(|row| row.is_looked_for),
        count(|row| !row.cures.is_empty()),
        count(|row| !row.shown.is_empty()),
    );
    for row in &rows {
        let Row { id, name, .. } = row;
        let looked_for = if row.is_looked_for { "yes" } else { "**no**" };
        let cures = row.cures.iter().map(|cure| format!("`{cure}`")).collect::<Vec<_>>();
        let _ = writeln!(text, "| {id} | `{name}` | {looked_for} | {} | {} |", list(&cures), list(&row.shown));
    }
    text.push_str("\nWhat nothing outside can switch off is predicted only:\n\n");
    for known in catalogue().iter().filter(|known| !known.not_switched.is_empty()) {
        let _ = writeln!(text, "- {}: {}", known.id, known.not_switched);
    }
    text
}

fn row(known: Known, stories: &[Story]) -> Row {
    let Known { id, name, is_looked_for, .. } = known;
    let removes = |purpose: Purpose| matches!(purpose, Purpose::Cause | Purpose::Dose);
    let cures = ALL.iter().filter(|one| one.prediction(id).is_some_and(|prediction| removes(prediction.purpose)));
    let shown = stories.iter().filter_map(|story| Some(cell(story, &story.shows(name)?)));
    Row { id, name, is_looked_for, cures: cures.map(|one| one.name).collect(), shown: shown.collect() }
}

/// A story in its cell.
fn cell(story: &Story, shown: &Shown) -> String {
    let twin = if shown.has_twin { "" } else { ", without a twin" };
    format!("[{}](../{}) ({}{twin})", story.name, story.source(), shown.status)
}

fn list(words: &[String]) -> String {
    if words.is_empty() { "-".to_string() } else { words.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lacks_a_story_a_cure_or_a_detector_can_be_seen() {
        let text = markdown(&[]);
        let of = |id: &str| text.lines().find(|line| line.starts_with(&format!("| {id} "))).expect("a row");
        assert!(of("P01").contains("`tcp-nodelay`") && of("P01").ends_with("| - |"), "{}", of("P01"));
        assert!(of("P43").contains("**no** | - | - |"), "{}", of("P43"));
        assert!(text.contains("and 0 have a story"));
    }

    #[test]
    fn whatever_is_looked_for_can_be_switched_off_or_has_a_reason_why_not() {
        for known in catalogue().into_iter().filter(|known| known.is_looked_for) {
            let why = known.not_switched;
            assert!(why.is_empty() != row(known, &[]).cures.is_empty(), "{known:?}: one or the other");
            assert!(why.is_empty() || why.ends_with('.'), "{known:?}");
        }
    }
}
