//! Which of the things that differ between a good and a bad world makes the difference.
//!
//! | file | what it knows |
//! |---|---|
//! | `used` | which files a recorded subject opened or mapped |
//! | `differences` | what of that differs between two worlds: factors |
//! | `layers` | a world in which some factors are taken from the other one |
//! | `linkage` | whether programs start in it, and what is missing where they do not |
//! | `probe` | whether a world is good or bad, by runs in turns with the bad one |
//! | `history` | which commit of a line to probe next |
//! | `search` | which factors to probe next, until the least set is found |

mod history;
mod search;

pub use history::{Line, search_line};
pub use search::{Bench, Found, Set, search};
