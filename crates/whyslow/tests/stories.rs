//! The casebook, end to end: the built binary watches each story's real programs, and the answer is checked.
//!
//! Recording needs root; as an ordinary user, and where a story's programs are not installed, a test is skipped.
//! `make test` runs one story for each mechanism; what takes long is ignored there, and run by `make stories`.

mod attached;
mod broken_cures;
mod compared;
mod healthy;
mod proved;
mod reconciled;
pub mod running;
mod sampled;
mod slow;
mod small;
mod surroundings;
mod swept;
mod transport;
