//! Which of the things that differ between a good and a bad world makes the difference.
//!
//! | file | what it knows |
//! |---|---|
//! | `used` | which files a recorded subject opened or mapped |
//! | `started` | by which paths its program is started |
//! | `differences` | what of that differs between two worlds: factors |
//! | `layers` | a world in which some factors are taken from the other one |
//! | `linkage` | whether programs start in it, and what is missing where they do not |
//! | `closure` | what has to come along with factors, so that they start and take effect |
//! | `probe` | whether a world is good or bad, by runs in turns with the bad one |
//! | `history` | which commits of a line to build and measure next, until every step is one of them |
//! | `search` | which factors to probe next, until the least set is found |
//! | `split` | which member of a bundle it is, by other versions and the profile |

mod closure;
mod content;
mod differences;
mod history;
mod inside;
mod layers;
mod linkage;
mod probe;
mod search;
pub mod split;
mod started;
mod target;
mod used;
mod usual_work;

/// A door for fuzzers: any text.
pub(crate) fn fuzz(text: &str) {
    linkage::fuzz(text);
}

pub use closure::{Closures, Ground};
pub use differences::{Change, Difference, differences};
pub use history::{Artefact, Line, Stair, Workshop};
pub use layers::Layers;
pub use linkage::{Linkage, Missing, MissingKind, check};
pub use probe::{Axis, MOST_PAIRS, Probed, Probing, Run, gains, gains_of, probe};
pub use search::{Bench, Found, Set, search};
pub use started::started_by;
pub use used::{opened, used};
pub use usual_work::UsualWork;
