//! The laboratory: worlds for a subject to run in, interventions that switch a suspected cause off from outside, and
//! interleaved trials that tell whether it was the cause.

mod arms;
pub mod arrangement;
mod attached;
mod error;
mod experiment;
mod extent;
mod group;
mod groups;
mod hierarchy;
pub mod interventions;
mod journal;
mod laid;
mod link;
mod metric;
mod outcome;
mod outputs;
mod pairs;
mod prove;
mod rate;
mod server;
pub mod shim;
mod spec;
mod stage;
pub mod traces;
mod trial;
mod verdict;
mod world;

pub use arms::{Arm, Arms, Setting};
pub use arrangement::{Arrangement, End};
pub use attached::Attached;
pub use error::LabError;
pub use experiment::{Experiment, FILE as EXPERIMENT_FILE};
pub use extent::Extent;
pub use journal::{Journal, Repair, Repaired, repair};
pub use link::{Addresses, Link, LinkError, Queue};
pub use metric::Metric;
pub use outcome::Outcome;
pub use prove::{Terms, prove};
pub use rate::Rate;
pub use server::{Server, Stopped};
pub use spec::TrialSpec;
pub use stage::{Kind, Outputs, Stage, Subject};
pub use trial::{Laboratory, input_again};
pub use verdict::judge;
pub use world::World;
