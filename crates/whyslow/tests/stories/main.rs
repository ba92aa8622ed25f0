//! The casebook, end to end: the built binary watches each story's real programs, and the answer is checked.
//!
//! Recording needs root; as an ordinary user, and where a story's programs are not installed, a test says on stderr
//! that it was skipped, why, and how many were before it.

mod attached;
mod compared;
mod healthy;
mod proved;
mod slow;
mod small;
#[path = "../stage/speed.rs"]
mod speed;
mod surroundings;
mod swept;
mod telling;
