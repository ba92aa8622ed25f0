//! What a case means, for people: the terminal's text, the page, and exports for other tools. Pure: an answer, a
//! comparison, a sweep, a bisection or a matrix goes in, text comes out.

mod bar;
mod bisection;
mod certainty;
mod chain;
mod command;
mod comparison;
pub mod export;
mod figure;
mod finding;
mod grid;
#[cfg(test)]
mod hostile;
mod hot_spots;
mod ledger;
mod live;
mod matrix;
mod outcome;
pub mod page;
mod proof;
mod style;
mod sweep;
mod terminal;
mod text;
mod together;
mod tried;

pub use bisection::{bisection, bisection_sentence};
pub use comparison::{comparison, contrast_sentence};
pub use matrix::{matrix, matrix_sentence};
pub use outcome::{Outcome, bisection_outcome, comparison_outcome, matrix_outcome, outcome, sweep_outcome};
pub use style::{Colour, Style};
pub use sweep::{sweep, sweep_sentence};
pub use terminal::terminal;
pub use text::{clean, wrap};
