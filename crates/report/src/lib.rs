//! What a case means, for people. So far: the terminal's text. Pure: an answer goes in, text comes out.

mod certainty;
mod figure;
mod finding;
mod ledger;
mod outcome;
mod proof;
mod style;
mod terminal;
mod text;
mod together;
mod tried;

pub use outcome::{Outcome, outcome};
pub use style::{Colour, Style};
pub use terminal::terminal;
pub use text::{clean, wrap};
