//! What the tests of all crates share, and what no program is built with: saying that a test was skipped, how fast this
//! machine is, and who has the machine to itself.

mod skip;
mod speed;
mod turn;

pub use skip::{does_not_apply, go, is_root, skip};
pub use speed::{budget, python, slowness, stretched};
pub use turn::{Turn, alone, beside_others};
