//! What a case means, for people. So far: the terminal's text. Pure: an answer, a comparison or a sweep goes in, text
//! comes out.

mod bar;
mod certainty;
mod chain;
mod command;
mod comparison;
mod figure;
mod finding;
mod grid;
mod ledger;
mod live;
mod outcome;
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
