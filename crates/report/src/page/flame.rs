//! Section: flame graphs, of processor time and of blocked time, and their difference for a comparison.
//!
//! What they say stands as tables and lists; the pictures are drawn by `assets/flame.js` on the data beside them.

mod data;
mod folded;
mod functions;
mod hottest;

use super::{Material, SideExhibits, Told};
use crate::text::clean;
use askama::Template;
use case::exhibits::Flame;
use functions::FunctionRow;
use hottest::Step;

const NO_SAMPLES: &str = "No samples were taken: the program used too little processor time, or sampling was not \
                          possible (what was not looked for is told at the end of the page).";
const NEVER_BLOCKED: &str = "No thread was seen blocked.";

/// One side: its two flames, and a switch between them.
#[derive(Template)]
#[template(path = "page/flame.html")]
struct SideOfFlames {
    /// The side's name; empty where there is one side only.
    name: String,
    /// Whether there is something to switch between.
    switched: bool,
    flames: Vec<Drawn>,
}

/// One flame.
#[derive(Template)]
#[template(path = "page/flame_view.html")]
struct Drawn {
    /// Of the canvas; ours.
    id: String,
    /// What it shows: `On a processor`.
    title: &'static str,
    /// What the times are of.
    of: String,
    /// Said instead where there is nothing to draw.
    empty: &'static str,
    /// Whether the picture leaves out repetitions.
    folded: bool,
    /// Whether two sides are compared.
    compared: bool,
    functions: Vec<FunctionRow>,
    hottest: Vec<Step>,
    data: String,
}

/// The section's HTML.
pub(super) fn section(material: &Material) -> String {
    let mut html = String::new();
    if let Some(difference) = &material.difference {
        let title = match material.told {
            Told::Bisection(_) => "Processor time: the bad world (B) against the good one (A)",
            _ => "Processor time: B against A",
        };
        html += &drawn("flame-difference".to_string(), title, NO_SAMPLES, difference).render().unwrap_or_default();
    }
    for (number, side) in material.sides.iter().enumerate() {
        html += &side_of_flames(side, &suffix(material, number)).render().unwrap_or_default();
    }
    html
}

fn side_of_flames(side: &SideExhibits, suffix: &str) -> SideOfFlames {
    let (processor, blocked) = (&side.exhibits.processor, &side.exhibits.blocked);
    SideOfFlames {
        name: clean(&side.name),
        switched: !processor.nodes.is_empty() && !blocked.nodes.is_empty(),
        flames: vec![
            drawn(format!("flame-processor{suffix}"), "On a processor", NO_SAMPLES, processor),
            drawn(format!("flame-blocked{suffix}"), "Blocked", NEVER_BLOCKED, blocked),
        ],
    }
}

/// What tells the ids of several sides apart. Their names may come from outside, their numbers do not.
fn suffix(material: &Material, number: usize) -> String {
    match material.told {
        _ if material.sides.len() < 2 => String::new(),
        Told::Comparison(_) => ["-A", "-B"].get(number).map_or_else(|| format!("-{number}"), ToString::to_string),
        _ => format!("-{}", number + 1),
    }
}

fn drawn(id: String, title: &'static str, empty: &'static str, flame: &Flame) -> Drawn {
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
        compared: flame.before_ns.is_some(),
        functions: functions::most(flame),
        hottest: hottest::path(flame),
    }
}

#[cfg(test)]
mod tests;
