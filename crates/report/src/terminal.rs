//! The whole answer as text for a terminal: verdict first, then the ledger, how it was tried, what was lost, what was not
//! looked for, and the case's path last.

use crate::finding::finding;
use crate::ledger::ledger;
use crate::live::live;
use crate::outcome::{Outcome, outcome};
use crate::proof::proof;
use crate::style::Style;
use crate::text::{clean, counted, whereabouts, wrap};
use crate::together::together;
use case::{Answer, Status};

/// The answer as text, at most 80 columns wide but for words that are longer.
pub fn terminal(answer: &Answer, style: &Style) -> String {
    let style = *style;
    let blocks = [
        verdict(answer, style),
        live(answer, style),
        ledger(answer, style),
        proof(answer, style),
        closing(answer, style),
        whereabouts(&answer.page, &answer.case),
    ];
    blocks.into_iter().filter(|block| !block.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The verdict in sentences, and a paragraph for each finding.
fn verdict(answer: &Answer, style: Style) -> String {
    let columns = style.columns();
    let summary = clean(&answer.summary);
    let opening = opening(answer).map(|opening| wrap(&format!("{opening} {summary}"), columns, "", ""));
    let paragraphs = ordered(answer).map(|one| finding(one, answer, style));
    let mut blocks = opening.into_iter().chain(paragraphs).filter(|block| !block.is_empty()).collect::<Vec<_>>();
    blocks.extend([together(answer, style)].into_iter().filter(|block| !block.is_empty()));
    if outcome(answer) == Outcome::Findings && !summary.is_empty() {
        blocks.push(wrap(&summary, columns, "", ""));
    }
    blocks.join("\n")
}

/// What is said before the summary where nothing stands.
pub(crate) fn opening(answer: &Answer) -> Option<String> {
    match outcome(answer) {
        Outcome::Findings => None,
        Outcome::Nothing => Some("No cause found.".into()),
        Outcome::Inconclusive(why) => Some(format!("Inconclusive. {why}")),
    }
}

/// The findings as ranked, those that trials refuted after all others.
pub(crate) fn ordered(answer: &Answer) -> impl Iterator<Item = &case::Finding> {
    let refuted = |one: &&case::Finding| one.status == Status::Refuted;
    let standing = answer.findings.iter().filter(move |one| !refuted(one));
    standing.chain(answer.findings.iter().filter(move |one| refuted(one)))
}

/// What was lost, in a few words.
pub(crate) fn lost(answer: &Answer) -> String {
    match (answer.losses.events, answer.losses.stacks) {
        (0, 0) => "nothing.".to_string(),
        (events, stacks) => format!("{} and {}.", counted(events, "event"), counted(stacks, "stack")),
    }
}

/// What was lost, and what was not looked for.
fn closing(answer: &Answer, style: Style) -> String {
    let columns = style.columns();
    let mut text = wrap(&lost(answer), columns, "Lost while recording: ", "  ");
    if !answer.missing.is_empty() {
        text.push_str("Not looked for:\n");
        for missing in &answer.missing {
            text.push_str(&wrap(&clean(missing), columns, "  - ", "    "));
        }
    }
    text
}

#[cfg(test)]
pub(crate) mod examples;
#[cfg(test)]
mod proved_tests;
#[cfg(test)]
mod tests;
