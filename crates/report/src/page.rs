//! The page: one self-contained HTML file. It opens offline, says all it has found without JavaScript, and treats every
//! string from outside as hostile.
//!
//! Each section is one file here with its template beside it in `templates/page`: it reads the material and returns
//! HTML, nothing where it has nothing to show. Text goes into HTML through askama's templates only, and into scripts
//! through [`embed`] only. What JavaScript adds (zoom, search, tooltips) is in `assets`, one file a view.

mod bisected;
mod calls;
mod chain;
mod chart;
mod compared;
mod connections;
mod document;
mod effects;
mod embed;
mod environment;
mod evidence;
mod flame;
mod hot_spots;
mod ladder;
mod ledger;
mod lengths;
mod matrix;
mod scale;
mod sheet;
mod swept;
mod verdict;

pub use case::views::{Difference, SideViews};

use case::views::ArmDots;
use case::{Answer, Bisection, Comparison, Matrix, Sweep};

/// What a page is made of.
pub struct Material<'a> {
    /// What it tells.
    pub told: Told<'a>,
    /// What recordings show: one for a run, A and B for a comparison, one a regime for a sweep,
    /// the good and the bad world for a bisection, one a version for a matrix.
    pub sides: Vec<SideViews>,
    /// Where processor time differs between sides: B's from A's for a comparison, the bad world's from the good one's for a
    /// bisection, each of the [`case::views::Pairs`] for a matrix.
    pub differences: Vec<Difference>,
    /// Every trial, arm by arm.
    pub arms: Vec<ArmDots>,
}

/// What a page tells.
#[derive(Clone, Copy)]
pub enum Told<'a> {
    /// The answer of a run, or of something that was watched while running.
    Answer(&'a Answer),
    /// Two against each other.
    Comparison(&'a Comparison),
    /// One thing varied.
    Sweep(&'a Sweep),
    /// Which of the things that differ makes the difference.
    Bisection(&'a Bisection),
    /// Versions of a library.
    Matrix(&'a Matrix),
}

/// A section of the page.
struct Section {
    /// Its anchor.
    id: &'static str,
    /// Its heading.
    title: &'static str,
    /// Its HTML, from the material; empty where there is nothing to show.
    draw: fn(&Material) -> String,
}

/// The sections, top to bottom.
const SECTIONS: &[Section] = &[
    Section { id: "verdict", title: "Verdict", draw: verdict::section },
    Section { id: "proof", title: "Proof: switched off and measured again", draw: effects::section },
    Section { id: "compared", title: "A against B", draw: compared::section },
    Section { id: "sweep", title: "The curve", draw: swept::section },
    Section { id: "bisection", title: "From bad to good: what was switched", draw: bisected::section },
    Section { id: "matrix", title: "Version by version", draw: matrix::section },
    Section { id: "ledger", title: "Where the time went", draw: ledger::section },
    Section { id: "ladder", title: "One request, step by step", draw: ladder::section },
    Section { id: "flame", title: "Where threads were on a processor, and where blocked", draw: flame::section },
    Section { id: "lengths", title: "How long requests took", draw: lengths::section },
    Section { id: "connections", title: "Connections", draw: connections::section },
    Section { id: "calls", title: "System calls", draw: calls::section },
    Section { id: "evidence", title: "Evidence behind the findings", draw: evidence::section },
    Section {
        id: "environment",
        title: "Environment, losses, and what was not looked for",
        draw: environment::section,
    },
];

/// The page as one HTML file.
pub fn page(material: &Material) -> String {
    let drawn = SECTIONS.iter().map(|section| (section, (section.draw)(material)));
    let drawn = drawn.filter(|(_, html)| !html.is_empty()).collect::<Vec<_>>();
    document::document(material, &drawn)
}

#[cfg(test)]
mod examples;
