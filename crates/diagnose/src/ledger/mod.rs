//! The ledger: where wall time went, in accounts that add up to the whole.
//!
//! `account` names the accounts; `walk` books one exchange, `peer` continues it into the peer's threads; `run` divides
//! the run's wall time among the exchanges in flight; `idle` books what lies between them; `pool` splits user-mode time
//! by module; `thread` keeps one thread's own books; `totals` rounds, names and sorts; `books` does so for
//! all exchanges at once.

mod account;
mod books;
mod idle;
mod peer;
mod pool;
mod run;
mod thread;
mod totals;
mod walk;

pub use account::{Account, Class, Object};
pub use books::{Books, run_name};
pub use pool::{Pools, is_within};
pub use run::Accounts;
pub use thread::of_thread;
pub use totals::{of_exchange, of_exchanges, of_run};
pub use walk::Walker;
pub(crate) use walk::object;
