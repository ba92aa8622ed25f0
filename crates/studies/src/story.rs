//! The casebook: what a story declares, how it is run, and whether the outcome is as declared.

pub mod casebook;
pub mod check;
pub mod declaration;
pub mod document;
mod error;
pub mod running;
mod said;
mod trusted;

pub use error::StoryError;

/// A door for fuzzers: any text.
pub(crate) fn fuzz(text: &str) {
    declaration::Story::fuzz(text);
}
