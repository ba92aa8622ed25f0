//! The casebook: what a story declares, how it is told, and whether what came out is what was declared.

pub mod casebook;
pub mod check;
pub mod declaration;
pub mod document;
mod error;
pub mod run;
mod said;
pub mod telling;

pub use error::StoryError;
