//! The vocabulary of facts: what an answer is about, as types. A fact keeps its type from where it is found to where it is
//! printed; nothing reads a sentence back.
//!
//! Everything here is part of the JSON contract: tags are only ever added.

mod account;
mod account_group;
mod activity;
mod end;
mod function;
mod kernel_work;
mod metric;
mod not_looked_for;
mod not_tried;
mod observation;
mod reconciled;
mod request_kind;
mod sameness;
mod whole_run;
mod work;

pub use account::{Account, Awaited, CodeLine, Doing, Object, Transport, Wait};
pub use account_group::AccountGroup;
pub use activity::{Activity, Ender};
pub use end::End;
pub use function::Function;
pub use kernel_work::KernelWork;
pub use metric::{Better, LoadFigure, Metric, MetricError};
pub use not_looked_for::{Blind, NotLookedFor};
pub use not_tried::{NotTried, WhyNot};
pub use observation::{Input, Observation, WhyFull, WhyNoGrowth};
pub use reconciled::{Deviation, Reconciled, ReconciledSum, ThreadMeasure};
pub use request_kind::RequestKind;
pub use sameness::Sameness;
pub use whole_run::{CallKindSum, RecordingCost, WholeRun};
pub use work::Work;
