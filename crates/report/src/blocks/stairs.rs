//! The steps along a line of commits: which of them made it slower (or faster), by how much, and what part of the whole
//! that is. On the page they are drawn as stairs, with every commit that was measured.

use crate::block::{Block, Section};
use crate::chart::Px;
use crate::document::Document;
use crate::figure::{range, three};
use crate::grid::Row;
use crate::part::{self, Part, Table, under};
use crate::place::{figure_at, finite};
use crate::text::{clean, counted, shorten};
use askama::Template;
use case::{Bisection, Share, Stair};

pub(crate) const BLOCK: Block = Block {
    html: Some(|document| drawn(document) + &part::html::of(&parts(document))),
    ..Block::of(Section::Bisection, parts)
};

/// A longer subject of a commit is cut.
const NAME_COLUMNS: usize = 72;

/// The table; nothing where no line of commits was searched.
fn parts(document: &Document) -> Vec<Part> {
    let Some(bisection) = document.bisection().filter(|bisection| !bisection.stairs.is_empty()) else {
        return Vec::new();
    };
    let rows = bisection.stairs.iter().map(row).collect();
    let table = Table::of("", ["times as long", "95 % interval", "part", "95 % interval"], rows);
    let same = match bisection.same_builds {
        0 => String::new(),
        same => format!(", {same} of them identical to another build and not run"),
    };
    let (built, all) = (bisection.builds, bisection.factors.len());
    let head = format!("Where it became slower, commit by commit (built: {built} of {all}{same})");
    under(head, [Part::Table(table)])
}

fn row(stair: &Stair) -> Row {
    let part = |part: f64| Share(part).to_string();
    let cells = [
        three(stair.times),
        range(stair.low, stair.high),
        part(stair.part),
        format!("{} to {}", part(stair.part_low), part(stair.part_high)),
    ];
    let row = Row::new(shorten(&name(stair), NAME_COLUMNS), cells);
    match (stair.is_open, stair.commits.len()) {
        (true, _) => row.with_note("not searched to its end"),
        (false, 0 | 1) => row,
        (false, _) => row.with_note("the commits before the last of them do not build, or do not run"),
    }
}

/// The commit, or the first and the last of those that it can be.
pub(crate) fn name(stair: &Stair) -> String {
    match stair.commits.as_slice() {
        [one] => clean(one),
        [first, .., last] => {
            let hash = |name: &str| clean(name.split(' ').next().unwrap_or_default());
            format!("one of {} commits, {} to {}", stair.commits.len(), hash(first), hash(last))
        }
        [] => String::new(),
    }
}

/// How large the drawing is.
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 220.0;
/// Room for the labels of both ends, and about the marks.
const LEFT: f64 = 90.0;
const ROOM: f64 = 16.0;

#[derive(Template)]
#[template(
    source = r#"<figure class="stairs"><svg viewBox="0 0 960 220" role="img" aria-label="{{ said }}">
<text x="0" y="{{ top }}" dy="4">{{ bad }}</text><text x="0" y="{{ bottom }}" dy="4">{{ good }}</text>
<path d="{{ path }}"/>
{% for dot in dots %}<circle cx="{{ dot.0 }}" cy="{{ dot.1 }}" r="4"><title>{{ dot.2 }}</title></circle>
{% endfor %}</svg><figcaption>Commits from left to right, the oldest first; a dot: one that was built and run.</figcaption></figure>
"#,
    ext = "html"
)]
struct Drawn {
    said: String,
    top: Px,
    bottom: Px,
    good: String,
    bad: String,
    path: String,
    dots: Vec<(Px, Px, String)>,
}

fn drawn(document: &Document) -> String {
    let Some(bisection) = document.bisection().filter(|bisection| !bisection.stairs.is_empty()) else {
        return String::new();
    };
    let at = |name: &str| bisection.factors.iter().position(|factor| factor.name == name);
    let across = |place: usize| LEFT + (WIDTH - LEFT - ROOM) * (place + 1) as f64 / bisection.factors.len() as f64;
    let levels = levels(bisection);
    let most = levels.iter().copied().fold(1.0, f64::max);
    let least = levels.iter().copied().fold(0.0, f64::min);
    let down = |level: f64| HEIGHT - ROOM - (level.clamp(least, most) - least) / (most - least) * (HEIGHT - 2.0 * ROOM);
    let mut path = format!("M{} {}", Px(LEFT), Px(down(0.0)));
    for (stair, level) in bisection.stairs.iter().zip(&levels) {
        let place = stair.commits.last().and_then(|name| at(name)).unwrap_or_default();
        path += &format!("H{}V{}", Px(across(place)), Px(down(*level)));
    }
    path += &format!("H{}", Px(WIDTH - ROOM));
    let dot = |probe: &case::Probe| {
        let (name, place) = (probe.asked.first()?, finite(probe.place)?);
        Some((Px(across(at(name)?)), Px(down(1.0 - place)), clean(name)))
    };
    let figure = |word: &str, place| match figure_at(bisection, Some(place)) {
        Some(figure) => format!("{word}: {figure}"),
        None => word.to_string(),
    };
    Drawn {
        said: counted(bisection.stairs.len() as u64, "step") + " from the good commit to the bad one",
        top: Px(down(1.0)),
        bottom: Px(down(0.0)),
        good: figure("good", 1.0),
        bad: figure("bad", 0.0),
        path,
        dots: bisection.probes.iter().filter_map(dot).collect(),
    }
    .render()
    .unwrap_or_default()
}

/// The level after each step, from good (0) to bad (1).
fn levels(bisection: &Bisection) -> Vec<f64> {
    let mut level = 0.0;
    let after = |stair: &Stair| {
        level += stair.part;
        level
    };
    bisection.stairs.iter().map(after).collect()
}
