//! The ledger: where wall time went, in accounts that add up to the whole.
//!
//! `account` names the accounts; `walk` breakdown one exchange, `peer` continues it into the peer's threads; `run` divides
//! the run's wall time among the exchanges in flight; `idle` breakdown what lies between them; `room` tells whether a
//! server waits until it can write more; `pool` splits user-mode time by module; `thread` keeps one thread's own
//! breakdown; `totals` rounds, names and sorts; `breakdown` does so for all exchanges at once.

mod account;
mod booked;
mod breakdown;
mod idle;
mod peer;
mod pool;
mod room;
mod run;
mod thread;
mod totals;
mod walk;

pub use account::{Account, Object};
pub use booked::Booked;
pub use breakdown::{Breakdown, run_account};
pub use pool::{Pools, is_within};
pub use run::Accounts;
pub use thread::of_thread;
pub use totals::{of_exchange, of_exchanges, of_run};
pub use walk::Walker;
pub(crate) use walk::object;

#[cfg(test)]
mod tests;
