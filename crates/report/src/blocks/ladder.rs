//! single requests step by step, drawn to scale on the life lines of both ends.
//!
//! `layout` gives every step a row and every nanosecond its height; `delays`, `flights` and `steps` place what is drawn;
//! `sentence` says it in words, `waited` who waited for whom, `table` has rows to read and copy. Tabs are radio buttons: they need no JavaScript.

mod account;
mod delays;
mod drawing;
#[cfg(test)]
mod examples;
mod flights;
mod layout;
mod sentence;
mod steps;
mod table;
#[cfg(test)]
mod tests;
mod waited;

use crate::block::{Block, Section};
use crate::document::{Document, SideViews};
use askama::Template;
use case::views::Ladder;
pub(super) use sentence::short;
use table::TableRow;

/// The page draws it; the terminal and Markdown say who waited for whom.
pub(crate) const BLOCK: Block =
    Block { text: Some(waited::text), markdown: Some(waited::markdown), ..Block::drawn(Section::Ladder, html) };

#[derive(Template)]
#[template(path = "blocks/ladder.html")]
struct Ladders {
    tabs: Vec<Tab>,
    /// Whether more than one is there to choose from.
    choice: bool,
}

/// One ladder.
struct Tab {
    id: String,
    name: String,
    sentence: String,
    waited: String,
    drawing: String,
    key: String,
    left_out: String,
    rows: Vec<TableRow>,
    checked: bool,
}

/// The section's HTML: every ladder of a single recording, the typical one of each side of several.
fn html(document: &Document) -> String {
    let several = document.sides.len() > 1;
    let ladders = document.sides.iter().flat_map(|side| shown(side, several).map(move |ladder| (side, ladder)));
    let mut tabs: Vec<Tab> = Vec::new();
    for (side, ladder) in ladders {
        let id = anchor(&side.name, ladder.number);
        // A request can be both the typical and the best one: it is drawn once, under both names.
        match tabs.iter_mut().find(|tab| tab.id == id) {
            Some(known) => known.name = format!("{}, {}", known.name, short(&ladder.why)),
            None => tabs.push(tab(side, ladder, id, tabs.is_empty())),
        }
    }
    if tabs.is_empty() {
        return String::new();
    }
    Ladders { choice: tabs.len() > 1, tabs }.render().unwrap_or_default()
}

fn tab(side: &SideViews, ladder: &Ladder, id: String, checked: bool) -> Tab {
    let count = side.views.lengths.count;
    Tab {
        name: sentence::name(&side.name, ladder),
        sentence: sentence::sentence(&side.name, ladder, count),
        waited: ladder.waits.as_ref().map(waited::sentence).unwrap_or_default(),
        drawing: drawing::drawing(ladder, &id),
        key: drawing::key(ladder),
        left_out: sentence::left_out(ladder),
        rows: table::rows(ladder),
        id,
        checked,
    }
}

/// The ladders of a side that are on the page.
pub(super) fn shown(side: &SideViews, several: bool) -> impl Iterator<Item = &Ladder> {
    let drawn = side.views.ladders.iter().filter(|ladder| !ladder.lanes.is_empty());
    drawn.take(if several { 1 } else { usize::MAX })
}

/// Where a ladder is linked to: `ladder-51`, with the side's name made safe where it has one: `ladder-A-51`.
pub(super) fn anchor(side: &str, number: u64) -> String {
    let safe: String = side.chars().map(|sign| if sign.is_ascii_alphanumeric() { sign } else { '-' }).collect();
    let mut words = safe.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>();
    words.insert(0, "ladder");
    format!("{}-{number}", words.join("-"))
}
