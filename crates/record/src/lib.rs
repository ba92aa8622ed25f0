//! Live capture: from a running, unmodified program to a case.

mod error;
mod listening;
mod program;
pub mod protocol;
pub mod python;
mod recorder;
mod runtime;
pub mod stack;

pub use error::RecordError;
pub use listening::listens;
pub use program::{Ended, Held, Network, Output, Program, Running, User};
pub use recorder::{Options, Progress, Recorder, Role};
