//! What others have recorded: access logs of web servers and balancers, read once into counts of bounded size, and captures
//! of packets, read once into a case.
//!
//! Formats are detected by themselves or given as the server's own format string. A line that cannot be read is counted and
//! kept as an example, never an error.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod address;
mod agent;
mod capture;
mod chunks;
mod counts;
mod cube;
mod distinct;
mod each;
mod entry;
mod error;
mod families;
mod files;
mod follow;
mod format;
#[doc(hidden)]
pub mod fuzz;
mod heavy;
mod json_line;
mod measurements;
mod names;
mod number;
mod pattern;
mod ranges;
mod route;
mod series;
mod sql;
mod tally;
mod time;
mod workers;

pub use address::{Network, address_text, network_text};
pub use agent::AgentKind;
pub use capture::{Captured, Problem, read_capture};
pub use counts::{Counts, FileCounts};
pub use cube::{read as read_cube, write as write_cube};
pub use each::each;
pub use entry::Entry;
pub use error::ImportError;
pub use families::{Claim, Family};
pub use files::{LogFile, find, find_cubes};
pub use follow::Follower;
pub use format::Format;
pub use heavy::Counted;
pub use measurements::{Measurement, Measurements, Shape, measurements, read_measurements};
pub use pattern::PatternError;
pub use ranges::Ranges;
pub use route::route;
pub use series::Series;
pub use sql::{select_of, select_of_cubes};
pub use tally::Tally;
pub use workers::{Done, Options, Outcome, read};
