//! Where the time went: bars of letters in the terminal, a table in Markdown. On the page stacked bars, one beneath the
//! other for several sides, and a list of their parts, each of which opens to what it means and to the requests that
//! have most of it.

mod bar;
mod compared;
mod entry;
mod meaning;
mod parts;
mod run;
mod swept;
mod text;

use crate::block::{Block, Section};
use crate::document::{Body, Document};
use askama::Template;
use bar::Bar;
use entry::Entry;

pub(crate) const BLOCK: Block = Block {
    text: Some(|document, style| document.answer().map_or(String::new(), |answer| text::text(answer, style))),
    html: Some(html),
    ..Block::of(Section::Ledger, |document| document.answer().map(text::parts).unwrap_or_default())
};

#[derive(Template)]
#[template(path = "blocks/ledger.html")]
struct Ledger {
    /// What it is all of, in a sentence.
    intro: String,
    /// The stacked bars, top to bottom.
    bars: Vec<Bar>,
    /// What the figures beside an entry are, column by column.
    columns: Vec<String>,
    /// The parts, largest first, then the small ones, then what is unexplained.
    entries: Vec<Entry>,
}

/// The section's HTML; empty where no time was booked.
fn html(document: &Document) -> String {
    let ledger = match document.body {
        Body::Answer(answer) => run::ledger(answer, document),
        Body::Comparison(comparison) => compared::ledger(comparison),
        Body::Sweep(_) => swept::ledger(document, "of each stretch of values"),
        Body::Bisection(_) => swept::ledger(document, "in each world"),
        Body::Matrix(_) => swept::ledger(document, "of each version"),
        Body::Measured(_) => None,
    };
    ledger.and_then(|ledger| ledger.render().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
