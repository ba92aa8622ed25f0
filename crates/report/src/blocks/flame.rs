//! flame graphs, of CPU time and of blocked time, and their differences where sides are compared.
//!
//! What they say stands as tables and lists; the pictures are drawn by `assets/flame.js` on the data beside them.

mod data;
mod differences;
mod folded;
mod functions;
mod hottest;

use crate::block::{Block, Section};
use crate::document::{Body, Document, SideViews};
use crate::text::clean;
use askama::Template;
use case::views::Flame;
use differences::Sides;
use functions::FunctionRow;
use hottest::HotFrame;

pub(crate) const BLOCK: Block = Block::drawn(Section::Flame, html);

const NO_SAMPLES: &str = "No samples were taken: the program used too little CPU time, or sampling was not \
                          possible (see the end of the page for what was not looked for).";
const NEVER_BLOCKED: &str = "No thread was seen blocked.";

/// The flames of one side, or differences, and a switch between them.
#[derive(Template)]
#[template(path = "blocks/flame.html")]
struct SideOfFlames {
    /// The side's name; empty where there is one side only.
    name: String,
    /// What else is to be said; empty for nothing.
    note: String,
    /// Whether there is something to switch between.
    switched: bool,
    flames: Vec<Drawn>,
}

/// One flame.
#[derive(Template)]
#[template(path = "blocks/flame_view.html")]
struct Drawn {
    /// Of the canvas; ours.
    id: String,
    /// What it shows: `On a processor`.
    title: String,
    /// What the times are of.
    of: String,
    /// Said instead where there is nothing to draw.
    empty: &'static str,
    /// Whether the picture leaves out repetitions.
    folded: bool,
    /// What two sides are called; none where there is one.
    sides: Option<Sides>,
    functions: Vec<FunctionRow>,
    hottest: Vec<HotFrame>,
    data: String,
}

/// The section's HTML.
fn html(document: &Document) -> String {
    let mut html = differences::differences(document);
    for (number, side) in document.sides.iter().enumerate() {
        html += &side_of_flames(side, &suffix(document, number)).render().unwrap_or_default();
    }
    html
}

fn side_of_flames(side: &SideViews, suffix: &str) -> SideOfFlames {
    let (processor, blocked) = (&side.views.processor, &side.views.blocked);
    let flames = vec![
        drawn(format!("flame-processor{suffix}"), "On CPU".to_string(), NO_SAMPLES, processor),
        drawn(format!("flame-blocked{suffix}"), "Blocked".to_string(), NEVER_BLOCKED, blocked),
    ];
    SideOfFlames::of(clean(&side.name), String::new(), flames)
}

impl SideOfFlames {
    fn of(name: String, note: String, flames: Vec<Drawn>) -> SideOfFlames {
        let switched = flames.iter().filter(|flame| flame.is_picture()).count() > 1;
        SideOfFlames { name, note, switched, flames }
    }
}

impl Drawn {
    /// Whether there is something to draw.
    fn is_picture(&self) -> bool {
        self.empty.is_empty()
    }

    /// Its name in the switch.
    fn choice(&self) -> &str {
        self.sides.as_ref().map_or(&self.title, |sides| &sides.choice)
    }
}

/// What tells the ids of several sides apart. Their names may come from outside, their numbers do not.
fn suffix(document: &Document, number: usize) -> String {
    match document.body {
        _ if document.sides.len() < 2 => String::new(),
        Body::Comparison(_) => ["-A", "-B"].get(number).map_or_else(|| format!("-{number}"), ToString::to_string),
        _ => format!("-{}", number + 1),
    }
}

fn drawn(id: String, title: String, empty: &'static str, flame: &Flame) -> Drawn {
    let folded = folded::folded(flame);
    let drawn = folded.as_ref().unwrap_or(flame);
    let data = if flame.nodes.is_empty() { String::new() } else { data::element(&id, drawn) };
    Drawn {
        data,
        id,
        title,
        of: clean(&flame.of),
        empty: if flame.nodes.is_empty() { empty } else { "" },
        folded: folded.is_some(),
        sides: None,
        functions: functions::most(flame),
        hottest: hottest::path(flame),
    }
}

#[cfg(test)]
mod tests;
