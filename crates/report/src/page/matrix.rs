//! Section: versions of a library. Each version's distribution drawn and in figures, its ratios to the first, the chain
//! that a slower one burns its time in, and what became of every version.

#[cfg(test)]
mod pairs;
mod spread;
mod tries;

use super::chain::chain;
use super::compared::ratios;
use super::hot_spots::hot_spots;
use super::{Material, Told};
use crate::bisection::burner::{left_out, readable};
use crate::matrix::states::{details, last_lines, word};
use crate::matrix::{measured, slower};
use crate::text::clean;
use askama::Template;
use case::{Matrix, Version, VersionState};

#[derive(Template)]
#[template(path = "page/matrix.html")]
struct Page {
    first: String,
    with: String,
    spreads: String,
    /// The ratios of a version, and its chain where it is slower.
    versions: Vec<Against>,
    tries: String,
    states: Vec<State>,
}

/// A version against the first.
struct Against {
    name: String,
    ratios: String,
    chain: String,
    left_out: String,
    hot_spots: String,
}

/// What became of a version.
struct State {
    name: String,
    badge: &'static str,
    word: &'static str,
    told: String,
    mapped: Vec<String>,
    last_lines: Vec<String>,
    log: String,
}

/// The section's HTML; nothing where no versions were compared.
pub(super) fn section(material: &Material) -> String {
    let Told::Matrix(matrix) = material.told else { return String::new() };
    let first = measured(matrix).next().map(|first| clean(&first.version)).unwrap_or_default();
    let page = Page {
        with: matrix.with.iter().map(|one| clean(one)).collect::<Vec<_>>().join(", "),
        spreads: spread::spreads(matrix),
        versions: against(matrix, &first),
        tries: tries::tries(matrix),
        states: matrix.versions.iter().map(state).collect(),
        first,
    };
    page.render().unwrap_or_default()
}

fn against(matrix: &Matrix, first: &str) -> Vec<Against> {
    let compared = measured(matrix).filter(|version| !version.ratios.is_empty());
    let one = |version: &Version| {
        let name = clean(&version.version);
        let whole = if slower(version).is_some() { version.chain.as_slice() } else { &[] };
        let (steps, nameless) = readable(whole);
        Against {
            ratios: ratios::table(&version.ratios, [first, &name]),
            chain: chain(&steps, [first, &name]),
            left_out: left_out(nameless),
            hot_spots: hot_spots(&version.hot_spots, [first, &name]),
            name,
        }
    };
    compared.map(one).collect()
}

fn state(version: &Version) -> State {
    State {
        name: clean(&version.version),
        badge: match version.state {
            VersionState::Measured => "none",
            VersionState::NotFetched | VersionState::NotBuilt | VersionState::NotLoaded => "warn",
        },
        word: word(version.state),
        told: details(version),
        mapped: version.mapped.iter().map(|path| clean(path)).collect(),
        last_lines: last_lines(version),
        log: clean(&version.log),
    }
}

#[cfg(test)]
mod tests;
