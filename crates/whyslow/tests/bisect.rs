//! `whyslow bisect` against culprits that are known: worlds of 24 small packages, made here, in which one thing or two are
//! slow. Real programs, and no network.
//!
//! | file | what it knows |
//! |---|---|
//! | `planted` | worlds and what is planted in them |
//! | `asking` | asking for a culprit, and reading the answer |
//! | `culprits` | everything planted is found, and nothing else |
//! | `history` | a history of commits that became slower in several steps |
//! | `wrong` | what cannot be answered is said in three lines |

mod asking;
mod culprits;
mod history;
mod planted;
mod wrong;
