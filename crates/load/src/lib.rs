//! A measured load: when requests start (closed or open arrival), what they say (one file a protocol), and how long each
//! took, counted from the moment it was to start.
//!
//! One loop drives all protocols (`drive`), on one thread a CPU, over sockets that never block. Whatever a server does, a
//! request ends within its time, as an answer or as a fault with a name; nothing that a server sends is kept.

mod address;
mod arrival;
mod connection;
mod course;
mod drive;
mod failure;
mod fault;
pub mod feeds;
mod flight;
#[doc(hidden)]
pub mod fuzz;
mod histogram;
mod histograms;
mod message;
mod plan;
mod protocol;
mod replay;
mod run;
mod schedule;
mod tally;
mod tls;

pub use address::{Scheme, Url};
pub use arrival::Arrival;
pub use failure::LoadFailure;
pub use histograms::Histograms;
pub use plan::{Expected, Plan, Secured, Target};
pub use replay::{Collector, Recorded, Replay};
pub use run::{Done, Live, run};
pub use tls::client_settings;
