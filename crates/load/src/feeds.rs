//! Rounds over feeds by the ten thousand, as a good bot makes them: conditional requests, and nothing more after a 304;
//! connections reused within an origin and TLS sessions resumed; what servers ask for (Retry-After, redirects, 410,
//! robots.txt) remembered. What is known of feeds is in a database, so that a round that was killed is gone on with.
//!
//! The loop (`worker`) is another than a load's (`drive`): that one keeps a fixed set of connections to one server busy,
//! this one opens and closes connections to thousands, each with its own queue. Connections, TLS, answers and what is
//! counted of them are the load's own. Nothing that a server sends is kept but what says which entries were seen.

mod address;
mod change;
mod clock;
mod coding;
mod digest;
mod done;
mod entries;
mod failure;
mod history;
mod job;
mod journal;
mod list;
mod names;
mod origin;
mod plan;
mod ports;
mod request;
mod retry;
mod robots;
mod round;
mod state;
mod store;
mod tally;
mod text;
mod verdict;
mod worker;
mod writer;

pub(crate) use entries::fuzz as fuzz_feed;
pub use failure::FeedsFailure;
pub use history::{Past, past};
pub(crate) use list::fuzz as fuzz_list;
pub use list::{List, read as read_list};
pub use names::{Hosts, read as read_hosts};
pub use plan::Plan;
pub use round::{Live, refresh};
