//! Experiments: the one loop over trials, whatever is asked of them.
//!
//! A study describes its experiment as a [`Design`] (the arms, the order of their turns, the budget, the rules that end it)
//! and hands it to [`run`] with a function that runs one trial. The engine decides who is next, which arms still have a turn,
//! whether another round fits into the budget, and when it is over; it returns why ([`case::Stopped`]). What the trials left is in
//! the study's own hands: the rules of a design read it there, so that tests make trials up.
//!
//! This is the loop:
//!
//! ```text
//! at the boundary of two rounds:
//!     does the rule say that it is over?     an answer at a planned look; two sides that cannot be compared
//!     was it the last round?
//!     which arms have a question open?       one that is answered, or fails too often, drops out
//!     does a round of these fit the budget?
//! each of these arms, in the round's order:
//!     does the rule say that it is over?     the program does no more what it did; it is gone
//!     does this trial fit the budget?
//!     run it; Ctrl-C ends all, and what there is counts
//! ```
//!
//! | study | arms | order | a round begins | over when |
//! |---|---|---|---|---|
//! | `prove` | plain, sham, interventions | random blocks | where the usual time of the open arms fits | every question has its verdict at a look |
//! | `compare` | two sides | random blocks | where an average round fits | the deciding metric and all gates are decided, and narrow |
//! | `matrix` | versions x interventions | random blocks | as above | every contrast is decided, the 5 % shared by all |
//! | `sweep` | values | random blocks | where the open values fit their part | each was measured often enough |
//! | `sweep`, at a cliff | values about a gap | a list: below, above, above, below | where both ends fit | the next value to look at is another |
//! | `bisect` | a world, the bad one | random blocks | always | Wald's test decides |
//! | `live` | switched on, switched off | a list: on, off | where the usual time of both fits | a look decides |
//!
//! Random blocks are rounds in random order, each odd one the mirror of the round before it ([`Order`]).

mod budget;
mod design;
mod run;
mod schedule;
mod sharing;
mod state;
mod stop;

pub use budget::{Budget, EXCESS, Kind, LEAST_ROUNDS, Pace};
pub use case::Stopped;
pub use design::{Design, Entry, Open, Role};
pub use run::{Failing, Turn, run};
pub use schedule::Order;
pub use sharing::share;
pub use state::{State, Study};
pub use stop::{MOST_FAILURES, MOST_ROUNDS, Precision, Stop, is_given_up, unless_interrupted};

#[cfg(test)]
mod tests;
