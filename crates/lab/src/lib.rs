//! The laboratory: worlds for a subject to run in, interventions that switch a suspected cause off from outside, and
//! interleaved trials that tell whether it was the cause.

pub mod arrangement;
pub mod interventions;
mod link;
mod rate;
pub mod shim;
pub mod traces;
mod world;

pub use arrangement::{Arrangement, End};
pub use link::{Addresses, Link, LinkError};
pub use rate::Rate;
pub use world::World;
