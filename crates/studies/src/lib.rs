//! Studies: what each command does from end to end. A study takes a typed request, records, diagnoses, plans experiments,
//! and returns a document with the case that holds it and the views that its page shows.
//!
//! Nothing here prints, reads arguments or knows exit codes. Progress, notes and interruptions pass through a
//! [`Console`]; errors are [`StudyError`]s. Sentences that sum a document up are the printer's, and are left empty here.

pub mod attach;
pub mod bisect;
pub mod compare;
mod console;
mod diagnosis;
mod document;
mod duration;
mod error;
pub mod experiment;
pub mod explain;
pub mod feeds;
#[doc(hidden)]
pub mod fuzz;
pub mod load;
pub mod logs;
mod manifest;
pub mod matrix;
mod overhead;
pub mod pcap;
pub mod proof;
pub mod recording;
pub mod report;
pub mod run;
mod second_pass;
pub mod services;
pub mod steps;
pub mod story;
pub mod sweep;
mod switched;
pub mod trial;
mod unfinished;
pub mod views;
mod watch;
mod words;
pub mod world;

pub use case::{Document, PAGE};
pub use console::{Activity, Console, Event, Interrupt, Reach};
pub use document::Done;
pub use duration::duration;
pub use error::{MatrixError, ProgramThere, StudyError};
pub use overhead::overhead;
pub use watch::{Limits, how};
pub use words::Words;
