//! What a case means, for people: the terminal's text, the page, and exports for other tools. Pure: an answer, a
//! comparison or a sweep goes in, text comes out.

mod bar;
mod certainty;
mod chain;
mod command;
mod comparison;
pub mod export;
mod figure;
mod finding;
mod grid;
mod ledger;
mod live;
mod outcome;
pub mod page;
mod proof;
mod style;
mod sweep;
mod terminal;
mod text;
mod together;
mod tried;

pub use comparison::{comparison, contrast_sentence};
pub use outcome::{Outcome, comparison_outcome, outcome, sweep_outcome};
pub use style::{Colour, Style};
pub use sweep::{sweep, sweep_sentence};
pub use terminal::terminal;
pub use text::{clean, wrap};
