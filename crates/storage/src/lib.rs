//! How a case is kept: its tables and their rows, its manifest, the folder that they lie in; and what is left out of it, secrets
//! and, where that is asked for, names. What a recording means is `case`'s, which has all of this under its own name, too.
//!
//! Promises: a case never changes after it is closed; a crash while recording loses at most the last batch of rows;
//! a case can be read on another machine, without the binaries that were recorded.
//!
//! A crate of its own, since what reads and writes rows has to be quick, and what serialises documents quick to build.

mod beneath;
mod calendar;
mod caller;
mod cube;
mod error;
mod folder;
mod folder_name;
mod format;
#[doc(hidden)]
pub mod fuzz;
mod history;
mod manifest;
mod names;
mod recording;
mod redact;
mod row;
mod started_as;
pub mod switches;
pub mod syscall;
pub mod tables;
mod units;

pub use calendar::date;
pub use caller::{Caller, act_for, as_caller, as_user, caller};
pub use cube::{TrafficRow, read_cube, write_cube};
pub use error::CaseError;
pub use folder::{Case, CaseWriter, GivenUp, OfThread, is_damage_found};
pub use folder_name::new_folder;
pub use format::format;
pub use history::{HistoryWriter, Resolution, ServiceSample, read_history};
pub use manifest::{Counted, Detail, Host, Manifest, SCHEMA, Source, Subject};
pub use names::{NameKind, Names, Pseudonyms};
pub use recording::Recording;
pub use redact::{redact_arguments, redact_target};
pub use row::{Cell, Column, Row, Value};
pub use units::{Bytes, Nanos, Share};
