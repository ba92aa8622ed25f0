//! What is told as Markdown, to be pasted into a ticket or a chat: the sentences and tables of the terminal's text.
//!
//! Every string is escaped by [`escape`] unless it is a word of ours.

mod answer;
mod bisection;
mod comparison;
mod escape;
mod matrix;
mod sweep;

use crate::page::Told;
use case::Manifest;
use escape::{cell, code, escape};

/// What is told; the manifest says how it was run.
pub fn markdown(told: &Told, manifest: &Manifest) -> String {
    match told {
        Told::Answer(told) => answer::answer(told, manifest),
        Told::Comparison(told) => comparison::comparison(told, manifest),
        Told::Sweep(told) => sweep::sweep(told, manifest),
        Told::Bisection(told) => bisection::bisection(told, manifest),
        Told::Matrix(told) => matrix::matrix(told, manifest),
    }
}

/// A heading and what stands under it; nothing where that is empty.
fn part(heading: &str, body: &str) -> String {
    if body.is_empty() { String::new() } else { format!("\n### {heading}\n\n{}\n", body.trim_end()) }
}

/// A paragraph after a label in bold; nothing where it is empty. The body is escaped here.
fn labelled(label: &str, body: &str) -> String {
    if body.is_empty() { String::new() } else { format!("\n**{label}** {}\n", escape(body)) }
}

/// A list of sentences, escaped here.
fn list<'t>(sentences: impl IntoIterator<Item = &'t String>) -> String {
    sentences.into_iter().map(|sentence| format!("- {}\n", escape(sentence))).collect()
}

/// Headings of columns that hold words; so does the first column. The others hold figures.
const WORDS: [&str; 5] = ["What came of it", "B takes", "it takes", "Kind", "Note"];

/// A table, its cells escaped here; nothing where it has no rows.
fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let headings = headings.iter().map(ToString::to_string).collect::<Vec<_>>();
    let is_words = |column: usize, heading: &str| column == 0 || WORDS.contains(&heading);
    let rule = headings.iter().enumerate();
    let rule = rule.map(|(column, heading)| if is_words(column, heading) { "---" } else { "---:" }.to_string());
    let mut text = line(&headings) + &line(&rule.collect::<Vec<_>>());
    for row in rows {
        text += &line(&row.iter().map(|text| cell(text)).collect::<Vec<_>>());
    }
    text
}

/// Where the time was recorded.
fn machine(manifest: &Manifest) -> String {
    let host = &manifest.host;
    if host.kernel.is_empty() {
        return String::new();
    }
    let facts = [host.distribution.clone(), format!("Linux {}", host.kernel), host.processor.clone()];
    let facts = facts.iter().filter(|fact| !fact.is_empty()).map(|fact| escape(fact)).collect::<Vec<_>>().join(", ");
    format!("{facts}; whyslow {}", escape(&manifest.whyslow))
}

/// A command to type, in a block of its own.
fn typed(command: &str) -> String {
    code::block(command)
}

#[cfg(test)]
mod tests;
