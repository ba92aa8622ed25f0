//! A matrix as text: which version is slower, by how much, who burns it, what to take; then each metric's distribution,
//! the ratios, the chains, and what became of every version.

mod chains;
pub(crate) mod figures;
mod sentence;
pub(crate) mod states;
pub(crate) mod tries;

pub(crate) use self::sentence::{slower, worst};

pub use self::sentence::matrix_sentence;

use crate::command::command;
use crate::comparison::warnings;
use crate::style::Style;
use crate::text::{clean, counted, whereabouts, wrap};
use case::{Matrix, Nanos, Version, VersionState};

/// The matrix as text, at most 80 columns wide but for paths and words that are longer.
pub fn matrix(matrix: &Matrix, style: &Style) -> String {
    let style = *style;
    let blocks = [
        summary(matrix, style),
        ran(matrix, style),
        figures::figures(matrix, style),
        figures::ratios(matrix, style),
        chains::chains(matrix, style),
        tries::tries(matrix, style),
        states::states(matrix, style),
        closing(matrix, style),
        whereabouts(&matrix.page, &matrix.case),
    ];
    blocks.into_iter().filter(|block| !block.is_empty()).collect::<Vec<_>>().join("\n")
}

fn summary(matrix: &Matrix, style: Style) -> String {
    wrap(&said(matrix), style.columns(), "", "").lines().map(|line| style.bold(line) + "\n").collect()
}

/// The summary that is kept, or where there is none, what it would be.
pub(crate) fn said(matrix: &Matrix) -> String {
    let summary = clean(&matrix.summary);
    if summary.is_empty() { matrix_sentence(matrix) } else { summary }
}

/// What ran on each version.
fn ran(matrix: &Matrix, style: Style) -> String {
    let mut text = wrap(&command(&matrix.command), style.columns(), "Ran on each: ", "  ");
    if !matrix.server.is_empty() {
        text += &wrap(&command(&matrix.server), style.columns(), "Server: ", "  ");
    }
    if !matrix.with.is_empty() {
        let with = matrix.with.iter().map(|one| clean(one)).collect::<Vec<_>>().join(", ");
        text += &wrap(&with, style.columns(), "Built beside it: ", "  ");
    }
    text
}

/// The versions that were measured, in order; the first is what the others are compared with.
pub(crate) fn measured(matrix: &Matrix) -> impl Iterator<Item = &Version> {
    matrix.versions.iter().filter(|version| version.state == VersionState::Measured && !version.figures.is_empty())
}

fn closing(matrix: &Matrix, style: Style) -> String {
    wrap(&measuring(matrix), style.columns(), "Trials: ", "  ") + &warnings(&matrix.warnings, style)
}

/// How it was measured, in a sentence.
pub(crate) fn measuring(matrix: &Matrix) -> String {
    let (preparing, spent) = (Nanos(matrix.preparing_ns), Nanos(matrix.spent_ns));
    let rounds = counted(matrix.rounds.into(), "round");
    format!("{rounds} of every version in random order; {preparing} for building, {spent} for trials.")
}

#[cfg(test)]
pub(crate) mod examples;
#[cfg(test)]
mod tests;
