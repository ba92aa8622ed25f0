//! The laboratory: worlds for a subject to run in, interventions that switch a suspected cause off from outside, and
//! interleaved trials that tell whether it was the cause.

pub mod arrangement;
mod attached;
mod error;
mod group;
mod groups;
mod hierarchy;
pub mod interventions;
mod journal;
mod laid;
mod link;
mod rate;
mod server;
pub mod shim;
mod stage;
pub mod traces;
mod world;

pub use arrangement::{Arrangement, End};
pub use attached::Attached;
pub use error::LabError;
pub use journal::{Journal, Repair, Repaired, repair};
pub use link::{Addresses, Link, LinkError, Queue};
pub use rate::Rate;
pub use server::{Server, Stopped};
pub use stage::{Kind, Outputs, Stage, Subject};
pub use world::World;
