//! The vocabulary of facts: what an answer is about, as types. A fact keeps its type from where it is found to where it is
//! printed; nothing reads a sentence back.
//!
//! Everything here is part of the JSON contract: tags are only ever added.

mod account;
mod end;
mod metric;
mod not_tried;
mod sameness;

pub use account::{Account, Object, Transport, Wait};
pub use end::End;
pub use metric::{Better, Metric, MetricError};
pub use not_tried::{NotTried, WhyNot};
pub use sameness::Sameness;
