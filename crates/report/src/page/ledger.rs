//! Section: where the time went. A stacked bar, one beneath the other for several sides, and a list of its parts, each of
//! which opens to what it means and to the requests that have most of it.

mod bar;
mod compared;
mod entry;
mod meaning;
mod parts;
mod run;
mod swept;

use super::{Material, Told};
use askama::Template;
use bar::Bar;
use entry::Entry;

#[derive(Template)]
#[template(path = "page/ledger.html")]
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
pub(super) fn section(material: &Material) -> String {
    let ledger = match material.told {
        Told::Answer(answer) => run::ledger(answer, material),
        Told::Comparison(comparison) => compared::ledger(comparison),
        Told::Sweep(_) => swept::ledger(material, "of each stretch of values"),
        Told::Bisection(_) => swept::ledger(material, "in each world"),
        Told::Matrix(_) => swept::ledger(material, "of each version"),
    };
    ledger.and_then(|ledger| ledger.render().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
