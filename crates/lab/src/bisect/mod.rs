//! Which of the things that differ between a good and a bad world makes the difference.
//!
//! | file | what it knows |
//! |---|---|
//! | `used` | which files a recorded subject opened or mapped |
//! | `differences` | what of that differs between two worlds: factors |
//! | `layers` | a world in which some factors are taken from the other one |
//! | `linkage` | whether programs start in it, and what is missing where they do not |
//! | `probe` | whether a world is good or bad, by runs in turns with the bad one |
//! | `search` | which factors to probe next, until the least set is found |

mod search;

pub use search::{Bench, Found, Set, search};
