//! The casebook: what a story declares, how it is run, and whether the outcome is as declared.

pub mod casebook;
pub mod check;
pub mod declaration;
pub mod document;
mod error;
pub mod running;
mod said;

pub use error::StoryError;
